"""What there is to choose from: torch releases in their builds, companions, toolkits."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import NamedTuple

from envspec.facts import lookup
from envspec.facts.rows import (
    TensorflowRelease,
    ToolkitDriver,
    TorchBuild,
    TorchPairing,
)
from envspec.facts.tables import rows
from envspec.facts.versions import version

Parts = tuple[int, ...]


class Torch(NamedTuple):
    """A torch release in one build. ``row`` is that of the release, else of its series."""

    release: str
    parts: Parts
    build: str
    cuda: str
    cuda_parts: Parts
    row: TorchBuild

    @property
    def experimental(self) -> bool:
        """Published as experimental, and not what the default index serves either."""
        return self.row.experimental and not self.row.default


class Companion(NamedTuple):
    """A release of a companion, known by its pairing. ``row`` None stands for a release that
    the tables do not know."""

    package: str
    row: TorchPairing | None

    def version(self, torch: Torch) -> str:
        """The version that goes with a torch release: ``0.24.1``, or ``0.14.*`` where the tables
        know the series only."""
        if self.row is None:
            return ""
        parts = version(self.row.version)
        if parts is None or len(parts) > 2:
            return self.row.version
        if "patch" in (self.row.note or "") or self.row.version == self.row.torch:
            return f"{self.row.version}.{torch.parts[2]}"
        return f"{self.row.version}.*"


class Toolkit(NamedTuple):
    """A CUDA release, where the spec has no torch."""

    cuda: str
    cuda_parts: Parts
    row: ToolkitDriver


class Tensorflow(NamedTuple):
    """A TensorFlow series; ``libraries`` says that it brings its CUDA libraries along."""

    row: TensorflowRelease
    libraries: bool


Candidate = Torch | Companion | Toolkit | Tensorflow


def torches(stated: str = "") -> tuple[Torch, ...]:
    """CUDA builds of torch, for every machine.

    ``stated`` is a release that the spec names, which need not be in the tables if its series is.
    """
    parts = version(stated)
    if parts is None or len(parts) != 3 or any(t.parts == parts for t in _torches()):
        return _torches()
    same = [t.row for t in _torches() if t.parts[:2] == parts[:2]]
    builds = dict.fromkeys((row.build, row.machine) for row in same)
    return _torches() + tuple(made for key in builds for made in _made(stated, *key))


@cache
def _torches() -> tuple[Torch, ...]:
    found: dict[tuple[str, str, str], Torch] = {}
    for row in rows(TorchBuild):
        if row.cuda is None:
            continue
        for release in _releases(".".join(row.release.split(".")[:2])):
            for made in _made(release, row.build, row.machine):
                found[release, row.build, row.machine] = made
    return tuple(found.values())


def _made(release: str, build: str, machine: str) -> tuple[Torch, ...]:
    row = lookup.torch_build(release, build, machine)
    if row is None or row.cuda is None:
        return ()
    parts, cuda = version(release), version(row.cuda)
    return (Torch(release, parts, build, row.cuda, cuda, row),) if parts and cuda else ()


@cache
def _releases(series: str) -> tuple[str, ...]:
    """Releases of a series that the tables name; its first one is there in any case."""
    named = {f"{series}.0"}
    for text in (*(r.release for r in rows(TorchBuild)), *(r.torch for r in rows(TorchPairing))):
        if text.count(".") == 2 and text.startswith(f"{series}."):
            named.add(text)
    return tuple(sorted(named, key=lambda text: version(text) or ()))


@cache
def companions(package: str) -> tuple[Companion, ...]:
    """Releases of a companion that the tables pair with a torch, newest first."""
    found = [row for row in rows(TorchPairing) if row.package == package]
    return tuple(Companion(package, row) for row in sorted(found, key=_newest))


def _newest(row: TorchPairing) -> tuple[int, ...]:
    numbers = version(row.version.replace(".post", ".")) or ()
    return tuple(-n for n in numbers)


def pairs(companion: Companion, torch: Torch) -> bool | None:
    """Whether a companion goes with a torch release; None for one that the tables lack."""
    row = companion.row
    return None if row is None else row in _pairings(torch.release, companion.package)


@lru_cache(maxsize=1024)
def _pairings(release: str, package: str) -> tuple[TorchPairing, ...]:
    found = lookup.pairings(release, package)
    if package != "torchvision":
        return found
    # Of several that its metadata would allow, the one built for a release has its patch number.
    series, _, patch = release.rpartition(".")
    built = tuple(
        row
        for row in found
        if f"{row.torch}.".startswith(f"{series}.") and row.version.split(".")[2:] == [patch]
    )
    return built or found


@cache
def toolkits() -> tuple[Toolkit, ...]:
    """CUDA releases by X.Y, newest first; the row is that of the first X.Y.Z."""
    first: dict[str, ToolkitDriver] = {}
    for row in rows(ToolkitDriver):
        first[row.toolkit.rpartition(".")[0]] = row  # the table goes from new to old
    made = ((cuda, version(cuda) or (), row) for cuda, row in first.items())
    return tuple(Toolkit(*one) for one in sorted(made, key=lambda one: one[1], reverse=True))


@cache
def tensorflows(libraries: bool) -> tuple[Tensorflow, ...]:
    """TensorFlow series, newest first."""
    found = sorted(rows(TensorflowRelease), key=lambda r: version(r.release) or (), reverse=True)
    return tuple(Tensorflow(row, libraries) for row in found)
