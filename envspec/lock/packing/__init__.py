"""Packing a source that is no archive: a folder, or a repository at one commit.

Both become a plain tar with one folder at its top, the same bytes for the same content on every
machine, so that everything after the lock knows archives alone.
"""
