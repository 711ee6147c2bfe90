"""The resolved spec: typed values, no strings that mean something else.

Every item keeps the span it was written at, so that a finding made much later (an index that
does not answer, a step that fails) still points into the spec. A field that the spec leaves out
is empty: ``""``, ``()`` or 0.
"""

from __future__ import annotations

from typing import NamedTuple

from envspec.source import Span

LEVELS = ("c1", "c3", "c4")
UNSTATED = "unstated"
NOWHERE = Span(0, 0)
DEFAULT_INDEX = "pypi"
"""Alias of the default index; a package without an index is taken from it."""
TORCH_INDEX = "pytorch-"
"""Beginning of the aliases of torch's own indexes: `pytorch-cu128` serves build `cu128`."""
DEFAULT_NEEDS = ("torch", "setuptools", "wheel")
"""What the build of an extension imports where the spec does not say."""


class ArchiveSource(NamedTuple):
    """A source archive: ``index`` is an alias, ``""`` for a file beside the spec."""

    file: str
    sha256: str
    index: str  # type: ignore[assignment]  # shadows tuple.index, which nobody calls
    span: Span


class PathSource(NamedTuple):
    """A folder beside the spec."""

    folder: str
    span: Span


class GitSource(NamedTuple):
    """A repository at one commit of 40 hexadecimal digits."""

    url: str
    commit: str
    span: Span


Source = ArchiveSource | PathSource | GitSource


class Project(NamedTuple):
    """What is under test. ``pythonpath`` are folders of the source that imports start from."""

    name: str
    source: Source
    pythonpath: tuple[str, ...]
    span: Span


class Platform(NamedTuple):
    """``base_digest`` and ``glibc`` are empty where the spec leaves them to the lock.

    ``devel`` is the image of the stage that compiles extensions, ``""`` for the base itself.
    ``because`` holds (word, reason) of the lines that give one.
    """

    os_arch: str
    base: str
    base_digest: str
    base_span: Span
    python: str
    python_span: Span
    glibc: str
    span: Span
    devel: str = ""
    devel_digest: str = ""
    devel_span: Span = NOWHERE
    glibc_span: Span = NOWHERE
    because: tuple[tuple[str, str], ...] = ()


class Accelerator(NamedTuple):
    """``kind`` is ``none`` or ``cuda``; versions are empty where the spec does not state them.

    ``because`` holds (word, reason) of the lines that give one. Each span is that of its line,
    `NOWHERE` where there is none; ``toolkit_span`` covers the number alone.
    """

    kind: str
    toolkit: str
    driver: str
    gpus: tuple[str, ...]
    cudnn: str
    nccl: str
    because: tuple[tuple[str, str], ...] = ()
    toolkit_span: Span = NOWHERE
    driver_span: Span = NOWHERE
    gpus_span: Span = NOWHERE
    cudnn_span: Span = NOWHERE
    nccl_span: Span = NOWHERE
    span: Span = NOWHERE


class Resources(NamedTuple):
    """What the machine must give, in bytes; ``jobs`` compile jobs at once. 0: not stated."""

    memory: int
    shm: int
    disk: int
    jobs: int
    span: Span


class Index(NamedTuple):
    """A package index by alias. ``url`` is where it is, for aliases that no client knows."""

    name: str
    url: str
    span: Span


class Mirror(NamedTuple):
    """Another place for the files of an index, by name; its address is the machine's own."""

    name: str
    index: str  # type: ignore[assignment]  # shadows tuple.index, which nobody calls
    span: Span


class Secret(NamedTuple):
    """The name of a value that a machine keeps, and what it is for."""

    name: str
    because: str
    span: Span


class Package(NamedTuple):
    """A package to install. ``name`` is normalised; ``specifier`` is PEP 440, ``""`` for any.

    ``specifier_span`` covers the specifier, or the point behind the name where one would stand;
    ``index_span`` covers ``from INDEX``.
    """

    name: str
    extras: tuple[str, ...]
    specifier: str
    index: str  # type: ignore[assignment]  # shadows tuple.index, which nobody calls
    because: str
    span: Span
    specifier_span: Span = NOWHERE
    index_span: Span = NOWHERE


class SystemPackage(NamedTuple):
    """A package of the distribution; ``stage`` is ``runtime`` or ``build``."""

    name: str
    stage: str
    span: Span


class Variable(NamedTuple):
    """An environment variable."""

    name: str
    value: str
    span: Span


class Extension(NamedTuple):
    """A native package that is compiled against the locked torch in a stage of its own.

    ``git`` is None where it comes from an index. ``needs`` are the packages its build imports,
    empty for `DEFAULT_NEEDS`; ``modules`` must load afterwards.
    """

    name: str
    specifier: str
    index: str  # type: ignore[assignment]  # shadows tuple.index, which nobody calls
    because: str
    git: GitSource | None
    needs: tuple[str, ...]
    environment: tuple[Variable, ...]
    modules: tuple[str, ...]
    span: Span
    specifier_span: Span = NOWHERE


class Step(NamedTuple):
    """A command that has to run before the code works."""

    name: str
    argv: tuple[str, ...]
    environment: tuple[Variable, ...]
    span: Span


class Asset(NamedTuple):
    """A file or a snapshot that entries need: ``hub`` is a repository of a model hub, else
    ``url`` an address. ``folder`` is where it lies in the source."""

    name: str
    hub: str
    url: str
    revision: str
    sha256: str
    folder: str
    secret: str
    span: Span


class Service(NamedTuple):
    """A server that entries need: an image, its port, and a command that tells when it is up."""

    name: str
    image: str
    digest: str
    port: int
    argv: tuple[str, ...]
    ready: tuple[str, ...]
    environment: tuple[Variable, ...]
    timeout: int
    span: Span


class Expect(NamedTuple):
    """What an entry must show: its exit status, files it leaves, patterns in its output."""

    status: int
    files: tuple[str, ...]
    output: tuple[str, ...]


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
    expect: Expect
    services: tuple[str, ...]
    assets: tuple[str, ...]
    secrets: tuple[str, ...]
    span: Span


class OptionalImport(NamedTuple):
    """An import that the source may do without, and why."""

    name: str
    because: str
    span: Span


class Claim(NamedTuple):
    """What the spec says of its environment, as written. ``subject`` is what it is about where the
    name alone does not say that: the entry of `entry train pass`."""

    name: str
    value: str
    because: str
    span: Span
    subject: str = ""


class Spec(NamedTuple):
    """One environment, as its author described it."""

    project: Project
    platform: Platform
    accelerator: Accelerator
    resources: Resources
    indexes: tuple[Index, ...]
    mirrors: tuple[Mirror, ...]
    secrets: tuple[Secret, ...]
    packages: tuple[Package, ...]
    system: tuple[SystemPackage, ...]
    extensions: tuple[Extension, ...]
    steps: tuple[Step, ...]
    environment: tuple[Variable, ...]
    assets: tuple[Asset, ...]
    services: tuple[Service, ...]
    optional_imports: tuple[OptionalImport, ...]
    entries: tuple[Entry, ...]
    claims: tuple[Claim, ...]
