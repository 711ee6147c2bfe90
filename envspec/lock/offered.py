"""Whether indexes still offer what a lock names: the same file, with the same hash."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from envspec.lock import crew
from envspec.lock.indexes import Indexes, UnreachableError
from envspec.lock.listing import IndexFile, projects_of
from envspec.lock.model import Artefact
from envspec.lock.transfer import Desk, hash_file
from envspec.reporter import Reporter

SAME, YANKED, GONE, CHANGED = "same", "yanked", "gone", "changed"
UNTOLD, SILENT = "untold", "silent"
"""The index gives no hash to compare; it gave no answer."""

HANDS = 8
"""Projects asked about at a time."""


class Offer(NamedTuple):
    """What became of a locked file; ``reason`` is a clause about its place where it is `SILENT`."""

    artefact: Artefact
    state: str
    reason: str = ""


def offers(
    artefacts: Iterable[Artefact], indexes: Indexes, beside: Path, reporter: Reporter
) -> tuple[Offer, ...]:
    """One answer for each file, in order. Nothing is downloaded; a file beside the spec is read."""
    wanted = tuple(artefacts)
    found: dict[Artefact, Offer] = {}

    def ask(artefact: Artefact, desk: Desk) -> None:
        found[artefact] = _offer(artefact, indexes, beside)
        desk.moved(1)

    jobs = [partial(ask, artefact) for artefact in wanted]
    crew.run(jobs, len(jobs), reporter, HANDS, "files")
    return tuple(found[artefact] for artefact in wanted)


def _offer(artefact: Artefact, indexes: Indexes, beside: Path) -> Offer:
    if not artefact.index:
        path = beside / artefact.file
        try:
            same = path.is_file() and hash_file(path) == artefact.sha256
        except OSError:
            return Offer(artefact, SILENT, "it cannot be read")
        return Offer(artefact, SAME if same else CHANGED if path.is_file() else GONE)
    try:
        listed = _listed(artefact, indexes)
    except UnreachableError as error:
        return Offer(artefact, SILENT, error.reason)
    if listed is None:
        return Offer(artefact, GONE)
    if listed.sha256 and listed.sha256 != artefact.sha256:
        return Offer(artefact, CHANGED)
    if listed.yanked:
        return Offer(artefact, YANKED)
    return Offer(artefact, SAME if listed.sha256 else UNTOLD)


def _listed(artefact: Artefact, indexes: Indexes) -> IndexFile | None:
    for project in projects_of(artefact.file):
        files = [
            f for f in indexes.files(artefact.index, project) or () if f.filename == artefact.file
        ]
        # Where a page lists a name twice, the right one is the one that is locked.
        right = [f for f in files if f.sha256 == artefact.sha256]
        if files:
            return (right or files)[0]
    return None
