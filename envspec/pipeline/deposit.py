"""The list of a deposit's files, and whether a folder still holds just those."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from envspec.diagnostics import DiagnosticError
from envspec.lock.model import Lock, artefacts
from envspec.plan.model import ARCHIVE, Plan
from envspec.render import visible
from envspec.reporter import Reporter

SUMS = "SHA256SUMS"
MARK = "deposit.json"
"""What says of a folder that it is a deposit, with its spec, its targets and its sizes."""

WHEELS = "wheels"
IMAGES = "base"

_LINE = re.compile(r"(\\?)([0-9a-f]{64}) [ *](.+)")
_LARGEST_LIST = 64 << 20
_SHOWN = 40
_CHUNK = 4 << 20


class Faults(NamedTuple):
    """Names of files, each list in order."""

    missing: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()


def sums(digests: Mapping[str, str]) -> str:
    """The list as `sha256sum` writes and reads it: one line for each file, sorted by name."""
    return "".join(_line(name, digests[name]) for name in sorted(digests))


def _line(name: str, digest: str) -> str:
    escaped = name.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    return f"{chr(92) if escaped != name else ''}{digest}  {escaped}\n"


def read_sums(folder: Path) -> dict[str, str]:
    """Name → sha256 of what a deposit holds, by its own list.

    Raises:
        DiagnosticError: E0506 where there is no such list.
    """
    path = folder / SUMS
    try:
        with path.open("rb") as stream:
            data = stream.read(_LARGEST_LIST + 1)
        text = data.decode("utf-8") if len(data) <= _LARGEST_LIST else ""
    except (OSError, UnicodeDecodeError):
        text = ""
    found: dict[str, str] = {}
    lines = text.removesuffix("\n").split("\n")
    for number, line in enumerate(lines, 1):
        match = _LINE.fullmatch(line)
        name = _unescaped(match[3]) if match and match[1] else match[3] if match else ""
        if match is None or not _inside(name) or name in found:
            raise DiagnosticError.of(
                "E0506",
                f"`{visible(str(folder))}` is no deposit: it has no list of its files",
                cause=f"line {number} of `{SUMS}` names no file with its sha256"
                if text
                else f"`{SUMS}` is missing, empty or cannot be read",
                hint="name the folder that `envspec vendor` wrote, or unpack its archive again",
            )
        found[name] = match[2]
    return found


def _unescaped(name: str) -> str:
    marks = {"n": "\n", "r": "\r", "\\": "\\"}
    return re.sub(r"\\(.)", lambda match: marks.get(match[1], match[0]), name)


def _inside(name: str) -> bool:
    parts = name.split("/")
    return not {"", ".", ".."} & set(parts) and "\0" not in name and name != SUMS


def is_deposit(folder: Path) -> bool:
    """Whether a folder is a deposit that nobody took apart."""
    return all(os.path.isfile(folder / name) for name in (MARK, SUMS))  # noqa: PTH113 - no error


def left_over(folder: Path, digests: Mapping[str, str]) -> tuple[str, ...]:
    """What a folder holds besides the files of a list."""
    names = {name for name, _ in _files(folder)}
    return tuple(sorted(names - digests.keys() - {SUMS}))


def compare(
    folder: Path, digests: Mapping[str, str], moved: Callable[[int], None] | None = None
) -> Faults:
    """Read every file and compare. A link is never a file of a deposit.

    Raises:
        OSError: the folder cannot be read.
    """
    found = dict(_files(folder))
    missing = sorted(digests.keys() - found.keys())
    extra = sorted(found.keys() - digests.keys() - {SUMS})
    changed = [
        name
        for name in sorted(digests.keys() & found.keys())
        if not found[name] or _digest(folder / name, moved) != digests[name]
    ]
    return Faults(tuple(missing), tuple(changed), tuple(extra))


def _digest(path: Path, moved: Callable[[int], None] | None) -> str:
    """The sha256 of a file, ``""`` where it cannot be read."""
    digest = hashlib.sha256()
    try:
        with path.open("rb", buffering=0) as stream:
            while chunk := stream.read(_CHUNK):
                digest.update(chunk)
                if moved:
                    moved(len(chunk))
    except OSError:
        return ""
    return digest.hexdigest()


def _files(folder: Path) -> Iterator[tuple[str, bool]]:
    """Everything below a folder that is no folder, and whether it is a plain file."""
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        with os.scandir(folder / prefix) as entries:
            for entry in entries:
                name = prefix + entry.name
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(f"{name}/")
                else:
                    yield name, stat.S_ISREG(entry.stat(follow_symlinks=False).st_mode)


def refuse(folder: Path, faults: Faults, hint: str) -> None:
    """Say what is wrong with a deposit, if anything is.

    Raises:
        DiagnosticError: E0506.
    """
    if faults == Faults():
        return
    many = sum(map(len, faults))
    told = {"missing": faults.missing, "changed": faults.changed, "left over": faults.extra}
    lines = [f"{what:9}  {visible(name)}" for what, names in told.items() for name in names]
    if many > _SHOWN:
        lines = [*lines[:_SHOWN], f"and {many - _SHOWN} more"]
    raise DiagnosticError.of(
        "E0506",
        f"`{visible(str(folder))}` is not the deposit that was written: {many} "
        f"file{'s are' if many > 1 else ' is'} not as listed",
        cause=", ".join(f"{len(names)} {what}" for what, names in told.items() if names),
        hint=hint,
        excerpt=lines,
    )


def refuse_damaged(folder: Path, lock: Lock) -> None:
    """Compare what is small, before a deposit is used: all but its wheelhouse and its images.

    Their files are compared with the lock when they are taken; here their names must be there, if
    the folder is, and the list must give them the digests of the lock. The packed source lies in
    the wheelhouse too and is read, as it may be taken from another place. What is left over does
    not matter.

    Raises:
        DiagnosticError: E0506.
    """
    kept = {top for top in (WHEELS, IMAGES) if os.path.lexists(folder / top)}
    known = _digests(lock)
    missing, changed = [], []
    for name, digest in read_sums(folder).items():
        top, _, rest = name.partition("/")
        large = top in {WHEELS, IMAGES}
        read = not large or rest.startswith(f"{ARCHIVE}/")
        other = top == WHEELS and digest not in known.get(name.rpartition("/")[2], ())
        if not os.path.lexists(folder / name):
            if not large or top in kept:
                missing.append(name)
        elif other or (read and _digest(folder / name, None) != digest):
            changed.append(name)
    hint = f"unpack it again; to go on working in this folder, delete `{SUMS}` and `{MARK}`"
    refuse(folder, Faults(tuple(missing), tuple(changed)), hint)


def _digests(lock: Lock) -> dict[str, set[str]]:
    """File name → the sha256 it may have, two files of one name being possible."""
    found: dict[str, set[str]] = {}
    files = [(a.file, a.sha256) for a in artefacts(lock)]
    files += [(deb.file, deb.sha256) for deb in lock.system.runtime + lock.system.build]
    for file, digest in files:
        found.setdefault(file, set()).add(digest)
    return found


def wheels(plan: Plan) -> dict[str, str]:
    """Name in the deposit → sha256 of every file that the build takes in."""
    return {
        f"{WHEELS}/{layer}/{file.file}": file.sha256
        for layer, files in plan.layers
        for file in files
    }


def progress(reporter: Reporter, total: int) -> Callable[[int], None]:
    """What to tell of bytes that were read, of ``total``."""
    done = 0

    def moved(count: int) -> None:
        nonlocal done
        done += count
        reporter.advance(done, total, "B")

    return moved
