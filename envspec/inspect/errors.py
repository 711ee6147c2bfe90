"""What is raised where a file cannot be read."""

from __future__ import annotations


class UnreadableError(ValueError):
    """A file does not hold what it should; the text says why, without its name."""
