"""Version specifiers against the versions that the tables know. The one importer of packaging."""

from __future__ import annotations

from functools import lru_cache

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from envspec.stated import exact

LONGEST = 500
"""Characters of a specifier that are looked at; nobody's is longer, and time grows with it."""


@lru_cache(maxsize=8192)
def allows(specifier: str, version: str) -> bool | None:
    """Whether a specifier allows a version; ``0.14.*`` stands for some version of that series,
    so the answer may be None."""
    if not specifier:
        return True
    if len(specifier) > LONGEST:
        return None
    if version.endswith(".*"):
        series = version.removesuffix("*")
        wanted = exact(specifier)
        if wanted:
            return wanted.startswith(series)
        return allows(specifier, f"{series}0") or None
    try:
        return SpecifierSet(specifier).contains(version, prereleases=True)
    except InvalidSpecifier:
        return None
