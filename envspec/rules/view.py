"""What rules look at: the spec, the versions that are settled, and the facts about them.

A version is settled by an exact pin of the spec or, where there is a lock, by the lock, which
also holds what nobody stated (the NVIDIA wheels that torch brings). Everything here is worked out
when first asked, so a spec without a GPU never reads a table about GPUs.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

from envspec.facts import lookup
from envspec.facts.builds import cuda_of_build, is_build
from envspec.facts.rows import TorchBuild
from envspec.machines import MACHINES
from envspec.model import DEFAULT_INDEX, Extension, Package, Spec
from envspec.source import SourceFile, Span
from envspec.stated import build_of_index, exact, home


class Settled(NamedTuple):
    """A version that is known exactly. ``span`` is the statement that asks for it, or the
    `packages` that brought it; ``stated`` says that the spec itself pins it."""

    name: str
    version: str
    span: Span
    stated: bool

    @property
    def public(self) -> str:
        """The version without its local part."""
        return self.version.partition("+")[0]

    @property
    def local(self) -> str:
        """The local part (``cu128``), ``""`` where there is none."""
        return self.version.partition("+")[2]


class View:
    """One spec, with the lock's versions where there is a lock."""

    def __init__(
        self, spec: Spec, source: SourceFile, locked: Mapping[str, str] | None = None
    ) -> None:
        self.spec = spec
        self.source = source
        self.locked = locked or {}

    @property
    def machine(self) -> str:
        """The processor as wheel tags name it: ``x86_64`` or ``aarch64``."""
        return MACHINES.get(self.spec.platform.os_arch, "")

    @property
    def cuda(self) -> bool:
        """True where the spec has a CUDA accelerator."""
        return self.spec.accelerator.kind == "cuda"

    @property
    def home(self) -> Span:
        """Where a finding about the whole spec points: the accelerator, else the project."""
        return home(self.spec)

    @cached_property
    def stated(self) -> dict[str, Package | Extension]:
        """Packages and extensions of the spec by name."""
        both: tuple[Package | Extension, ...] = (*self.spec.packages, *self.spec.extensions)
        return {p.name: p for p in both}

    @cached_property
    def settled(self) -> dict[str, Settled]:
        """Every version that is known exactly, by name: the spec's own pins, then the lock."""
        found: dict[str, Settled] = {}
        for package in self.stated.values():
            version = exact(package.specifier)
            if version:
                found[package.name] = Settled(package.name, version, package.span, stated=True)
        for name, version in self.locked.items():
            stated = self.stated.get(name)
            # The lock says more than the pin: its version has the local part.
            at = stated.span if stated else self.home
            found[name] = Settled(name, version, at, stated=name in found)
        return found

    @cached_property
    def torch(self) -> Settled | None:
        """The torch of the spec or its lock, where its version is known."""
        return self.settled.get("torch")

    @cached_property
    def torch_build_name(self) -> str:
        """The build that torch comes in, as ``cpu`` or ``cu128``: by its local part, by the
        index that the spec takes it from, else what the default index serves; ``""`` where
        nothing tells (an index of the user's own)."""
        torch = self.torch
        if torch is None:
            return ""
        if torch.local:
            return torch.local if is_build(torch.local) else ""
        stated = self.stated.get("torch")
        alias = stated.index if stated else ""
        if alias in {"", DEFAULT_INDEX}:
            row = lookup.torch_build(torch.public, None, self.machine)
            return row.build if row else ""
        return build_of_index(self.spec, alias)

    @cached_property
    def torch_build(self) -> TorchBuild | None:
        """The facts about that torch in that build; None where the tables do not know it."""
        torch, build = self.torch, self.torch_build_name
        if torch is None or not build:
            return None
        return lookup.torch_build(torch.public, build, self.machine)

    @cached_property
    def torch_cuda(self) -> str:
        """The CUDA release that torch was built with, ``""`` for a CPU build or where unknown."""
        row = self.torch_build
        if row is not None and row.cuda:
            return row.cuda
        return cuda_of_build(self.torch_build_name) or ""

    @cached_property
    def toolkit(self) -> str:
        """The CUDA release of the environment: as stated, else that of torch."""
        return self.spec.accelerator.toolkit or self.torch_cuda
