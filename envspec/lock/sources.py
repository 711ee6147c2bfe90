"""The source archive of a spec as an artefact: where it is, how large, and that its hash holds."""

from __future__ import annotations

from pathlib import Path

from envspec.diagnostics import DiagnosticError
from envspec.lock.digest import digest
from envspec.lock.indexes import Indexes, UnreachableError
from envspec.lock.listing import IndexFile, projects_of, safe_name
from envspec.lock.model import Artefact
from envspec.lock.request import Chosen
from envspec.lock.transfer import hash_file
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
