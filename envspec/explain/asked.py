"""Who asks for a package, up to the spec, and which file answers."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping

from envspec.lock.model import LockedPackage
from envspec.model import Extension
from envspec.rules.view import View
from envspec.solve.values import Link

SPEC, LOCK = "the spec", "the lock"
"""Where a sentence comes from that is no fact of the tables."""
_ITSELF = "spec"
_MOST, _LONGEST = 6, 9


def requests(
    view: View, locked: Mapping[str, LockedPackage], up: Mapping[str, str], name: str
) -> Iterator[Link]:
    """The statement of the spec, its reason, and the packages that require it. ``up`` is what
    `parents` gives for the lock."""
    stated = view.stated.get(name)
    if stated is not None:
        kind = "extension " if isinstance(stated, Extension) else ""
        origin = f" from {stated.index}" if stated.index else ""
        written = f"{kind}{stated.name} {stated.specifier}".rstrip() + origin
        because = f", because “{stated.because}”" if stated.because else ""
        yield Link(f"the spec asks for `{written}`{because}", SPEC)
    package = locked.get(name)
    if package is None:
        return
    by = [other for other in package.why if other != _ITSELF]
    if by:
        more = f" and {len(by) - _MOST} more" if len(by) > _MOST else ""
        yield Link(f"required by {', '.join(by[:_MOST])}{more}", LOCK)
    if stated is None and up.get(name) not in {None, _ITSELF}:
        yield Link(way(up, name), LOCK)
    elif stated is None and not by:
        yield Link("the spec's own source requires it", LOCK)


def parents(locked: Mapping[str, LockedPackage]) -> dict[str, str]:
    """For each package of a lock, who requires it on the shortest way to the spec; `spec` for
    what the spec asks for itself. What no way leads to is left out."""
    required: dict[str, list[str]] = {}
    for package in locked.values():
        for other in package.why:
            required.setdefault(other, []).append(package.name)
    found: dict[str, str] = {}
    waiting = deque([_ITSELF])
    while waiting:
        other = waiting.popleft()
        for name in required.get(other, ()):
            if name not in found:
                found[name] = other
                waiting.append(name)
    return found


def way(up: Mapping[str, str], name: str) -> str:
    """The way from a package to the spec: `markupsafe ← jinja2 ← the spec`."""
    path = [name]
    while (name := up.get(name, _ITSELF)) != _ITSELF:
        path.append(name)
    if len(path) > _LONGEST:
        path[3:-3] = [f"{len(path) - 6} more"]
    return " ← ".join([*path, "the spec"])


def file(package: LockedPackage) -> Link:
    """The file of the lock."""
    artefact = package.artefact
    size = f", {_size(artefact.size)}" if artefact.size else ""
    origin = f"from {artefact.index}" if artefact.index else "beside the spec"
    return Link(f"the file is {artefact.file} {origin}{size}, sha256 {artefact.sha256[:12]}…", LOCK)


def _size(number: int) -> str:
    for unit, bytes_ in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if number >= bytes_:
            return f"{number / bytes_:.1f} {unit}"
    return f"{number} B"
