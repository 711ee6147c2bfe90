"""What a lock that is made anew takes over from the one before it. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import NamedTuple

from envspec.lock.model import Artefact, Lock, LockedExtension, LockedPackage

_PIN = re.compile(
    r'^\s*\{"name": "([a-z0-9]+(?:-[a-z0-9]+)*)", "version": "([0-9][0-9a-z.!+]*)", "index": ',
    re.MULTILINE,
)


class Earlier(NamedTuple):
    """``pins`` are versions to keep where they still fit, by name. ``lock`` is None where the
    earlier one cannot be read, or where nothing of it is to stay."""

    pins: Mapping[str, str] = MappingProxyType({})
    lock: Lock | None = None

    @property
    def files(self) -> dict[tuple[str, str], Artefact]:
        """Its files by index and name."""
        if self.lock is None:
            return {}
        found = (*_compiled(self.lock), *self.lock.packages)
        return {(p.artefact.index, p.artefact.file): p.artefact for p in found}


def _compiled(lock: Lock) -> tuple[LockedPackage | LockedExtension, ...]:
    """What extensions bring: what their builds import, and themselves."""
    return (*(p for e in lock.extensions for p in e.build), *lock.extensions)


NOTHING = Earlier()
"""Where there is no earlier lock."""


def earlier(
    text: str, lock: Lock | None, *, upgrade: bool = False, packages: Collection[str] = ()
) -> Earlier:
    """What stays of a lock with this text: nothing under ``upgrade``, all pins but those of
    ``packages`` otherwise.

    A text that cannot be read as a lock (of an older version, or with the marks of a merge) still
    tells its pins: each line of a package does.
    """
    if upgrade:
        return NOTHING
    if lock is None:
        pins = dict(_PIN.findall(text))
    else:
        pins = {p.name: p.version for p in (*_compiled(lock), *lock.packages)}
    return Earlier({name: pins[name] for name in sorted(pins) if name not in packages}, lock)
