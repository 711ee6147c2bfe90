"""What solving gives: a set that fits with the chain behind it, or the statements that conflict."""

from __future__ import annotations

from typing import NamedTuple

from envspec.diagnostics import Fix
from envspec.source import Span


class Link(NamedTuple):
    """One sentence of a chain and the fact behind it.

    ``source`` and ``as_of`` are the fact's own, ``""`` for what the spec says by itself. ``known``
    is False for a sentence that says what the facts do not tell.
    """

    text: str
    source: str = ""
    as_of: str = ""
    known: bool = True


class Pin(NamedTuple):
    """A package at one version. ``index`` is ``""`` for the index it comes from anyway, and
    ``settled`` says that the spec states as much by itself."""

    name: str
    specifier: str
    index: str  # type: ignore[assignment]  # shadows tuple.index, which nobody calls
    settled: bool


class Statement(NamedTuple):
    """Something the spec states that a set has to meet. ``said`` is how it is written, without
    back-ticks; ``key`` is its kind and name (``gpu sm_80``), unique in a spec."""

    key: str
    said: str
    span: Span


class Demand(NamedTuple):
    """A statement and what it asks for, in numbers."""

    statement: Statement
    text: str


class Solution(NamedTuple):
    """The newest set that fits.

    ``version`` and ``build`` are torch's (``2.9.1``, ``cu126``), empty where the spec has no
    torch. ``driver`` is the oldest that the set runs on. ``open`` names what the spec leaves
    open, ``fix`` fills it in. ``passed`` says why newer releases were not taken.
    """

    toolkit: str
    driver: str
    version: str
    build: str
    pins: tuple[Pin, ...]
    cudnn: str
    nccl: str
    open: tuple[str, ...]
    chain: tuple[Link, ...]
    passed: tuple[Link, ...]
    fix: Fix | None

    @property
    def name(self) -> str:
        """The set in a few words."""
        torch = f"torch {self.version}+{self.build}" if self.version else ""
        return " with ".join(part for part in (f"CUDA {self.toolkit}", torch) if part)


class Conflict(NamedTuple):
    """No set fits. Without any one of ``demands`` the others could be met together.

    ``known`` is False where a set might fit and the facts cannot tell. ``relaxations`` are
    changes of one statement after which the whole spec can be met.
    """

    demands: tuple[Demand, ...]
    relaxations: tuple[str, ...]
    known: bool
