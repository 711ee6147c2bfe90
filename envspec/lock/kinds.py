"""What may become of a locked thing between two locks, and what a pair of things shows. Pure."""

from __future__ import annotations

import re

from envspec.lock.model import LockedExtension, LockedPackage

ADDED, REMOVED = "added", "removed"
UPGRADED, DOWNGRADED, CHANGED = "upgraded", "downgraded", "changed"
REBUILT, MOVED = "rebuilt", "moved"
BUILD, WHEEL = "built otherwise", "wheel"
"""Of extensions alone: what the build imports is different; only the recorded wheel is."""

_RUNS = re.compile(r"(\D*)(\d*)", re.ASCII)


def kind_of(
    was: LockedPackage | LockedExtension | None, now: LockedPackage | LockedExtension | None
) -> str | None:
    """What became of it by version and file; None where both are the same."""
    if was is None:
        return ADDED
    if now is None:
        return REMOVED
    if was.version != now.version:
        return direction(was.version, now.version)
    if was.artefact.sha256 != now.artefact.sha256:
        return REBUILT
    return MOVED if was.artefact[:2] != now.artefact[:2] else None


def direction(was: str, now: str) -> str:
    """`UPGRADED`, `DOWNGRADED`, or `CHANGED` for what is neither."""
    from packaging.version import InvalidVersion, Version  # noqa: PLC0415 - not on the way of `compile`

    try:
        old, new = Version(was), Version(now)
    except InvalidVersion:
        return CHANGED
    if old.public == new.public:  # `+cpu` and `+cu128` are builds of one version
        return CHANGED
    return UPGRADED if old < new else DOWNGRADED


def deb_direction(was: str, now: str) -> str:
    """The same for versions of the distribution, by the order that dpkg has."""
    old, new = _deb_key(was), _deb_key(now)
    if old == new:
        return CHANGED
    return UPGRADED if old < new else DOWNGRADED


_Key = tuple[tuple[tuple[int, ...], int], ...]


def _deb_key(version: str) -> tuple[int, _Key, _Key]:
    epoch, colon, rest = version.partition(":")
    if not colon:
        epoch, rest = "0", version
    upstream, dash, revision = rest.rpartition("-")
    if not dash:
        upstream, revision = rest, "0"
    return int(epoch) if epoch.isdecimal() else 0, _runs(upstream), _runs(revision)


def _runs(text: str) -> _Key:
    """Other characters and the number behind them, by turns; the end is an empty pair."""
    return tuple((_order(match[1]), int(match[2] or 0)) for match in _RUNS.finditer(text))


def _order(text: str) -> tuple[int, ...]:
    """`~` stands before the end, and letters before everything else."""
    return (*(-1 if c == "~" else ord(c) + (0 if c.isalpha() else 256) for c in text), 0)
