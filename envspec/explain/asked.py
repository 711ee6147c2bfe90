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
_MOST = 6


def requests(view: View, locked: Mapping[str, LockedPackage], name: str) -> Iterator[Link]:
    """The statement of the spec, its reason, and the packages that require it."""
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
    if stated is None:
        path = chain(locked, name)
        if len(path) > 1:
            yield Link(f"{' ← '.join(path)} ← the spec", LOCK)
        elif not by:
            yield Link("the spec's own source requires it", LOCK)


def chain(locked: Mapping[str, LockedPackage], name: str) -> list[str]:
    """The shortest way from a package to one that the spec asks for: `numpy`, `einops`."""
    paths = deque([[name]])
    seen = {name}
    while paths:
        path = paths.popleft()
        package = locked.get(path[-1])
        if package is None or _ITSELF in package.why:
            return path
        for other in package.why:
            if other not in seen:
                seen.add(other)
                paths.append([*path, other])
    return [name]


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
