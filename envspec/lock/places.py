"""Where a file may come from, nearest first. Identity is the hash, so any place will do."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from envspec.lock.indexes import Indexes, UnreachableError, mirror_variable
from envspec.lock.listing import IndexFile, local_path, projects_of, read_folder
from envspec.lock.model import DEB_INDEX, Artefact
from envspec.source import SourceFile, Span

WHEELS_VARIABLE = "ENVSPEC_WHEELS"
WHEELS = "wheels"
"""A wheelhouse, as `fetch` and `vendor` write it: a folder of folders, one for each layer."""


class Locations(NamedTuple):
    """Where files may come from, and which line of the spec to name when they do not.

    ``beside`` are folders for files whose index is ``""``. ``spans`` maps file names to places
    in ``source``. ``origins`` are what can make or bring a file by itself: file name → what
    writes it to a path. They may raise a DiagnosticError.
    """

    indexes: Indexes
    beside: tuple[Path, ...] = ()
    source: SourceFile | None = None
    spans: Mapping[str, Span] = MappingProxyType({})
    origins: Mapping[str, Callable[[Path], None]] = MappingProxyType({})

    def span(self, artefact: Artefact) -> Span | None:
        """The place in the spec that brought the file in, where it is known."""
        return self.spans.get(artefact.file)


class Place(NamedTuple):
    """One place that has a file of the right name: on this machine (``path``) or at ``url``, or
    what writes it (``write``).

    ``label`` is what to call it; ``url`` may hold a password and is never shown. ``spare`` is True
    for one beside the index, whose failure stops nothing.
    """

    label: str
    path: Path | None
    url: str
    write: Callable[[Path], None] | None = None
    spare: bool = False


def places(artefact: Artefact, locations: Locations, looked: list[str]) -> Iterator[Place]:
    """Places that have a file of this name. Each place asked, had or not, is noted in ``looked``.

    Later places are asked only when the earlier ones did not do.

    Raises:
        UnreachableError: the index, asked last, gives no answer.
    """
    indexes, name = locations.indexes, artefact.file
    for house in wheelhouses(locations.beside):
        looked.append(f"the wheelhouse {house}")
        yield from _in_wheelhouse(house, name, looked[-1])
    for folder in indexes.find_links():
        looked.append(f"the find-links folder {folder}")
        yield from _in_folder(folder, name, looked[-1])
    if any(local_path(link) is None for link in indexes.pip.find_links):
        looked.append("the find-links pages of pip's configuration")
        linked = indexes.linked_files()
        yield from (_at(label, f, True) for label, f in linked if f.filename == name)
    if not artefact.index:
        for folder in locations.beside:
            looked.append(f"the folder {folder}")
            yield from _in_folder(folder, name, looked[-1])
    if name in locations.origins:
        mirror = artefact.index == DEB_INDEX
        looked.append("a mirror of the distribution" if mirror else "what it is made from")
        yield Place(looked[-1], None, "", locations.origins[name])
    if artefact.index in {"", DEB_INDEX}:
        return
    projects = projects_of(name)
    yield from _on_mirrors(artefact, projects, indexes, looked)
    if indexes.pip.extra_index_urls:
        looked.append("the extra indexes of pip's configuration")
        for project in projects:
            mirrored = indexes.mirror_files(project)
            yield from (_at(label, f, True) for label, f in mirrored if f.filename == name)
    label = f"the index `{artefact.index}`"
    known = False
    for project in projects:
        files = indexes.files(artefact.index, project)
        known = known or files is not None
        yield from (_at(label, f) for f in files or () if f.filename == name)
    missing = "which lists no such file" if known else "which does not know the project"
    looked.append(f"{label}, {missing}")


def wheelhouses(beside: Iterable[Path]) -> tuple[Path, ...]:
    """The wheelhouses that are here: the one that ``$ENVSPEC_WHEELS`` names, then `wheels` in each
    of the folders beside."""
    named = os.environ.get(WHEELS_VARIABLE, "")
    folders = (*((Path(named),) if named else ()), *(folder / WHEELS for folder in beside))
    return tuple(dict.fromkeys(f for f in folders if os.path.isdir(f)))  # noqa: PTH112 - no error


def _in_wheelhouse(house: Path, name: str, label: str) -> Iterator[Place]:
    try:
        folders = sorted(house.iterdir())
    except OSError:  # closed to us: as good as not there
        return
    for path in (house / name, *(folder / name for folder in folders)):
        if os.path.isfile(path):  # noqa: PTH113 - says no where a folder is closed, and no error
            yield Place(label, path, "")


def _in_folder(folder: Path, name: str, label: str) -> Iterator[Place]:
    if folder.is_dir():
        if (folder / name).is_file():
            yield Place(label, folder / name, "")
    else:
        yield from (_at(label, f) for f in read_folder(folder) if f.filename == name)


def _at(label: str, file: IndexFile, spare: bool = False) -> Place:
    path = local_path(file.url)
    return Place(label, path, "" if path else file.url, spare=spare)


def _on_mirrors(
    artefact: Artefact, projects: Iterable[str], indexes: Indexes, looked: list[str]
) -> Iterator[Place]:
    """Places on the spec's mirrors of the file's index; one that does not answer is passed over."""
    for mirror, known in indexes.named_mirrors(artefact.index):
        label = f"the mirror `{mirror}`"
        if not known:
            looked.append(f"{label}, which has no address here ({mirror_variable(mirror)})")
            continue
        looked.append(label)
        try:
            for project in projects:
                files = indexes.on_mirror(mirror, project) or ()
                yield from (_at(label, f, True) for f in files if f.filename == artefact.file)
        except UnreachableError as error:
            looked[-1] = f"{label}: {error.reason}"


def unset_mirrors(artefacts: Iterable[Artefact], indexes: Indexes) -> tuple[str, ...]:
    """A note for each mirror that would have been asked, had this machine said where it is."""
    return tuple(
        f"the mirror `{name}` is skipped: {mirror_variable(name)} is not set"
        for alias in sorted({artefact.index for artefact in artefacts})
        for name, known in indexes.named_mirrors(alias)
        if not known
    )
