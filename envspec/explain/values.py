"""What explaining gives."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from envspec.solve.values import Link


class Explained(NamedTuple):
    """A package, or the accelerator, and why it is as it is. ``version`` is ``""`` where nothing
    settles it."""

    name: str
    version: str
    chain: tuple[Link, ...]


class UnknownPackageError(LookupError):
    """A name that neither the spec nor its lock has; ``known`` are those they have."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        super().__init__(name)
        self.name = name
        self.known = tuple(known)
