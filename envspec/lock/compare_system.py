"""What is different between the packages of the distribution of two locks. Pure."""

from __future__ import annotations

from typing import NamedTuple

from envspec.lock.kinds import ADDED, CHANGED, REBUILT, REMOVED, deb_direction
from envspec.lock.model import Deb, System

RUNTIME, BUILD_STAGE = "runtime", "build"


class DebChange(NamedTuple):
    """A package of the distribution that is different: `ADDED`, `REMOVED`, `UPGRADED`,
    `DOWNGRADED`, `CHANGED`, or `REBUILT` for the same version with other bytes. ``stage`` is
    `RUNTIME` or `BUILD_STAGE`."""

    kind: str
    stage: str
    name: str
    before: Deb | None
    after: Deb | None
    notes: tuple[str, ...] = ()


def deb_changes(
    before: System, after: System, named: frozenset[str] = frozenset()
) -> tuple[DebChange, ...]:
    """Every package that is different: those of the image before those of builds, and in both
    those that the spec names first."""
    found: list[DebChange] = []
    for stage, was, now in (
        (RUNTIME, before.runtime, after.runtime),
        (BUILD_STAGE, before.build, after.build),
    ):
        old = {(d.name, d.architecture): d for d in was}
        new = {(d.name, d.architecture): d for d in now}
        for key in sorted({*old, *new}, key=lambda key: (key[0] not in named, key)):
            change = _change(stage, key[0], old.get(key), new.get(key))
            if change is not None:
                found.append(change)
    return tuple(found)


def _change(stage: str, name: str, was: Deb | None, now: Deb | None) -> DebChange | None:
    if was is None or now is None:
        return DebChange(ADDED if now else REMOVED, stage, name, was, now)
    if was.version != now.version:
        return DebChange(deb_direction(was.version, now.version), stage, name, was, now)
    if was.sha256 != now.sha256:
        digests = f"sha256 {was.sha256[:12]}… → {now.sha256[:12]}…"
        note = f"THE SAME VERSION WITH OTHER BYTES: {now.file}, {digests}"
        return DebChange(REBUILT, stage, name, was, now, (note,))
    if was != now:
        said = tuple(
            f"{what} {old} → {new}"
            for what, old, new in (("file", was.file, now.file), ("place", was.pool, now.pool))
            if old != new
        )
        return DebChange(CHANGED, stage, name, was, now, said)
    return None
