"""The resolved spec: typed values, no strings that mean something else.

Every item keeps the span it was written at, so that a finding made much later (an index that
does not answer, a step that fails) still points into the spec.
"""

from __future__ import annotations

from typing import NamedTuple

from envspec.source import Span

LEVELS = ("c1", "c3", "c4")
RUNGS = ("c0", "c1", "c2", "c3", "c4")
UNSTATED = "unstated"


class ArchiveSource(NamedTuple):
    """A source archive: ``index`` is an alias, ``""`` for a file beside the spec."""

    file: str
    sha256: str
    index: str  # type: ignore[assignment]  # shadows tuple.index, which nobody calls
    span: Span


class Project(NamedTuple):
    """What is under test. ``pythonpath`` are folders of the source that imports start from."""

    name: str
    source: ArchiveSource
    pythonpath: tuple[str, ...]
    span: Span


class Platform(NamedTuple):
    """``base_digest`` and ``glibc`` are empty where the spec leaves them to the lock."""

    os_arch: str
    base: str
    base_digest: str
    base_span: Span
    python: str
    python_span: Span
    glibc: str
    span: Span


class Accelerator(NamedTuple):
    """``kind`` is ``none`` or ``cuda``; versions are empty where the spec does not state them."""

    kind: str
    toolkit: str
    driver: str
    gpus: tuple[str, ...]
    cudnn: str
    nccl: str
    span: Span


class Index(NamedTuple):
    """A package index by alias. ``url`` is where it is, for aliases that no client knows."""

    name: str
    url: str
    span: Span


class Package(NamedTuple):
    """A package to install. ``name`` is normalised; ``specifier`` is PEP 440, ``""`` for any."""

    name: str
    extras: tuple[str, ...]
    specifier: str
    index: str  # type: ignore[assignment]  # shadows tuple.index, which nobody calls
    because: str
    span: Span


class SystemPackage(NamedTuple):
    """A package of the distribution; ``stage`` is ``runtime`` or ``build``."""

    name: str
    stage: str
    span: Span


class Step(NamedTuple):
    """A command that has to run before the code works."""

    name: str
    argv: tuple[str, ...]
    span: Span


class Variable(NamedTuple):
    """An environment variable."""

    name: str
    value: str
    span: Span


class Entry(NamedTuple):
    """A command that shows a rung. ``script`` names a file beside the spec, ``""`` for none;
    ``argv`` is then its arguments. ``timeout`` is in seconds."""

    name: str
    level: str
    argv: tuple[str, ...]
    script: str
    timeout: int
    processes: int
    environment: tuple[Variable, ...]
    network: bool
    span: Span


class OptionalImport(NamedTuple):
    """An import that the source may do without, and why."""

    name: str
    because: str
    span: Span


class Claim(NamedTuple):
    """What the spec says of its environment, as written."""

    name: str
    value: str
    because: str
    span: Span


class Spec(NamedTuple):
    """One environment, as its author described it."""

    project: Project
    platform: Platform
    accelerator: Accelerator
    indexes: tuple[Index, ...]
    packages: tuple[Package, ...]
    system: tuple[SystemPackage, ...]
    steps: tuple[Step, ...]
    environment: tuple[Variable, ...]
    entries: tuple[Entry, ...]
    optional_imports: tuple[OptionalImport, ...]
    claims: tuple[Claim, ...]
