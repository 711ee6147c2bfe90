"""Who asks for a package, up to the spec, and which file answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from envspec.lock.graph import SPEC as ITSELF
from envspec.lock.graph import way
from envspec.lock.model import Artefact, LockedPackage
from envspec.model import Extension
from envspec.rules.view import View
from envspec.solve.values import Link
from envspec.wording import size_of

SPEC, LOCK = "the spec", "the lock"
"""Where a sentence comes from that is no fact of the tables."""
_MOST = 6


def requests(
    view: View, locked: Mapping[str, LockedPackage], up: Mapping[str, str], name: str
) -> Iterator[Link]:
    """The statement of the spec, its reason, and the packages that require it. ``up`` is what
    `envspec.lock.graph.Graph.parents` gives for the lock."""
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
    by = [other for other in package.why if other != ITSELF]
    if by:
        more = f" and {len(by) - _MOST} more" if len(by) > _MOST else ""
        yield Link(f"required by {', '.join(by[:_MOST])}{more}", LOCK)
    if stated is None and up.get(name) not in {None, ITSELF}:
        yield Link(way(up, name), LOCK)
    elif stated is None and not by:
        yield Link("the spec's own source requires it", LOCK)


def file(package: LockedPackage) -> Link:
    """The file of the lock."""
    return Link(f"the file is {origin(package.artefact)}", LOCK)


def origin(artefact: Artefact) -> str:
    """A file, where it comes from, and its digest."""
    size = f", {size_of(artefact.size)}" if artefact.size else ""
    place = f"from {artefact.index}" if artefact.index else "beside the spec"
    return f"{artefact.file} {place}{size}, sha256 {artefact.sha256[:12]}…"
