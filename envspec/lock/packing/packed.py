"""From a source that is no archive to an archive."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from envspec.diagnostics import DiagnosticError
from envspec.lock.packing import folder, git, repository, tar
from envspec.lock.packing.entries import Entry
from envspec.lock.packing.tar import Packed
from envspec.model import GitSource, PathSource
from envspec.reporter import Reporter


def archive_name(name: str, source: PathSource | GitSource) -> str:
    """The file name of a packed source: `NAME.tar`, or `NAME-<12 digits of the commit>.tar`."""
    return f"{_top(name, source)}.tar"


def folder_entries(source: PathSource, spec: Path, project: str) -> tuple[Entry, ...]:
    """What of a folder beside a spec is packed; ``spec`` is the spec's own path.

    Raises:
        DiagnosticError: E0420 to E0423.
    """
    beside = spec.parent
    place = beside / source.folder
    if not place.resolve().is_relative_to(beside.resolve()):
        raise DiagnosticError.of(
            "E0422",
            "the folder of the source is not beside the spec",
            cause=f"{source.folder!a} is a link to {str(place.resolve())!a}",
            hint="name a folder that really is beside the spec, or below one",
        )
    return folder.entries(place, folder.written_beside(spec, project))


def pack_folder(
    name: str, source: PathSource, entries: tuple[Entry, ...], to: Path | None = None
) -> Packed:
    """Pack what `folder_entries` found. Without ``to`` nothing is written.

    Raises:
        DiagnosticError: E0420 (an entry changed meanwhile), E0425 (Git LFS).
    """
    return tar.pack(_top(name, source), entries, folder.read, to)


def pack_commit(name: str, source: GitSource, work: Path, to: Path, reporter: Reporter) -> Packed:
    """Fetch a repository at a commit into the empty folder ``work``, and pack it.

    Raises:
        DiagnosticError: E0420 to E0425.
    """
    found = repository.entries(source.url, source.commit, work, reporter)
    try:
        with ExitStack() as stack:
            return tar.pack(_top(name, source), found, repository.reader(stack), to)
    except git.GitFailed as failure:
        to.unlink(missing_ok=True)
        raise repository.unreadable(source.url, source.commit, failure) from None


def _top(name: str, source: PathSource | GitSource) -> str:
    return f"{name}-{source.commit[:12]}" if isinstance(source, GitSource) else name
