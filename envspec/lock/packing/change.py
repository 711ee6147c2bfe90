"""Which files of a folder are others than those that were packed."""

from __future__ import annotations

import hashlib
import tarfile
from collections.abc import Iterable
from pathlib import Path

from envspec.lock.packing import folder
from envspec.lock.packing.entries import Entry, listed, shown

_CHUNK = 1 << 20
_Content = tuple[str, bool, str]
"""Kind, whether it may be run, and the sha256 or the target."""


def changes(archive: Path, entries: Iterable[Entry]) -> str:
    """A clause such as "changed: 'a.py'; new: 'b.py'", ``""`` where the archive does not tell."""
    try:
        before = _packed(archive)
    except (OSError, tarfile.TarError, ValueError):
        return ""
    after = {entry.path: _now(entry) for entry in entries}
    both = before.keys() & after.keys()
    told = {
        "changed": {name for name in both if before[name] != after[name]},
        "new": after.keys() - before.keys(),
        "gone": before.keys() - after.keys(),
    }
    clauses = [
        f"{word}: {listed([shown(name) for name in sorted(names)])}"
        for word, names in told.items()
        if names
    ]
    return "; ".join(clauses)


def _packed(archive: Path) -> dict[bytes, _Content]:
    found: dict[bytes, _Content] = {}
    with tarfile.open(archive, "r:", encoding="utf-8", errors="surrogateescape") as tar:
        for info in tar:
            name = info.name.encode("utf-8", "surrogateescape").partition(b"/")[2]
            if info.issym():
                found[name] = ("link", False, info.linkname)
            elif info.isreg():
                digest = hashlib.sha256()
                content = tar.extractfile(info)
                while content is not None and (chunk := content.read(_CHUNK)):
                    digest.update(chunk)
                found[name] = ("file", bool(info.mode & 0o100), digest.hexdigest())
    return found


def _now(entry: Entry) -> _Content:
    if entry.target is not None:
        return "link", False, entry.target.decode("utf-8", "surrogateescape")
    digest = hashlib.sha256()
    for chunk in folder.read(entry):
        digest.update(chunk)
    return "file", entry.executable, digest.hexdigest()
