"""Which wheels fit a target: its interpreter, its processor, its C library."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version

from envspec.lock.listing import IndexFile
from envspec.lock.request import Request
from envspec.machines import MACHINES

# PEP 600: the older names of three glibc versions.
_LEGACY = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}


def machine(request: Request) -> str:
    """The processor's name in wheel tags."""
    return MACHINES[request.platform]


@lru_cache(maxsize=8)
def _ranks(python: str, arch: str, glibc: str) -> dict[Tag, int]:
    major, minor = (int(part) for part in python.split(".")[:2])
    newest = int(glibc.split(".")[1])
    oldest = 5 if arch == "x86_64" else 17
    platforms: list[str] = []
    for version in range(newest, oldest - 1, -1):
        platforms.append(f"manylinux_2_{version}_{arch}")
        if version in _LEGACY:
            platforms.append(f"{_LEGACY[version]}_{arch}")
    platforms.append(f"linux_{arch}")
    tags = [
        *cpython_tags((major, minor), platforms=platforms, abis=[f"cp{major}{minor}"]),
        *compatible_tags((major, minor), f"cp{major}{minor}", platforms),
    ]
    return {tag: rank for rank, tag in reversed(list(enumerate(tags)))}


def rank(filename: str, request: Request) -> int | None:
    """How well a wheel fits, 0 best; None where it does not fit or is no wheel."""
    try:
        tags = parse_wheel_filename(filename)[3]
    except (InvalidWheelFilename, InvalidVersion):
        return None
    ranks = _ranks(request.python, machine(request), request.glibc)
    return min((ranks[tag] for tag in tags if tag in ranks), default=None)


def version_of(filename: str) -> Version | None:
    """The version in a file name; None for names that follow no standard."""
    try:
        if filename.endswith(".whl"):
            return parse_wheel_filename(filename)[1]
        return parse_sdist_filename(filename)[1]
    except (InvalidWheelFilename, InvalidSdistFilename, InvalidVersion):
        return None


def fits(file: IndexFile, request: Request) -> bool:
    """True for a wheel of the target's tags whose index lets the target's Python have it."""
    return rank(file.filename, request) is not None and python_allowed(file, request)


def python_allowed(file: IndexFile, request: Request) -> bool:
    """True where ``requires-python`` lets the target in; nonsense there lets everyone in."""
    try:
        return SpecifierSet(file.requires_python).contains(request.python, prereleases=True)
    except InvalidSpecifier:
        return True


def best(files: Iterable[IndexFile], version: str, request: Request) -> IndexFile | None:
    """The wheel of a version that fits best."""
    wanted = Version(version)
    fitting = [f for f in files if fits(f, request) and version_of(f.filename) == wanted]
    return min(fitting, key=lambda f: (rank(f.filename, request), f.filename), default=None)


def satisfying(files: Iterable[IndexFile], specifier: str) -> list[tuple[Version, IndexFile]]:
    """Files whose version satisfies a specifier, newest first; prereleases where it asks."""
    wanted = SpecifierSet(specifier)
    dated = [(v, f) for f in files if (v := version_of(f.filename)) is not None]
    asked = bool(wanted.prereleases)  # left to itself, `contains` lets every pre-release in
    good = [(v, f) for v, f in dated if wanted.contains(v, prereleases=asked)]
    good = good or [(v, f) for v, f in dated if wanted.contains(v, prereleases=True)]
    return sorted(good, key=lambda pair: (pair[0], pair[1].filename), reverse=True)
