"""Resolution: from package statements to files known by their sha256."""
