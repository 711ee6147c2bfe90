"""Where a file may come from, nearest first. Identity is the hash, so any place will do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from envspec.lock.indexes import Indexes
from envspec.lock.listing import IndexFile, local_path, projects_of, read_folder
from envspec.lock.model import Artefact
from envspec.source import SourceFile, Span


class Locations(NamedTuple):
    """Where files may come from, and which line of the spec to name when they do not.

    ``beside`` are folders for files whose index is ``""``. ``spans`` maps file names to places
    in ``source``.
    """

    indexes: Indexes
    beside: tuple[Path, ...] = ()
    source: SourceFile | None = None
    spans: Mapping[str, Span] = MappingProxyType({})

    def span(self, artefact: Artefact) -> Span | None:
        """The place in the spec that brought the file in, where it is known."""
        return self.spans.get(artefact.file)


class Place(NamedTuple):
    """One place that has a file of the right name: on this machine (``path``) or at ``url``.

    ``label`` is what to call it; ``url`` may hold a password and is never shown.
    """

    label: str
    path: Path | None
    url: str


def places(artefact: Artefact, locations: Locations, looked: list[str]) -> Iterator[Place]:
    """Places that have a file of this name. Each place asked, had or not, is noted in ``looked``.

    Later places are asked only when the earlier ones did not do.

    Raises:
        UnreachableError: the index, asked last, gives no answer.
    """
    indexes, name = locations.indexes, artefact.file
    for folder in indexes.find_links():
        looked.append(f"the find-links folder {folder}")
        yield from _in_folder(folder, name, looked[-1])
    if any(local_path(link) is None for link in indexes.pip.find_links):
        looked.append("the find-links pages of pip's configuration")
        yield from (_at(label, f) for label, f in indexes.linked_files() if f.filename == name)
    if not artefact.index:
        for folder in locations.beside:
            looked.append(f"the folder {folder}")
            yield from _in_folder(folder, name, looked[-1])
        return
    projects = projects_of(name)
    if indexes.pip.extra_index_urls:
        looked.append("the extra indexes of pip's configuration")
        for project in projects:
            mirrored = indexes.mirror_files(project)
            yield from (_at(label, f) for label, f in mirrored if f.filename == name)
    label = f"the index `{artefact.index}`"
    known = False
    for project in projects:
        files = indexes.files(artefact.index, project)
        known = known or files is not None
        yield from (_at(label, f) for f in files or () if f.filename == name)
    missing = "which lists no such file" if known else "which does not know the project"
    looked.append(f"{label}, {missing}")


def _in_folder(folder: Path, name: str, label: str) -> Iterator[Place]:
    if folder.is_dir():
        if (folder / name).is_file():
            yield Place(label, folder / name, "")
    else:
        yield from (_at(label, f) for f in read_folder(folder) if f.filename == name)


def _at(label: str, file: IndexFile) -> Place:
    path = local_path(file.url)
    return Place(label, path, "" if path else file.url)
