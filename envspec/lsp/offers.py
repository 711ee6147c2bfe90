"""The values that the facts and the spec itself offer for a place, each with a word on why. Pure.

What the tables do not know is not offered: a spec may still say it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from envspec.facts import lookup
from envspec.facts.builds import cuda_of_build
from envspec.facts.rows import (
    Arch,
    Distribution,
    DriverFloor,
    Extension,
    ImportName,
    ToolkitDriver,
    TorchBuild,
    TorchPairing,
)
from envspec.facts.tables import rows
from envspec.facts.versions import version
from envspec.language.values import SPECIFIER
from envspec.rules.view import View

CPU = "cpu"
_TEXT_INDEX = "pytorch-"


class Offer(NamedTuple):
    """A value for a place. ``insert`` is what is written, where that is not the label."""

    label: str
    detail: str = ""
    insert: str = ""
    kind: str = "value"


def newest_first(versions: Iterable[str]) -> list[str]:
    """Versions of dotted numbers in falling order, each once."""
    return sorted(set(versions), key=lambda v: version(v) or (), reverse=True)


# --- the machine --------------------------------------------------------------------------


def toolkits() -> Iterator[Offer]:
    """CUDA releases, by the toolkits that are known."""
    for number in newest_first(r.toolkit.rpartition(".")[0] for r in rows(ToolkitDriver)):
        floor = lookup.driver_floor(number)
        yield Offer(number, f"driver >={floor.linux}" if floor else "")


def drivers(toolkit: str) -> Iterator[Offer]:
    """Driver floors: that of the toolkit first, then that of every CUDA release."""
    wanted = lookup.driver_floor(toolkit) if toolkit else None
    shipped = lookup.toolkit_driver(toolkit) if toolkit else None
    if wanted:
        yield Offer(f">={wanted.linux}", f"the floor of CUDA {toolkit}")
    if shipped:
        yield Offer(f">={shipped.linux}", f"shipped with CUDA {toolkit}; what its PTX needs")
    for row in rows(DriverFloor):
        if row != wanted:
            yield Offer(f">={row.linux}", f"the floor of CUDA {row.cuda}")


def architectures() -> Iterator[Offer]:
    """Architectures of GPUs as a spec writes them, the newest first."""
    for row in reversed(rows(Arch)):
        names = ", ".join(row.gpus)
        yield Offer(architecture(row.sm), f"{row.generation}: {names}" if names else row.generation)


def architecture(sm: str) -> str:
    """``9.0`` as a spec writes it: ``sm_90``."""
    return f"sm_{sm.replace('.', '')}"


def pythons() -> Iterator[Offer]:
    """Python releases that some torch supports."""
    last = max((version(r.python_max) or () for r in rows(TorchBuild)), default=())
    first = min((version(r.python_min) or () for r in rows(TorchBuild)), default=())
    for minor in range(last[1], max(first[1], 8) - 1, -1) if first and last else ():
        yield Offer(f"3.{minor}")


def floors() -> Iterator[Offer]:
    """C libraries of the distributions."""
    by_glibc: dict[str, list[str]] = {}
    for row in rows(Distribution):
        if row.glibc:
            by_glibc.setdefault(row.glibc, []).append(f"{row.name} {row.version}")
    for number in newest_first(by_glibc):
        yield Offer(f">={number}", ", ".join(by_glibc[number]))


def torch_column(column: str) -> Iterator[Offer]:
    """Releases of a library (``cudnn``, ``nccl``) that torch builds bring, to two numbers."""
    found: dict[str, str] = {}
    for row in rows(TorchBuild):
        brought: str | None = getattr(row, column)
        if brought:
            found.setdefault(".".join(brought.split(".")[:2]), f"torch {row.release}+{row.build}")
    for number in newest_first(found):
        yield Offer(number, f"as {found[number]} brings it")


# --- packages and indexes -----------------------------------------------------------------


@cache
def known_packages() -> dict[str, str]:
    """Names of packages that the facts know, and what they are."""
    found = {
        "torch": "PyTorch",
        "jax": "JAX; `jax[cuda12]` for GPUs",
        "tensorflow": "TensorFlow; `tensorflow[and-cuda]` for GPUs",
    }
    for pairing in rows(TorchPairing):
        found.setdefault(pairing.package, "goes with a release of torch")
    for extension in rows(Extension):
        if extension.distribution == "wheel":
            found.setdefault(extension.name, "native extension, on the index as a wheel")
        elif extension.distribution == "sdist":
            found.setdefault(extension.name, "native extension: better as `extension`")
    for row in rows(ImportName):
        for name in row.distributions:
            found.setdefault(name, f"provides `{row.module}`")
    return found


def packages(view: View) -> Iterator[Offer]:
    """Packages that the facts or the lock know and the spec does not have yet."""
    for name, detail in known_packages().items():
        if name not in view.stated:
            yield Offer(name, detail, kind="module")
    for name, locked in view.locked.items():
        if name not in known_packages() and name not in view.stated:
            yield Offer(name, f"locked at {locked}", kind="module")


def extensions(view: View) -> Iterator[Offer]:
    """Native extensions of the facts."""
    for row in rows(Extension):
        if row.name not in view.stated:
            yield Offer(row.name, f"{row.distribution}, {row.repository or ''}", kind="module")


def specifiers(name: str, view: View, typed: str, *, alone: bool) -> Iterator[Offer]:
    """Versions for a package: those that go with the spec's torch, those of torch itself, the
    locked one. ``typed`` is what stands there; its operator is kept."""
    operator = typed[: len(typed) - len(typed.lstrip("=<>!~"))] or "=="
    if not SPECIFIER.fits(f"{operator}1.0"):
        operator = "=="
    for number, detail in _versions(name, view):
        # A pairing of two numbers is one of series: its patch follows the patch of torch.
        series = ".*" if number.count(".") == 1 and operator == "==" else ""
        yield Offer(f"{operator}{number}{series}", detail)
    if name == "torch" and alone and operator == "==":
        for number in _torch_versions():
            for build in _builds(number, view.machine):
                index = f"{_TEXT_INDEX}{build}"
                label = f"=={number}+{build}"
                yield Offer(label, f"from {index}", f"{label} from {index}")


def _versions(name: str, view: View) -> Iterator[tuple[str, str]]:
    locked = view.locked.get(name)
    if locked:
        yield locked, "locked"
    if name == "torch":
        for number in _torch_versions():
            row = lookup.torch_build(number, None, view.machine)
            said = f", CUDA {row.cuda}" if row and row.cuda else ""
            python = f"Python {row.python_min} to {row.python_max}" if row else ""
            yield number, f"{python}{said}"
        return
    torch = view.torch
    every = (p for p in rows(TorchPairing) if p.package == name)
    for pairing in lookup.pairings(torch.public, name) if torch else every:
        yield pairing.version, f"goes with torch {pairing.torch}"


@cache
def _torch_versions() -> tuple[str, ...]:
    """Exact releases of torch that some table names, the newest first."""
    named = [r.release for r in rows(TorchBuild)] + [r.torch for r in rows(TorchPairing)]
    return tuple(newest_first(v for v in named if v.count(".") == 2))


@cache
def _builds(number: str, machine: str) -> tuple[str, ...]:
    """Builds of a torch release, those of CUDA first."""
    names = {
        r.build
        for r in rows(TorchBuild)
        if r.machine == machine and lookup.torch_build(number, r.build, machine)
    }
    return tuple(sorted(names, key=lambda b: (b == CPU, b)))


def indexes(view: View) -> Iterator[Offer]:
    """Aliases of package indexes: declared in the spec, and those that clients know."""
    declared = [i.name for i in view.spec.indexes]
    for name in declared:
        yield Offer(name, "declared in this spec", kind="reference")
    yield from well_known(declared)


def well_known(but: Iterable[str] = ()) -> Iterator[Offer]:
    """Aliases that the clients know themselves."""
    builds = {r.build for r in rows(TorchBuild)} - {CPU}
    known = {"pypi": "the default index", f"{_TEXT_INDEX}{CPU}": "torch for CPU"}
    for build in sorted(builds, key=lambda b: (len(b), b), reverse=True):
        known[f"{_TEXT_INDEX}{build}"] = f"torch for CUDA {cuda_of_build(build)}"
    for name, detail in known.items():
        if name not in but:
            yield Offer(name, detail, kind="reference")


# --- extensions and imports ---------------------------------------------------------------


def build_variables(extension: str) -> Iterator[Offer]:
    """Variables that the build of an extension reads."""
    row = lookup.extension(extension)
    for name in row.build_variables if row else ():
        detail = f"read by the build of {extension}"
        yield Offer(name, detail, f'{name}="$1"', "variable")


def needs(extension: str) -> Iterator[Offer]:
    """Packages that the build of an extension imports."""
    row = lookup.extension(extension)
    for name in row.needs if row else ("torch", "setuptools", "wheel", "ninja", "packaging"):
        yield Offer(name, f"the build of {extension} imports it" if row else "", kind="module")


def modules(extension: str = "") -> Iterator[Offer]:
    """Modules that can be imported: those of an extension, or all that the facts know."""
    for row in rows(ImportName):
        if not extension or extension in row.distributions:
            detail = f"from {row.distributions[0]}" if row.distributions else ""
            yield Offer(row.module, detail, kind="module")
