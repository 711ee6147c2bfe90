"""What a verification found, for people and for machines."""
