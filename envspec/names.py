"""Names of packages."""

from __future__ import annotations

import re

_SEPARATORS = re.compile(r"[-_.]+")


def normalise(name: str) -> str:
    """A name as PEP 503 compares it: lower case, one hyphen for each run of `-`, `_` and `.`."""
    return _SEPARATORS.sub("-", name).lower()
