"""What was read of a package, kept in the user's cache under a sha256.

For a wheel it is the sha256 of its bytes; for an installed package that of its RECORD and of what
the file system says of each library (size, time of change, inode). A file that is not as this
module writes it is not read. The folder is bounded: the oldest files give way.
"""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from envspec.inspect.library import Library, Package

FORMAT = 1
MOST_FILES = 2000
MOST_BYTES = 1 << 30
_MOST_FILE = 256 << 20
_FIELDS = len(Library._fields)


def load(folder: Path | None, key: str) -> Package | None:
    """The package kept under a key; None where there is none, or none that is as written here."""
    if folder is None:
        return None
    path = folder / key
    try:
        if path.stat().st_size > _MOST_FILE:
            return None
        head, _, names = path.read_bytes().decode("latin-1").partition("\n")
        return _package(json.loads(head), key, names.split("\n") if names else [])
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def save(folder: Path | None, key: str, package: Package) -> None:
    """Keep a package. A cache that cannot be written is no failure."""
    if folder is None or package.unread:
        return
    rows: list[list[Any]] = []
    names: list[str] = []
    for item in package.libraries:
        exported = sorted(item.exported)
        names += exported
        rows.append([*item[:-1], len(exported)])
    head = {"format": FORMAT, "key": key, "name": package.name, "version": package.version}
    text = json.dumps({**head, "libraries": rows}) + "\n" + "\n".join(names)
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=folder, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(text.encode("latin-1"))
            Path(name).replace(folder / key)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        _make_room(folder)


def _make_room(folder: Path) -> None:
    kept = [(e.stat().st_mtime_ns, e.stat().st_size, e.path) for e in os.scandir(folder)]
    total = sum(size for _, size, _ in kept)
    count = len(kept)
    for _, size, path in sorted(kept):
        if count <= MOST_FILES and total <= MOST_BYTES:
            break
        with suppress(OSError):
            Path(path).unlink()
        count, total = count - 1, total - size


def _package(head: Any, key: str, names: list[str]) -> Package:
    if (head["format"], head["key"]) != (FORMAT, key):
        raise ValueError
    libraries = []
    at = 0
    for row in head["libraries"]:
        if len(row) != _FIELDS:
            raise ValueError
        path, machine, soname, needed, runpath, versions, sass, ptx, undefined, count = row
        if type(count) is not int or not 0 <= count <= len(names) - at:
            raise ValueError
        pairs = tuple((_text(library), _text(version)) for library, version in versions)
        libraries.append(
            Library(
                _text(path),
                _text(machine),
                _text(soname),
                _texts(needed),
                _texts(runpath),
                pairs,
                _texts(sass),
                _texts(ptx),
                _texts(undefined),
                frozenset(names[at : at + count]),
            )
        )
        at += count
    if at != len(names):
        raise ValueError
    return Package(_text(head["name"]), _text(head["version"]), tuple(libraries), ())


def _text(value: Any) -> str:
    if type(value) is not str:
        raise TypeError
    return value


def _texts(values: Any) -> tuple[str, ...]:
    if type(values) is not list:
        raise TypeError
    return tuple(_text(value) for value in values)
