"""A tar archive whose bytes follow from names and content alone.

The headers are made here: those of `tarfile` changed between releases of Python, and an archive
is known by its sha256. Names that do not fit into a header come in a record of GNU tar's before
it, which GNU tar, BusyBox, libarchive and Python read; the bytes of a name are kept as they are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from envspec.diagnostics import DiagnosticError
from envspec.lock.packing.entries import Entry, listed, parents, refused, shown

MOMENT = 315532800
"""1980-01-01, the earliest moment that every archive format can tell."""

Reader = Callable[[Entry], Iterable[bytes]]

_BLOCK = 512
_RECORD = 20 * _BLOCK
_NAME = 100
_LARGE = 8 << 30
"""From here on a size stands in its field in base 256, as GNU tar has it."""
_POINTER = b"version https://git-lfs.github.com/spec/v1\n"
_LONGEST_POINTER = 1024
_FILE, _LINK, _FOLDER, _LONG_NAME, _LONG_TARGET = b"0", b"2", b"5", b"L", b"K"


class Packed(NamedTuple):
    """What an archive came to: its hash and its size in bytes."""

    sha256: str
    size: int


def pack(top: str, entries: Iterable[Entry], read: Reader, to: Path | None = None) -> Packed:
    """Pack checked entries below one folder, into a new file. Without ``to`` it is only worked
    out what the archive would be.

    Raises:
        DiagnosticError: E0420 a file is another one than it was, E0425 it only stands for a file
            of Git LFS.
        OSError: nothing can be written; no archive is left then.
    """
    if to is None:
        return _pack(top, entries, read, lambda _: None)
    with to.open("xb") as file:
        try:
            return _pack(top, entries, read, file.write)
        except BaseException:
            to.unlink(missing_ok=True)
            raise


def _pack(
    top: str, entries: Iterable[Entry], read: Reader, write: Callable[[bytes], object]
) -> Packed:
    digest, size = hashlib.sha256(), 0

    def put(data: bytes) -> None:
        nonlocal size
        digest.update(data)
        write(data)
        size += len(data)

    beginning = top.encode() + b"/"
    put(_header(beginning, _FOLDER, 0o755))
    made: set[bytes] = set()
    pointers: list[str] = []
    for entry in entries:
        for folder in parents(entry.path):
            if folder not in made:
                made.add(folder)
                put(_header(beginning + folder + b"/", _FOLDER, 0o755))
        name = beginning + entry.path
        if entry.target is not None:
            put(_header(name, _LINK, 0o777, target=entry.target))
            continue
        put(_header(name, _FILE, 0o755 if entry.executable else 0o644, entry.size))
        if _content(entry, read, put):
            pointers.append(shown(entry.path))
        put(bytes(-entry.size % _BLOCK))
    if pointers:
        raise _no_content(pointers)
    put(bytes(2 * _BLOCK))
    put(bytes(-size % _RECORD))
    return Packed(digest.hexdigest(), size)


def _content(entry: Entry, read: Reader, put: Callable[[bytes], None]) -> bool:
    """Put the content of a file; whether it is a pointer of Git LFS."""
    left, start = entry.size, b""
    for chunk in read(entry):
        left -= len(chunk)
        if left < 0:
            break
        if entry.size < _LONGEST_POINTER:
            start += chunk
        put(chunk)
    if left:
        raise refused(
            [f"{shown(entry.path)} changed while it was read"],
            "run it again when nothing writes into the source",
        )
    return start.startswith(_POINTER)


def _no_content(names: list[str]) -> DiagnosticError:
    many = f"{len(names)} files" if len(names) > 1 else "a file"
    return DiagnosticError.of(
        "E0425",
        f"the source holds {many} of Git LFS without their content",
        cause=f"{listed(names)}: what is there only names the content, which a server of Git LFS "
        "keeps and git does not fetch",
        hint="run `git lfs pull` in a clone, and name that clone with `source path`, or an "
        "archive made of it with `source archive`",
    )


def _header(name: bytes, kind: bytes, mode: int, size: int = 0, target: bytes = b"") -> bytes:
    """The header of a member, with the records before it that a long name asks for."""
    before = b""
    if len(target) > _NAME:
        before += _record(target, _LONG_TARGET)
    if len(name) > _NAME:
        before += _record(name, _LONG_NAME)
    return before + _plain(name[:_NAME], kind, mode, size, target[:_NAME], MOMENT)


def _record(text: bytes, kind: bytes) -> bytes:
    data = text + b"\0"
    header = _plain(b"././@LongLink", kind, 0, len(data), b"", 0)
    return header + data + bytes(-len(data) % _BLOCK)


def _plain(name: bytes, kind: bytes, mode: int, size: int, target: bytes, moment: int) -> bytes:
    head = b"".join(
        (
            name.ljust(_NAME, b"\0"),
            b"%07o\0" % mode,
            b"%07o\0" % 0,  # user
            b"%07o\0" % 0,  # group
            b"%011o\0" % size if size < _LARGE else b"\x80" + size.to_bytes(11, "big"),
            b"%011o\0" % moment,
        )
    )
    tail = b"".join((kind, target.ljust(_NAME, b"\0"), b"ustar  \0")).ljust(_BLOCK - 156, b"\0")
    # The sum counts its own field as eight spaces.
    return head + b"%06o\0 " % (sum(head) + sum(tail) + 8 * 0x20) + tail
