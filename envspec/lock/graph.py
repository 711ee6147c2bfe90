"""Who requires whom in a lock: ways up to the spec, trees down from it. Pure.

An edge is there where either side names it: `requires` of the one or `why` of the other. Names
that stand in a circle, or that nothing leads to, are no error here.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from envspec.lock.model import LockedExtension, LockedPackage

SPEC = "spec"
"""What stands in `why` for the spec itself, its packages and the needs of its source."""
MOST_CHAINS = 50
DEEPEST = 64
"""Depth at which every tree ends; a real one has about ten."""
_LONGEST = 9
_MOST_STEPS = 50_000

REPEATED, CYCLE, CUT = "repeated", "cycle", "cut"


class Row(NamedTuple):
    """A line of a tree. ``depth`` counts from 0; ``last`` tells for each depth up to its own
    whether nothing follows there. ``mark`` says why there is nothing below: `REPEATED` (it was
    drawn above), `CYCLE` (it is its own ancestor), `CUT` (the depth limit), else ``""``."""

    name: str
    depth: int
    last: tuple[bool, ...]
    mark: str


class Chains(NamedTuple):
    """Ways from the spec to a package, each without `SPEC` and with the package at its end;
    ``more`` where there are others that were not looked at."""

    ways: tuple[tuple[str, ...], ...]
    more: bool


class Graph:
    """The packages of one lock; its extensions are asked for by the spec."""

    def __init__(
        self, packages: Sequence[LockedPackage], extensions: Sequence[LockedExtension] = ()
    ) -> None:
        self.packages: dict[str, LockedPackage | LockedExtension] = {p.name: p for p in packages}
        self.packages.update({e.name: e for e in extensions})
        below: dict[str, set[str]] = {name: set() for name in (SPEC, *self.packages)}
        for package in packages:
            below[package.name].update(package.requires)
            for other in package.why:
                below.setdefault(other, set()).add(package.name)
        for extension in extensions:
            below[SPEC].add(extension.name)
            below[extension.name].update(extension.requires)
        self.below = {name: tuple(sorted(names)) for name, names in below.items()}
        above: dict[str, list[str]] = {name: [] for name in self.packages}
        for name in sorted(self.below):
            for other in self.below[name]:
                above.setdefault(other, []).append(name)
        self.above = {name: tuple(names) for name, names in above.items()}

    def parents(self) -> dict[str, str]:
        """For each package, who requires it on the shortest way to the spec; `SPEC` for what the
        spec asks for itself. What no way leads to is left out."""
        found: dict[str, str] = {}
        waiting = deque([SPEC])
        while waiting:
            other = waiting.popleft()
            for name in self.below.get(other, ()):
                if name not in found:
                    found[name] = other
                    waiting.append(name)
        return found

    def chains(self, name: str, most: int = MOST_CHAINS) -> Chains:
        """Every way from the spec to a package that passes nothing twice, the shortest first and
        those of one length by name."""
        distance = self._distances()
        if name not in distance:
            return Chains((), more=False)
        ways: list[tuple[str, ...]] = []
        # Every entry of the heap can still reach the spec; its first number is the least length
        # it can come to, so that ways leave the heap in the order of their lengths.
        heap: list[tuple[int, tuple[str, ...]]] = [(distance[name], (name,))]
        steps = 0
        while heap and len(ways) < most and steps < _MOST_STEPS:
            _, way = heapq.heappop(heap)
            if way[0] == SPEC:
                ways.append(way[1:])
                continue
            for other in self.above.get(way[0], ()):
                if other in distance and other not in way:
                    steps += 1
                    heapq.heappush(heap, (len(way) + distance[other], (other, *way)))
        return Chains(tuple(ways), more=bool(heap))

    def _distances(self) -> dict[str, int]:
        """Edges from the spec on the shortest way to each package that it leads to."""
        found = {SPEC: 0}
        waiting = deque([SPEC])
        while waiting:
            other = waiting.popleft()
            for name in self.below.get(other, ()):
                if name not in found:
                    found[name] = found[other] + 1
                    waiting.append(name)
        return found

    def needs(self, name: str) -> frozenset[str]:
        """A package and everything that it requires, directly or not."""
        found = {name}
        waiting = [name]
        while waiting:
            for other in self.below.get(waiting.pop(), ()):
                if other not in found:
                    found.add(other)
                    waiting.append(other)
        return frozenset(found)

    def size(self, names: Iterable[str]) -> int:
        """Bytes of the files of some packages; what has no stated size counts as none."""
        return sum(self.packages[n].artefact.size for n in names if n in self.packages)

    def tree(self, root: str = SPEC, depth: int = DEEPEST, *, invert: bool = False) -> list[Row]:
        """What ``root`` requires, or, inverted, who requires it. A package that comes again is
        not opened again. The row of ``root`` is the first, unless it is `SPEC`."""
        depth = min(depth, DEEPEST)
        edges = self.above if invert else self.below
        tops = edges.get(SPEC, ()) if root == SPEC else (root,)
        opened: set[str] = set()
        rows: list[Row] = []
        stack: list[tuple[tuple[str, ...], tuple[bool, ...]]] = [
            ((name,), (i == len(tops) - 1,)) for i, name in reversed([*enumerate(tops)])
        ]
        while stack:
            way, last = stack.pop()
            name, level = way[-1], len(way) - 1
            following = edges.get(name, ())
            mark = ""
            if name in way[:-1]:
                mark = CYCLE
            elif following and name in opened:
                mark = REPEATED
            elif following and level >= depth:
                mark = CUT
            rows.append(Row(name, level, last, mark))
            if mark:
                continue
            opened.add(name)
            end = len(following) - 1
            for i in range(end, -1, -1):
                stack.append(((*way, following[i]), (*last, i == end)))
        return rows


def way(up: Mapping[str, str], name: str) -> str:
    """The way from a package to the spec: `markupsafe ← jinja2 ← the spec`, by `Graph.parents`."""
    path = [name]
    while (name := up.get(name, SPEC)) != SPEC:
        path.append(name)
    if len(path) > _LONGEST:
        path[3:-3] = [f"{len(path) - 6} more"]
    return " ← ".join([*path, "the spec"])
