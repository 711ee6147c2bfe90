"""The plan: what to build and what to check, free of any target.

Emitters and engines read the plan and nothing before it. Every step keeps the line of the spec
it comes from, so a Dockerfile comment and a failed build can both point home.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

PLAN_VERSION = 1

# Where things stand inside a built environment. An engine that has no root of its own (local)
# maps these to real folders; see `envspec.build.protocol.Built.locate`.
PREFIX = "/opt/env"
SOURCE = "/opt/src"
PROBES = "/opt/envspec/probes"
ENTRIES = "/opt/envspec/entries"
PYRIGHT = "/opt/envspec/pyright"
NODE = "/opt/envspec/node"
PYCACHE = "/opt/envspec/pycache"

INTERPRETER = f"{PREFIX}/bin/python"

# Folders of the wheelhouse beside those of the layers of `InstallWheels`.
TOOLS = "tools"
ARCHIVE = "source"


class File(NamedTuple):
    """A file known by its sha256; ``index`` is an alias, ``""`` for a file beside the spec."""

    index: str  # type: ignore[assignment]  # shadows tuple.index, which nobody calls
    file: str
    sha256: str
    size: int


class Wheel(NamedTuple):
    """A wheel to install."""

    name: str
    version: str
    file: File


class Base(NamedTuple):
    """The image everything stands on, by name and digest (``sha256:…``)."""

    name: str
    digest: str


class Accelerator(NamedTuple):
    """``kind`` is ``none`` or ``cuda``; the rest is empty for ``none``."""

    kind: str
    toolkit: str
    driver: str
    gpus: tuple[str, ...]


class Nixpkgs(NamedTuple):
    """The revision of nixpkgs that the flake is locked to, from envspec/facts."""

    owner: str
    repo: str
    rev: str
    nar_hash: str
    last_modified: int


class InstallSystem(NamedTuple):
    """System packages, by the distribution's names."""

    packages: tuple[str, ...]
    line: int


class CreateEnvironment(NamedTuple):
    """An empty virtual environment at ``prefix`` with the base's ``python`` (``3.11``)."""

    prefix: str
    python: str
    line: int


class InstallWheels(NamedTuple):
    """Wheels, offline, every file hashed. ``layer`` orders by size and how often it changes."""

    layer: str
    wheels: tuple[Wheel, ...]
    line: int


class UnpackSource(NamedTuple):
    """A source archive at ``destination``, without the one folder at its top."""

    archive: File
    destination: str
    line: int


class RunStep(NamedTuple):
    """A command of the spec, run without network in the source folder."""

    name: str
    argv: tuple[str, ...]
    line: int


Step = InstallSystem | CreateEnvironment | InstallWheels | UnpackSource | RunStep


class Script(NamedTuple):
    """A program beside the spec that an entry runs. Its ``content`` is known by its sha256 in
    ``plan.json`` and is shown to the sandbox read-only; the image does not hold it."""

    name: str
    sha256: str
    content: bytes

    @classmethod
    def of(cls, name: str, content: bytes) -> Script:
        """A script with its digest."""
        return cls(name, hashlib.sha256(content).hexdigest(), content)


class Expect(NamedTuple):
    """What an entry must show: its exit status, files below ``/tmp``, patterns in its output."""

    status: int = 0
    files: tuple[str, ...] = ()
    output: tuple[str, ...] = ()


class Resources(NamedTuple):
    """What the machine must give, in bytes; 0 where the spec does not say."""

    memory: int = 0
    shm: int = 0
    disk: int = 0


class Entry(NamedTuple):
    """A command that shows a rung. ``argv[0]`` is looked up in the environment's ``bin``."""

    name: str
    level: str
    argv: tuple[str, ...]
    script: Script | None
    timeout: int
    processes: int
    environment: tuple[tuple[str, str], ...]
    network: bool
    line: int
    expect: Expect = Expect()


class OptionalImport(NamedTuple):
    """An import the source may do without, and why."""

    name: str
    because: str
    line: int


class Claim(NamedTuple):
    """What the spec says of its environment: ``value`` is text, as written."""

    name: str
    value: str
    because: str
    line: int


class Plan(NamedTuple):
    """One environment. ``steps`` are in build order; ``environment`` holds set variables."""

    project: str
    spec: str
    platform: str
    base: Base
    base_line: int
    python: str
    glibc: str
    accelerator: Accelerator
    nixpkgs: Nixpkgs
    installer: Wheel
    steps: tuple[Step, ...]
    environment: tuple[tuple[str, str], ...]
    import_roots: tuple[str, ...]
    entries: tuple[Entry, ...]
    optional_imports: tuple[OptionalImport, ...]
    claims: tuple[Claim, ...]
    resources: Resources = Resources()

    @property
    def wheels(self) -> tuple[Wheel, ...]:
        """Every wheel of every layer, in install order."""
        return tuple(w for s in self.steps if isinstance(s, InstallWheels) for w in s.wheels)

    @property
    def source(self) -> UnpackSource:
        """The step that brings the code under test."""
        return next(s for s in self.steps if isinstance(s, UnpackSource))

    @property
    def files(self) -> tuple[File, ...]:
        """Every file the build takes in, the installer included."""
        return (self.installer.file, *(w.file for w in self.wheels), self.source.archive)

    @property
    def layers(self) -> tuple[tuple[str, tuple[File, ...]], ...]:
        """The same files by the folder of the wheelhouse they stand in.

        A layer's folder is all that its build step sees, so a change in one layer leaves the
        others' build cache alone.
        """
        return (
            (TOOLS, (self.installer.file,)),
            *(
                (s.layer, tuple(w.file for w in s.wheels))
                for s in self.steps
                if isinstance(s, InstallWheels)
            ),
            (ARCHIVE, (self.source.archive,)),
        )
