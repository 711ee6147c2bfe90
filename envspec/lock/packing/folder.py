"""Which files of a folder are its source.

In a work tree of git: what git tracks, and what it neither tracks nor ignores. Elsewhere: every
file. In both what tools leave behind is left out (`JUNK`), unless git tracks it, and so is what
envspec itself writes beside a spec (`written_beside`): making a lock, outputs or a report must
not change the source that they are made from.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from envspec.diagnostics import DiagnosticError
from envspec.lock.packing import git
from envspec.lock.packing.entries import (
    MOST_FILES,
    Entry,
    checked,
    parents,
    refused,
    shown,
    too_large,
)

JUNK = frozenset(
    (
        b".git .hg .svn .bzr __pycache__ .venv .tox .nox .mypy_cache .ruff_cache .pytest_cache "
        b".hypothesis .ipynb_checkpoints .DS_Store node_modules"
    ).split()
)
_JUNK_ENDS = (b".pyc", b".pyo", b".swp")
_DEEPEST = 16
_MOST_SEEN = 10 * MOST_FILES
_CHUNK = 1 << 20


def written_beside(spec: Path, project: str) -> tuple[Path, ...]:
    """What envspec reads and writes beside a spec by default, and the spec itself.

    A name that ends in `*` stands for all that begin so: files that are not yet complete.
    """
    folder = spec.parent
    names = (
        *(spec.name, "spec.lock", ".spec.lock.*", "report.json", ".report.json.*"),
        *("attestation.json*", ".attestation.json.*", "report.logs", "wheels"),
        *(f"generated/{project}", f"generated/.{project}.envspec-*"),
    )
    return tuple(folder / name for name in names)


def entries(folder: Path, left_out: tuple[Path, ...] = ()) -> tuple[Entry, ...]:
    """The files of a folder, checked and in order.

    Raises:
        DiagnosticError: E0420 (an entry that cannot be packed), E0421 (too large), E0422 (no
            such folder, or no file), E0423 (git is needed and missing, or refuses).
    """
    if not folder.is_dir():
        raise DiagnosticError.of(
            "E0422",
            "the folder of the source is not there",
            cause=f"{shown(os.fsencode(folder))} is no folder",
            hint='name a folder beside the spec, such as `source path "."`',
        )
    top = os.fsencode(folder.resolve())
    own = _Own(top, left_out)
    tracked = _in_work_tree(folder)
    try:
        names = _work_tree(top, b"", own, _DEEPEST) if tracked else _walk(top, own)
        found = checked(_looked_at(top, names))
    except git.GitFailed as failure:
        raise DiagnosticError.of(
            "E0423",
            "git does not list the files of the source",
            cause=f"it failed in {shown(top)}",
            hint="mend the repository, or leave its `.git` out of the folder",
            excerpt=failure.said,
        ) from None
    if not found:
        ignored = ", or git ignores every one" if tracked else ""
        raise DiagnosticError.of(
            "E0422",
            "the folder of the source holds no file",
            cause=f"there is none in {shown(top)}{ignored}",
            hint="name the folder that holds the code",
        )
    return found


def read(entry: Entry) -> Iterator[bytes]:
    """The content of a file of a folder; nothing where it is no plain file any more."""
    try:
        handle = os.open(entry.place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in {errno.ENOENT, errno.ELOOP, errno.ENOTDIR}:
            return
        raise _unreadable(entry.path, error) from None
    with os.fdopen(handle, "rb") as file:
        if stat.S_ISREG(os.fstat(handle).st_mode):
            while chunk := file.read(_CHUNK):
                yield chunk


class _Own:
    """What is left out, relative to the folder that is packed."""

    def __init__(self, top: bytes, left_out: tuple[Path, ...]) -> None:
        self._whole: set[bytes] = set()
        self._starts: list[bytes] = []
        for path in left_out:
            # Not the entry itself: where it is a link, the link is what stands beside the spec.
            place = os.fsencode(path.parent.resolve() / path.name)
            if place.startswith(top + b"/"):
                name = place[len(top) + 1 :]
                if name.endswith(b"*"):
                    self._starts.append(name[:-1])
                else:
                    self._whole.add(name)

    def holds(self, path: bytes) -> bool:
        """Whether a path is one of them, or below one."""
        if any(path.startswith(start) for start in self._starts):
            return True
        parts = path.split(b"/")
        return any(b"/".join(parts[:n]) in self._whole for n in range(1, len(parts) + 1))


def _is_junk(path: bytes) -> bool:
    parts = path.split(b"/")
    return path.endswith(_JUNK_ENDS) or not JUNK.isdisjoint(parts)


def _in_work_tree(folder: Path) -> bool:
    resolved = folder.resolve()
    return any(os.path.lexists(place / ".git") for place in (resolved, *resolved.parents))


def _work_tree(top: bytes, prefix: bytes, own: _Own, deeper: int) -> Iterator[bytes]:
    """Paths of a work tree, and of the repositories in it."""
    folder = Path(os.fsdecode(_join(top, prefix)))
    seen: set[bytes] = set()
    with closing(git.records(["ls-files", "-z", "--stage", "--cached"], folder)) as tracked:
        for record in tracked:
            head, _, path = record.partition(b"\t")
            if path in seen or own.holds(prefix + path):
                continue
            seen.add(path)
            yield from (
                _repository(top, prefix + path, own, deeper)
                if head.startswith(b"160000")
                else (prefix + path,)
            )
    listing = ["ls-files", "-z", "--others", "--exclude-standard"]
    with closing(git.records(listing, folder)) as others:
        for path in others:
            if own.holds(prefix + path.rstrip(b"/")) or _is_junk(path):
                continue
            if path.endswith(b"/"):
                yield from _repository(top, prefix + path.rstrip(b"/"), own, deeper)
            else:
                yield prefix + path


def _repository(top: bytes, path: bytes, own: _Own, deeper: int) -> Iterator[bytes]:
    """Paths of a repository inside of a repository: a submodule, mostly."""
    place = _join(top, path)
    if _is_link(place):
        yield path
        return
    if not os.path.lexists(place + b"/.git"):
        raise refused(
            [f"the submodule {shown(path)} is not checked out"],
            "run `git submodule update --init --recursive`",
        )
    if not deeper:
        raise refused([f"{shown(path)} is too deep in other repositories"], "take it out")
    yield from _work_tree(top, path + b"/", own, deeper - 1)


def _walk(top: bytes, own: _Own) -> Iterator[bytes]:
    """Paths of a folder that git does not know."""
    waiting, seen = [b""], 0
    while waiting:
        prefix = waiting.pop()
        try:
            with os.scandir(_join(top, prefix)) as found:
                listed = list(found)
        except OSError as error:
            raise _unreadable(prefix, error) from None
        seen += len(listed)
        if seen > _MOST_SEEN:
            raise too_large(seen, 0, exact=False)
        for item in listed:
            path = prefix + item.name
            if _is_junk(item.name) or own.holds(path):
                continue
            if not item.is_dir(follow_symlinks=False):
                yield path
            elif not os.path.lexists(_join(top, path + b"/pyvenv.cfg")):
                waiting.append(path + b"/")


def _looked_at(top: bytes, names: Iterator[bytes]) -> Iterator[Entry]:
    links: dict[bytes, bool] = {}
    for path in names:
        # What git tracks below a folder may lie behind a link by now, anywhere on this machine.
        for above in parents(path):
            if above not in links:
                links[above] = _is_link(_join(top, above))
        if any(links[above] for above in parents(path)):
            continue
        place = _join(top, path)
        try:
            status = os.lstat(place)
            is_link = stat.S_ISLNK(status.st_mode)
            target = os.readlink(place) if is_link else None  # noqa: PTH115 - bytes
        except (FileNotFoundError, NotADirectoryError):
            continue  # tracked, and taken away since
        except OSError as error:
            raise _unreadable(path, error) from None
        executable = bool(status.st_mode & 0o100)
        if target is not None:
            yield Entry(path, 0, False, target, place)
        elif not stat.S_ISREG(status.st_mode):
            folder = stat.S_ISDIR(status.st_mode)
            what = "a folder where git has a file" if folder else "a device, a pipe or a socket"
            raise refused([f"{shown(path)} is {what}"], "take it out of the folder")
        elif not os.access(place, os.R_OK):
            raise _unreadable(path, PermissionError(13, os.strerror(13)))
        else:
            yield Entry(path, status.st_size, executable, None, place)


def _join(top: bytes, path: bytes) -> bytes:
    return top.rstrip(b"/") + b"/" + path


def _is_link(place: bytes) -> bool:
    try:
        return stat.S_ISLNK(os.lstat(place).st_mode)
    except OSError:
        return False


def _unreadable(path: bytes, error: OSError) -> DiagnosticError:
    said = os.strerror(error.errno or 0).lower()
    return refused([f"{shown(path)} cannot be read: {said}"], "allow yourself to read it")
