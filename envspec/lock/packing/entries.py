"""What goes into a packed source, and what must not. Pure.

Names are bytes, as file systems and git keep them, so that no locale decides what is packed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from envspec.diagnostics import DiagnosticError
from envspec.wording import size_of

MOST_FILES = 100_000
MOST_BYTES = 2 << 30
LONGEST_NAME = 4096
_SHOWN = 3


class Entry(NamedTuple):
    """A file or a symbolic link. ``path`` is relative, with `/`; ``size`` is in bytes.

    ``target`` is None for a file. ``place`` is where its content is: a path on this machine, or
    a repository's folder; ``blob`` is then the object in it.
    """

    path: bytes
    size: int
    executable: bool
    target: bytes | None
    place: bytes
    blob: bytes = b""


def shown(path: bytes) -> str:
    """A name for people, on one line whatever it holds."""
    text = ascii(path[:200].decode("utf-8", "surrogateescape"))
    return text + ("…" if len(path) > 200 else "")


def listed(names: Sequence[str]) -> str:
    """The first three of many names."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def refused(why: Sequence[str], hint: str) -> DiagnosticError:
    """E0420 for entries that cannot be packed; ``why`` are clauses that name them."""
    many = f"{len(why)} entries" if len(why) > 1 else "an entry"
    return DiagnosticError.of(
        "E0420",
        f"the source holds {many} that cannot be packed",
        cause="; ".join(why[:_SHOWN]) + (f"; and {len(why) - _SHOWN} more" * (len(why) > _SHOWN)),
        hint=hint,
    )


def too_large(files: int, size: int, *, exact: bool = True) -> DiagnosticError:
    """E0421, with the numbers."""
    at_least = "" if exact else "at least "
    return DiagnosticError.of(
        "E0421",
        "the source is too large to pack",
        cause=f"it holds {at_least}{files} files of {size_of(size)} together; at most "
        f"{MOST_FILES} files of {size_of(MOST_BYTES)} are packed",
        hint="leave out what the code does not need, by `.gitignore` or by a folder of its own: "
        "data and models are no source",
    )


def checked(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """The entries in the order in which they are packed.

    Raises:
        DiagnosticError: E0420 a name or a link that would reach outside, or two entries of one
            name; E0421 too many or too large.
    """
    kept: list[Entry] = []
    size = 0
    for entry in entries:
        kept.append(entry)
        size += entry.size
        if len(kept) > MOST_FILES or size > MOST_BYTES:
            raise too_large(len(kept), size, exact=False)
    kept.sort(key=lambda entry: entry.path)
    files = {entry.path for entry in kept}
    why = [clause for entry in kept for clause in _faults(entry, files)]
    why += [f"{shown(a.path)} is there twice" for a, b in pairwise(kept) if a.path == b.path]
    if why:
        raise refused(why, "take it out of the source, or put a plain file in its place")
    return tuple(kept)


def _faults(entry: Entry, files: set[bytes]) -> Iterator[str]:
    parts = entry.path.split(b"/")
    odd = {b"", b".", b".."} & set(parts) or any(p.lower() == b".git" for p in parts)
    if odd or b"\0" in entry.path or len(entry.path) > LONGEST_NAME:
        yield f"{shown(entry.path)} is no name of a file inside the source"
        return
    above = next((p for p in parents(entry.path) if p in files), None)
    if above is not None:
        yield f"{shown(entry.path)} is below {shown(above)}, which is no folder"
    if entry.target is not None and outside(parts, entry.target):
        yield f"{shown(entry.path)} is a link to {shown(entry.target)}, outside of the source"


def parents(path: bytes) -> Iterator[bytes]:
    """The folders above an entry, the uppermost first."""
    parts = path.split(b"/")[:-1]
    return (b"/".join(parts[: n + 1]) for n in range(len(parts)))


def outside(parts: Sequence[bytes], target: bytes) -> bool:
    """Whether a link at ``parts`` leads out of the source. `..` is allowed at the start of a
    target alone, and up to the top: no chain of such links climbs out."""
    steps = [part for part in target.split(b"/") if part not in {b"", b"."}]
    climbs = 0
    while climbs < len(steps) and steps[climbs] == b"..":
        climbs += 1
    bad = not target or b"\0" in target or target.startswith(b"/") or len(target) > LONGEST_NAME
    return bad or climbs >= len(parts) or b".." in steps[climbs:]
