"""The plan: what to build and what to check, free of any target.

Emitters and engines read the plan and nothing before it. Every step keeps the line of the spec
it comes from, so a Dockerfile comment and a failed build can both point home.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

PLAN_VERSION = 2

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

# Where a stage that compiles keeps things; none of them is in the image.
BUILD_ROOT = "/opt/build"
BUILD_PREFIX = f"{BUILD_ROOT}/env"
BUILD_SOURCE = f"{BUILD_ROOT}/source"
BUILD_DIST = f"{BUILD_ROOT}/dist"

# Folders of the wheelhouse beside those of the layers of `InstallWheels`: of an extension there
# are two, `extension-NAME` for its source and `build-NAME` for what its build imports.
TOOLS = "tools"
FRAMEWORK = "framework"
ARCHIVE = "source"
DEBS = "debs"
BUILD_DEBS = "debs-build"

EXTENSIONS = "extensions"
"""The stage of an image's build that holds the wheels of extensions, a folder for each."""

EPOCH = 315_532_800
"""1980-01-01 00:00:00 UTC, the oldest moment that a wheel can hold: the time stamp of all that is
built where the lock knows no better one."""


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


class Deb(NamedTuple):
    """A package of the distribution to install; ``pool`` is its path below a mirror."""

    name: str
    version: str
    file: File
    pool: str = ""


class Base(NamedTuple):
    """An image by name and digest (``sha256:…``): what everything stands on, or what compiles."""

    name: str
    digest: str


class Accelerator(NamedTuple):
    """``kind`` is ``none`` or ``cuda``; the rest is empty for ``none``. ``floor`` is the oldest
    driver that will do (``525.60.13``), ``""`` where nobody said and the facts do not tell."""

    kind: str
    toolkit: str
    driver: str
    gpus: tuple[str, ...]
    floor: str = ""


class Nixpkgs(NamedTuple):
    """The revision of nixpkgs that the flake is locked to, from envspec/facts."""

    owner: str
    repo: str
    rev: str
    nar_hash: str
    last_modified: int


class InstallSystem(NamedTuple):
    """System packages. ``packages`` are those that the spec names, ``debs`` everything that has
    to be installed for them. ``stage`` is ``runtime``, or ``build``: only where code is compiled.
    """

    packages: tuple[str, ...]
    line: int
    stage: str = "runtime"
    debs: tuple[Deb, ...] = ()


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


class BuildExtension(NamedTuple):
    """A wheel that is compiled from ``archive`` where ``wheels`` are installed, without network
    and without isolation, and is then installed. ``environment`` is that of the build.

    ``wheel`` is the file it gives and ``sha256`` its digest, ``""`` where no build was recorded.
    ``modules`` must load afterwards.
    """

    name: str
    version: str
    archive: File
    wheels: tuple[Wheel, ...]
    environment: tuple[tuple[str, str], ...]
    modules: tuple[str, ...]
    wheel: str
    sha256: str
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


Step = InstallSystem | CreateEnvironment | InstallWheels | BuildExtension | UnpackSource | RunStep


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
    """What the spec says of its environment: ``value`` is text, as written; ``subject`` is the
    entry or module it is about, ``""`` for most."""

    name: str
    value: str
    because: str
    line: int
    subject: str = ""


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
    devel: Base | None = None
    devel_line: int = 0
    epoch: int = EPOCH
    asked: str = ""
    """The image that told which packages of the distribution are lacking, ``""`` for the base."""

    @property
    def extensions(self) -> tuple[BuildExtension, ...]:
        """What is compiled, in build order."""
        return tuple(s for s in self.steps if isinstance(s, BuildExtension))

    @property
    def system(self) -> tuple[InstallSystem, ...]:
        """What comes from the distribution."""
        return tuple(s for s in self.steps if isinstance(s, InstallSystem))

    @property
    def compiles_apart(self) -> bool:
        """Whether steps of the spec run in another image than the one that is kept: they do where
        a compiler is asked for, and then only what they leave in the source folder is kept."""
        return self.devel is not None or any(s.stage == "build" for s in self.system)

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
        """Every file the build takes in, the installer included, each once."""
        return tuple(dict.fromkeys(f for _, files in self.layers for f in files))

    @property
    def layers(self) -> tuple[tuple[str, tuple[File, ...]], ...]:
        """The same files by the folder of the wheelhouse they stand in.

        A layer's folder is all that its build step sees, so a change in one layer leaves the
        others' build cache alone.
        """
        found: list[tuple[str, tuple[File, ...]]] = [(TOOLS, (self.installer.file,))]
        for step in self.steps:
            if isinstance(step, InstallSystem):
                if step.debs:
                    folder = DEBS if step.stage == "runtime" else BUILD_DEBS
                    found.append((folder, tuple(d.file for d in step.debs)))
            elif isinstance(step, InstallWheels):
                found.append((step.layer, tuple(w.file for w in step.wheels)))
            elif isinstance(step, BuildExtension):
                found.append((extension_folder(step), (step.archive,)))
                own = tuple(w.file for w in self.build_only(step))
                if own:
                    found.append((build_folder(step), own))
        return (*found, (ARCHIVE, (self.source.archive,)))

    @property
    def framework(self) -> tuple[Wheel, ...]:
        """The big wheels, whose folder the builds of extensions share with the image."""
        layers = (s for s in self.steps if isinstance(s, InstallWheels))
        return next((s.wheels for s in layers if s.layer == FRAMEWORK), ())

    def build_only(self, step: BuildExtension) -> tuple[Wheel, ...]:
        """What the build of an extension imports beside the framework's wheels."""
        shared = frozenset(self.framework)
        return tuple(w for w in step.wheels if w not in shared)


def extension_folder(step: BuildExtension) -> str:
    """The folder of the wheelhouse with the source of an extension."""
    return f"extension-{step.name}"


def build_folder(step: BuildExtension) -> str:
    """The folder of the wheelhouse with what the build of an extension imports."""
    return f"build-{step.name}"


def wheel_folder(step: BuildExtension) -> str:
    """The name that the recorded digest of a built wheel goes by among the outputs."""
    return f"wheel-{step.name}"
