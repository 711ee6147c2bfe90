"""The source of a spec as an artefact: where it is, how large, and that its hash holds.

An archive is found. A folder and a repository at a commit are packed into one: they then are
files like any other, which only have to be made again where nobody kept them.
"""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from envspec.diagnostics import Diagnostic, DiagnosticError, Label
from envspec.lock.digest import digest
from envspec.lock.indexes import Indexes, UnreachableError
from envspec.lock.listing import IndexFile, projects_of, safe_name
from envspec.lock.model import Artefact
from envspec.lock.request import Chosen
from envspec.lock.store import Store
from envspec.lock.transfer import hash_file, move
from envspec.lock.workspace import workspace
from envspec.model import GitSource, PathSource, Spec
from envspec.placing import placed
from envspec.reporter import Reporter
from envspec.source import SourceFile, Span


def source_artefact(
    index: str,
    file: str,
    sha256: str,
    indexes: Indexes,
    *,
    beside: tuple[Path, ...] = (),
    source: SourceFile | None = None,
    span: Span | None = None,
) -> Artefact:
    """Find the archive that a spec names with its hash; ``index`` ``""`` means beside the spec.

    Raises:
        DiagnosticError: E0501 the index gave no answer, E0502 it has another hash there,
            E0503 it is not there.
    """
    try:
        found, actual, size, where = _find(index, file, indexes, beside)
    except UnreachableError as error:
        raise error.finding(source, span) from None
    if not found:
        raise DiagnosticError.of(
            "E0503",
            f"the source archive {file!a} was not found",
            source=source,
            span=span,
            cause=f"looked at {where}",
            hint="check the file name: it is spelt as the index or the folder lists it",
        )
    if actual != sha256:
        raise DiagnosticError.of(
            "E0502",
            f"`{file}` on {where} is not the file that the spec names",
            source=source,
            span=span,
            cause=f"expected sha256 {sha256}, it is {actual} there",
            hint="find out which of the two is right before you change the spec",
        )
    return Artefact(index, file, sha256, size)


def _find(
    index: str, file: str, indexes: Indexes, beside: tuple[Path, ...]
) -> tuple[bool, str, int, str]:
    """Whether it was found, its hash and size, and what to call the place."""
    if not index:
        where = " and ".join(f"the folder {folder}" for folder in beside) or "no folder"
        for folder in beside if safe_name(file) else ():
            path = folder / file
            if path.is_file():
                return True, hash_file(path), path.stat().st_size, f"the folder {folder}"
        return False, "", 0, where
    where = f"the index `{index}`"
    listed = _listed(index, file, indexes)
    if listed is None:
        return False, "", 0, where
    chosen = Chosen("", "", listed.filename, listed.url, listed.sha256, listed.size, ())
    return True, *digest(chosen, index, indexes), where


def _listed(index: str, file: str, indexes: Indexes) -> IndexFile | None:
    for project in projects_of(file):
        for candidate in indexes.files(index, project) or ():
            if candidate.filename == file:
                return candidate
    return None


def folder_artefact(spec: Spec, source: SourceFile) -> Artefact:
    """Pack the folder of a `source path` to learn what its archive would be; nothing is written.
    Each call looks anew: that is local and quick.

    Raises:
        DiagnosticError: E0420 to E0423, E0425.
    """
    from envspec.lock.packing import packed  # noqa: PLC0415 - only specs with such a source

    project, where = spec.project, spec.project.source
    assert isinstance(where, PathSource), "another kind of source"
    with placed(source, where.span):
        entries = packed.folder_entries(where, Path(source.name), project.name)
        made = packed.pack_folder(project.name, where, entries)
    return Artefact("", packed.archive_name(project.name, where), made.sha256, made.size)


def git_artefact(
    name: str,
    where: GitSource,
    source: SourceFile,
    reporter: Reporter,
    old: Artefact | None = None,
    store: Store | None = None,
) -> Artefact:
    """Fetch a repository at a commit, pack it, and keep the archive in the store.

    ``name`` is that of the project or the extension. ``old`` is what an earlier lock holds for
    the same line of the spec: it stays, and nothing is fetched.

    Raises:
        DiagnosticError: E0420 to E0425, E0504, E0505.
    """
    from envspec.lock.packing import packed  # noqa: PLC0415 - only specs with such a source

    file = packed.archive_name(name, where)
    if old is not None and (old.index, old.file) == ("", file):
        return old
    store = store or Store()
    with placed(source, where.span), _disk(store.root), workspace(store.root / "tmp") as work:
        objects, archive = work / "objects", work / file
        objects.mkdir()
        made = packed.pack_commit(name, where, objects, archive, reporter)
        artefact = Artefact("", file, made.sha256, made.size)
        target = store.path(artefact)
        target.parent.mkdir(parents=True, exist_ok=True)
        move(archive, target)
    return artefact


def origins_of(
    spec: Spec, source: SourceFile, reporter: Reporter
) -> dict[str, Callable[[Path], None]]:
    """How to make the archives of a spec again that no index has: file name → what writes the
    file to a path. Whether the bytes are those of the lock is for the store to say.

    Each call may raise a DiagnosticError, E0420 to E0425.
    """
    from envspec.lock.packing import packed  # noqa: PLC0415 - only specs with such a source

    project = spec.project
    gits = [(e.name, e.git) for e in spec.extensions if e.git is not None]
    origins: dict[str, Callable[[Path], None]] = {}
    if isinstance(project.source, GitSource):
        gits.append((project.name, project.source))
    elif isinstance(project.source, PathSource):
        again = partial(_folder_again, spec, project.source, source)
        origins[packed.archive_name(project.name, project.source)] = again
    for name, where in gits:
        again = partial(_commit_again, name, where, source, reporter)
        origins[packed.archive_name(name, where)] = again
    return origins


def _folder_again(spec: Spec, where: PathSource, source: SourceFile, to: Path) -> None:
    from envspec.lock.packing import packed  # noqa: PLC0415

    with placed(source, where.span):
        entries = packed.folder_entries(where, Path(source.name), spec.project.name)
        packed.pack_folder(spec.project.name, where, entries, to)


def _commit_again(
    name: str, where: GitSource, source: SourceFile, reporter: Reporter, to: Path
) -> None:
    from envspec.lock.packing import packed  # noqa: PLC0415

    # In the folder of the file: what a killed process leaves there is swept by the next one.
    with tempfile.TemporaryDirectory(dir=to.parent) as work, placed(source, where.span):
        packed.pack_commit(name, where, Path(work), to, reporter)


def changed_source(
    spec: Spec, source: SourceFile, locked: Artefact, store: Store | None = None
) -> Diagnostic | None:
    """E0426 where the folder of a `source path` is another one than was locked; None where it is
    the same, and for other kinds of source, which cannot change.

    Raises:
        DiagnosticError: E0420 to E0423, E0425: it cannot be packed at all by now.
    """
    where = spec.project.source
    if not isinstance(where, PathSource):
        return None
    now = folder_artefact(spec, source)
    if now == locked:
        return None
    from envspec.lock.packing import change, packed  # noqa: PLC0415

    store, told = store or Store(), ""
    with placed(source, where.span):
        if store.has(locked):
            entries = packed.folder_entries(where, Path(source.name), spec.project.name)
            told = change.changes(store.path(locked), entries)
    return Diagnostic(
        "E0426",
        "the folder of the source changed since it was locked",
        source,
        (Label(where.span, "this folder"),),
        cause=told or f"locked with sha256 {locked.sha256}, it is {now.sha256} now",
        hint="run `envspec lock` to take the folder as it is now, or undo the change",
    )


@contextmanager
def _disk(root: Path) -> Iterator[None]:
    """Turn a full disk and a closed folder into findings."""
    try:
        yield
    except OSError as error:
        full = error.errno in {errno.ENOSPC, errno.EDQUOT}
        raise DiagnosticError.of(
            "E0504" if full else "E0505",
            "the disk is full: the source cannot be packed"
            if full
            else f"the source cannot be packed into the store at {root}",
            cause=f"the store is at {root}; the system says: "
            f"{os.strerror(error.errno or 0).lower()}",
            hint="make room there, or set ENVSPEC_CACHE to a folder on another disk",
        ) from None
