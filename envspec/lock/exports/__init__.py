"""A lock in the forms that other tools read. Pure: the same lock gives the same bytes."""
