"""Unpacking an archive that may be hostile.

Only plain files, folders, and links that stay inside are written, with modes of our choosing.
Everything is checked before it is written, and nothing is ever written through a link.
"""

from __future__ import annotations

import errno
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

_DAMAGED: tuple[type[Exception], ...] = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    RuntimeError,  # zip: a password, or a method that this Python lacks
    ValueError,
)
with suppress(ImportError):  # some builds of Python have no lzma
    import lzma

    _DAMAGED = (*_DAMAGED, lzma.LZMAError)
_CONTRADICTIONS = {errno.EEXIST, errno.EISDIR, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP}

LARGEST = 8 << 30  # bytes, all files together
MOST_MEMBERS = 500_000


class Refused(Exception):  # noqa: N818 - a verdict on an archive
    """An archive that must not or cannot be unpacked; the text says why, naming the member."""


class _Member(NamedTuple):
    path: PurePosixPath
    kind: str  # file, folder, link, hardlink
    size: int
    executable: bool
    target: str
    content: IO[bytes] | None


def unpack(archive: Path, destination: Path) -> None:
    """Write the archive's content to a new folder, without the one folder at its top.

    Raises:
        Refused: not an archive, damaged, or a member that would reach outside.
        OSError: it cannot be written (no space, say).
    """
    whole = destination.with_name(destination.name + ".unpacking")
    whole.mkdir()
    total = 0
    links: list[_Member] = []
    try:
        for count, member in enumerate(_members(archive)):
            total += member.size
            if total > LARGEST or count >= MOST_MEMBERS:
                raise Refused("it unpacks to more than 8 GiB or half a million files")
            _write(whole, member)
            if member.kind == "link":
                links.append(member)
    except _DAMAGED:
        raise Refused("it is damaged, or no archive at all") from None
    except OSError as error:
        if error.errno is None:  # what the decompressors raise
            raise Refused("it is damaged, or no archive at all") from None
        if error.errno in _CONTRADICTIONS:
            raise Refused("its members contradict each other") from None
        raise
    found = list(whole.iterdir())
    top = found[0] if len(found) == 1 and found[0].is_dir() and not found[0].is_symlink() else whole
    for link in links:
        _check_link(link, stripped=top is not whole)
    top.rename(destination)
    shutil.rmtree(whole, ignore_errors=True)


def _members(archive: Path) -> Iterator[_Member]:
    if zipfile.is_zipfile(archive) and not tarfile.is_tarfile(archive):
        yield from _zip_members(archive)
        return
    with tarfile.open(archive, "r:*") as tar:
        for info in tar:
            path = _safe(info.name)
            if info.isdir():
                yield _Member(path, "folder", 0, False, "", None)
            elif info.isreg():
                content = tar.extractfile(info)
                yield _Member(path, "file", info.size, bool(info.mode & 0o100), "", content)
            elif info.issym():
                yield _Member(path, "link", 0, False, info.linkname, None)
            elif info.islnk():
                yield _Member(path, "hardlink", 0, False, info.linkname, None)
            else:
                raise Refused(f"{info.name!r} is a device or a pipe")


def _zip_members(archive: Path) -> Iterator[_Member]:
    with zipfile.ZipFile(archive) as packed:
        for info in packed.infolist():
            path = _safe(info.filename)
            mode = info.external_attr >> 16
            if info.is_dir():
                yield _Member(path, "folder", 0, False, "", None)
            elif mode & 0o170000 not in {0, 0o100000}:
                raise Refused(f"{info.filename!r} is neither a file nor a folder")
            else:
                with packed.open(info) as content:
                    yield _Member(path, "file", info.file_size, bool(mode & 0o100), "", content)


def _safe(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    if not name or "\0" in name or path.is_absolute() or ".." in path.parts:
        raise Refused(f"{name!r} would be written outside of its folder")
    return path


def _write(root: Path, member: _Member) -> None:
    target = _place(root, member.path)
    if member.kind == "folder":
        target.mkdir(parents=True, exist_ok=True)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_symlink() or target.is_file():
        target.unlink()
    if member.kind == "link":
        _check_link(member)
        target.symlink_to(member.target)
    elif member.kind == "hardlink":
        original = _place(root, _safe(member.target))
        if original.is_symlink() or not original.is_file():
            raise Refused(f"{str(member.path)!r} is a link to no file of the archive")
        shutil.copy(original, target)
    else:
        assert member.content is not None
        with target.open("xb") as file:
            shutil.copyfileobj(member.content, file, 1 << 20)
        target.chmod(0o755 if member.executable else 0o644)


def _place(root: Path, path: PurePosixPath) -> Path:
    """Where a member goes; every folder above it must be a real one."""
    place = root
    for part in path.parts[:-1]:
        place /= part
        if place.is_symlink():
            raise Refused(f"{str(path)!r} would be written through a link")
    return root / path


def _check_link(member: _Member, *, stripped: bool = False) -> None:
    """Allow ``../`` only at the start of a target and only up to the top, so that no chain of
    links can climb out. ``stripped``: the top is the one folder that all members stand in."""
    parts = PurePosixPath(member.target).parts
    climbs = 0
    while climbs < len(parts) and parts[climbs] == "..":
        climbs += 1
    outside = climbs >= len(member.path.parts) - stripped
    if not member.target or member.target.startswith("/") or outside or ".." in parts[climbs:]:
        raise Refused(
            f"{str(member.path)!r} is a link to {member.target!r}, outside of the archive"
        )
