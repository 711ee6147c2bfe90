"""Why a lock holds what is no package of the environment: what only the build of an extension
imports, and what comes from the distribution. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from envspec.lock.graph import Chains, Graph
from envspec.lock.model import Deb, Lock, LockedExtension

RUNTIME, BUILD = "runtime", "build"


class BuildReason(NamedTuple):
    """A package that the build of ``extension`` imports. The ``chains`` begin at what is asked
    for by the build itself; ``only`` where the environment does not hold the package."""

    extension: str
    version: str
    chains: Chains
    only: bool


class DebReason(NamedTuple):
    """A package of the distribution. ``named`` where the spec names it; else ``by`` are the named
    packages that one of brought it, which is known where it is one. ``stage`` is `RUNTIME` or
    `BUILD`."""

    stage: str
    deb: Deb
    named: bool
    by: tuple[str, ...]


def build_reasons(lock: Lock, name: str) -> tuple[BuildReason, ...]:
    """The builds that import a package, in the order of the extensions."""
    held = {p.name for p in lock.packages} | {e.name for e in lock.extensions}
    found = []
    for extension in lock.extensions:
        package = next((p for p in extension.build if p.name == name), None)
        if package is not None:
            chains = Graph(extension.build).chains(name)
            found.append(BuildReason(extension.name, package.version, chains, name not in held))
    return tuple(found)


def build_tools(lock: Lock, extension: LockedExtension) -> tuple[str, ...]:
    """What the build of an extension imports and the environment does not hold, with versions."""
    held = {p.name for p in lock.packages} | {e.name for e in lock.extensions}
    return tuple(f"{p.name} {p.version}" for p in extension.build if p.name not in held)


def named_debs(lock: Lock, stage: str) -> tuple[str, ...]:
    """The packages of the distribution that the spec names for a stage."""
    return tuple(dict(lock.inputs).get(f"system {stage}", "").split())


def deb_reasons(lock: Lock, name: str) -> tuple[DebReason, ...]:
    """Where a package of the distribution comes from; more than one for two stages or
    architectures. ``name`` is as the distribution writes it, with its architecture or without."""
    plain, _, architecture = name.partition(":")
    found = []
    for stage, debs in ((RUNTIME, lock.system.runtime), (BUILD, lock.system.build)):
        by = named_debs(lock, stage)
        for deb in debs:
            if deb.name == plain and architecture in {"", deb.architecture}:
                named = plain in by
                found.append(DebReason(stage, deb, named, () if named else by))
    return tuple(found)


def names(lock: Lock) -> Sequence[str]:
    """Every name that a reason can be asked for."""
    tools = (p.name for e in lock.extensions for p in e.build)
    debs = (d.name for d in (*lock.system.runtime, *lock.system.build))
    held = (*(p.name for p in lock.packages), *(e.name for e in lock.extensions))
    return tuple(dict.fromkeys((*held, *tools, *debs)))
