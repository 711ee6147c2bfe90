"""Before the resolution: the archive of each extension, and what it adds to the request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from packaging.version import InvalidVersion, Version

from envspec.diagnostics import DiagnosticError
from envspec.lock.digest import digest
from envspec.lock.extensions import metadata
from envspec.lock.extensions.order import ordered
from envspec.lock.extensions.releases import alias_of, choose
from envspec.lock.extensions.requirements import Need, WrongRequirementError, needed
from envspec.lock.indexes import Indexes, UnreachableError
from envspec.lock.model import Artefact
from envspec.lock.places import Locations
from envspec.lock.request import Chosen, Request
from envspec.lock.store import Store
from envspec.model import Extension, Spec
from envspec.names import normalise
from envspec.reporter import Reporter

CODE = "E0431"


class Archive(NamedTuple):
    """An extension, the archive it is compiled from, and what that says it needs: ``requires`` at
    run time, ``tools`` to be built. ``stated`` is False where no file of it states the former."""

    extension: Extension
    version: str
    artefact: Artefact
    requires: tuple[Need, ...]
    tools: tuple[Need, ...]
    stated: bool

    @property
    def versioned(self) -> bool:
        """Whether ``version`` is the author's. A commit whose version nobody states has
        ``0+git.COMMIT``, which says nothing about what it can do."""
        return not self.version.startswith("0+git.")


class Prepared(NamedTuple):
    """``asked`` is the request of the spec alone, ``request`` that with what extensions require;
    ``archives`` stand in the order in which they are built and installed."""

    asked: Request
    request: Request
    archives: tuple[Archive, ...]


def prepare(
    spec: Spec,
    request: Request,
    indexes: Indexes,
    store: Store,
    reporter: Reporter,
    packed: Mapping[str, Artefact] = MappingProxyType({}),
    beside: tuple[Path, ...] = (),
    origins: Mapping[str, Callable[[Path], None]] = MappingProxyType({}),
) -> Prepared:
    """Choose, fetch and read the archives of a spec's extensions; nothing of theirs is run.

    ``packed`` holds the archive of each extension that comes from a repository, by its name. It
    lies in the store or in a folder of ``beside``, or ``origins`` make it again: see
    `envspec.lock.sources.origins_of`.

    Raises:
        DiagnosticError: E0430 no archive fits, E0431 an archive cannot be read or taken, E0432 what
            it requires excludes what the spec asks for, E0501 to E0505 it cannot be had.
    """
    if not spec.extensions:
        return Prepared(request, request, ())
    from envspec.lock.extensions.join import joined  # noqa: PLC0415

    reporter.stage(f"reading the source of {len(spec.extensions)} extensions")
    found = [_artefact(e, request, indexes, packed) for e in spec.extensions]
    spans = {a.file: e.span for e, (_, a) in zip(spec.extensions, found, strict=True)}
    locations = Locations(indexes, beside, request.source, spans, origins)
    paths = store.fetch_all([artefact for _, artefact in found], locations, reporter)
    archives = [
        _archive(extension, version, artefact, path, request)
        for extension, (version, artefact), path in zip(spec.extensions, found, paths, strict=True)
    ]
    for archive in archives:
        if not archive.stated:
            reporter.line(
                f"{archive.extension.name} {archive.version} computes in its setup.py what it "
                "requires: name that in `packages`"
            )
    return Prepared(request, joined(request, archives), ordered(archives))


def _artefact(
    extension: Extension, request: Request, indexes: Indexes, packed: Mapping[str, Artefact]
) -> tuple[str, Artefact]:
    """Version, ``""`` for a commit, and archive."""
    if extension.git is not None:
        return "", packed[extension.name]
    alias = alias_of(extension)
    version, file = choose(extension, request, indexes)
    known = request.known.get((alias, file.filename))
    sha256, size = file.sha256, file.size
    if known is not None and sha256 in {"", known.sha256}:
        sha256, size = known.sha256, size or known.size
    try:
        told = digest(
            Chosen(extension.name, str(version), file.filename, file.url, sha256, size, ()),
            alias,
            indexes,
        )
    except UnreachableError as error:
        raise error.finding(request.source, extension.span) from None
    return str(version), Artefact(alias, file.filename, *told)


def _archive(
    extension: Extension, version: str, artefact: Artefact, path: Path, request: Request
) -> Archive:
    try:
        said = metadata.read(path)
    except metadata.UnreadableError as error:
        raise _unusable(extension, artefact, error.reason, request) from None
    if extension.git is None:
        other = _another(extension, version, said)
        if other:
            raise _unusable(extension, artefact, other, request)
    else:
        version = _version_of_commit(extension, said)
    try:
        requires = needed(said.requires or (), request)
        tools = needed(said.build, request)
    except WrongRequirementError as error:
        reason = f"it requires {error.line!a}, which {error.reason}"
        raise _unusable(extension, artefact, reason, request) from None
    requires = tuple(need for need in requires if need.name != extension.name)
    return Archive(extension, version, artefact, requires, tools, said.requires is not None)


def _another(extension: Extension, version: str, said: metadata.Described) -> str:
    """What is wrong with an archive that says it is another one than its file name says."""
    if said.name and normalise(said.name) != extension.name:
        return f"it says that it is {said.name!a}"
    try:
        same = not said.version or Version(said.version) == Version(version)
    except InvalidVersion:
        same = False
    return "" if same else f"it says that its version is {said.version!a}"


def _version_of_commit(extension: Extension, said: metadata.Described) -> str:
    """The version that a file of the archive states, else 0 with the commit as its label; the spec
    gives a commit no version."""
    try:
        return str(Version(said.version))
    except InvalidVersion:
        pass
    assert extension.git is not None
    return f"0+git.{extension.git.commit[:12]}"


def _unusable(
    extension: Extension, artefact: Artefact, reason: str, request: Request
) -> DiagnosticError:
    return DiagnosticError.of(
        CODE,
        f"the source archive `{artefact.file}` of extension `{extension.name}` cannot be used",
        source=request.source,
        span=extension.span,
        cause=f"{reason}; it was read, and none of its code was run",
        hint="ask for another version, or name its repository by `source git`",
    )
