"""Version specifiers against the versions that the tables know. The one importer of packaging."""

from __future__ import annotations

import re
from functools import cache

from packaging.specifiers import InvalidSpecifier, SpecifierSet

_EXACT = re.compile(r"={2,3}\s*v?([0-9][^,*]*)", re.ASCII)


@cache
def allows(specifier: str, version: str) -> bool | None:
    """Whether a specifier allows a version; ``0.14.*`` stands for some version of that series,
    so the answer may be None."""
    if not specifier:
        return True
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


def exact(specifier: str) -> str:
    """The one version that a specifier allows, ``""`` where it allows several."""
    match = _EXACT.fullmatch(specifier)
    return match[1].strip() if match else ""
