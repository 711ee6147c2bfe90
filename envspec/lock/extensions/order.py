"""The order in which extensions are built and installed. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from envspec.lock.extensions.prepare import Archive


def ordered(archives: Sequence[Archive]) -> tuple[Archive, ...]:
    """Those that others require first, in the order of the spec where nothing else decides. Of
    extensions that require one another in a circle, the first of the spec comes first."""
    waiting = {a.extension.name: a for a in archives}
    done: list[Archive] = []
    while waiting:
        free = next((a for a in waiting.values() if not _open(a, waiting)), None)
        chosen = free or next(iter(waiting.values()))
        done.append(waiting.pop(chosen.extension.name))
    return tuple(done)


def _open(archive: Archive, waiting: dict[str, Archive]) -> bool:
    return any(need.name in waiting for need in archive.requires)
