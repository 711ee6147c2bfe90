"""One typed row for each table of facts.

A field that may be absent is ``… | None`` and means *not known*; nothing here is ever a guess.
Every row ends with its birth certificate: ``source`` says where it was read, ``as_of`` the day
(YYYY-MM-DD) it was true. Versions are plain text and are compared by `envspec.facts.lookup`.
"""

from __future__ import annotations

from typing import NamedTuple

_SPELLED = {"rhel": "RHEL", "centos": "CentOS", "amazonlinux": "Amazon Linux"}


class DriverFloor(NamedTuple):
    """Oldest driver that runs an application of a CUDA release (minor-version compatibility).

    ``cuda`` is a major (``12``) where one floor holds for the whole major, else major.minor.
    """

    cuda: str
    linux: str
    windows: str | None
    minor_compatible: bool
    note: str | None
    source: str
    as_of: str


class ToolkitDriver(NamedTuple):
    """Driver that shipped with a toolkit: what PTX of that toolkit needs to be compiled."""

    toolkit: str
    label: str
    linux: str
    windows: str | None
    source: str
    as_of: str


class DriverBranch(NamedTuple):
    """CUDA number that ``nvidia-smi`` prints for a driver branch: the newest it supports."""

    branch: str
    cuda: str
    source: str
    as_of: str


class Arch(NamedTuple):
    """An SM and the toolkits that can compile for it; ``last_toolkit`` None means current.

    ``tegra`` marks the embedded parts, for which NVIDIA promises no binary compatibility.
    """

    sm: str
    generation: str
    gpus: tuple[str, ...]
    first_toolkit: str | None
    last_toolkit: str | None
    tegra: bool
    note: str | None
    source: str
    as_of: str


class HostCompiler(NamedTuple):
    """Newest gcc and clang that nvcc accepts, for toolkits ``first`` to ``last`` inclusive.

    A bound is a prefix: ``13`` accepts every 13.x, ``11.1`` refuses 11.2. ``torch_gcc_below``
    is torch's own, sometimes looser, check.
    """

    first: str
    last: str
    gcc: str
    clang: str
    torch_gcc_below: str | None
    note: str | None
    source: str
    as_of: str


class Distribution(NamedTuple):
    """A Linux release as images carry it.

    ``images`` are repository names whose tags start with the version or code name; ``tags`` are
    the words by which other images name this release. ``gcc`` is the default compiler's major.
    ``libc`` is ``glibc`` or ``musl``; ``verified`` says how the versions were checked.
    """

    name: str
    version: str
    codename: str | None
    libc: str
    glibc: str | None
    gcc: str | None
    images: tuple[str, ...]
    tags: tuple[str, ...]
    verified: str
    source: str
    as_of: str

    @property
    def shown(self) -> str:
        """The release as messages name it: ``Ubuntu 22.04``."""
        return f"{_SPELLED.get(self.name, self.name.capitalize())} {self.version}"


class TorchBuild(NamedTuple):
    """A torch release in one build (``cpu``, ``cu126``) for one machine.

    ``release`` is a series (``2.7``) or, where a wheel was read, an exact version (``2.7.1``).
    ``architectures`` are SMs with native code (``()`` for CPU builds), ``ptx`` those with PTX.
    ``default`` is the build that the default index serves for Linux.
    """

    release: str
    build: str
    machine: str
    default: bool
    experimental: bool
    released: str | None
    python_min: str
    python_max: str
    python_experimental: str | None
    cuda: str | None
    architectures: tuple[str, ...] | None
    ptx: tuple[str, ...] | None
    cxx_standard: int | None
    cxx11_abi: bool | None
    glibc: str | None
    cudnn: str | None
    nccl: str | None
    triton: str | None
    platform_tag: str | None
    note: str | None
    source: str
    as_of: str


class UnlistedBuild(NamedTuple):
    """A build of torch that may be there for a release although no list of its builds has it."""

    build: str
    note: str | None
    source: str
    as_of: str


class TorchPairing(NamedTuple):
    """A companion package and the torch it goes with.

    ``relation``: ``series`` (every patch of both), ``exact`` (that version only) or
    ``at_least`` (that torch and newer, a stable-ABI wheel). ``python_min`` and ``python_max`` are
    the Pythons it has wheels for, None where one wheel serves several.
    """

    package: str
    version: str
    torch: str
    relation: str
    python_min: str | None
    python_max: str | None
    note: str | None
    source: str
    as_of: str


class JaxPlugin(NamedTuple):
    """What a JAX CUDA plugin asks of the machine and of its libraries.

    The bounds of cuDNN hold from JAX ``cudnn_since`` on; older plugins take older ones.
    """

    plugin: str
    extras: tuple[str, ...]
    driver: str
    cuda: str
    cudnn_min: str
    cudnn_below: str
    cudnn_since: str
    nccl_min: str | None
    sm_min: str
    note: str | None
    source: str
    as_of: str


class JaxRelease(NamedTuple):
    """A JAX release: Pythons and glibc of its wheels, and the CUDA plugins there are for it."""

    release: str
    python_min: str
    python_max: str
    glibc: str
    plugins: tuple[str, ...]
    note: str | None
    source: str
    as_of: str


class TensorflowRelease(NamedTuple):
    """CUDA, cuDNN and Python of a TensorFlow series.

    ``pins`` says how its ``and-cuda`` extra names NVIDIA's wheels: ``exact`` or ``range``.
    """

    release: str
    cuda: str
    cudnn: str
    python_min: str
    python_max: str
    pins: str | None
    source: str
    as_of: str


class Extension(NamedTuple):
    """A native extension and what building or running it takes.

    A row holds for releases from ``since`` to ``until``, both included. ``distribution`` is
    ``wheel``, ``sdist`` or ``git``: what its index (or repository) offers. ``wheel_pattern`` names
    prebuilt wheels elsewhere. ``ram_per_job_gb`` is memory in GB that one compile job takes at its
    default of ``nvcc_threads``. ``tool_at_run`` is a compiler that must be in the run-time image.

    How it is built: ``compiles_cuda`` says that its build runs nvcc; where ``asked_by`` names
    variables (or prefixes that end in ``_``), only when one of them is set. Under a setting of
    ``skip`` it does not. ``force`` are settings (``NAME=VALUE``) without which the build is another
    one; ``force_instead`` are settings of which any does as well, and ``force_reason`` says why:
    ``gpu`` (setup.py looks for a GPU and builds for the CPU without one), ``wheel`` (it downloads
    a wheel) or ``asked`` (it builds no extension unless told to). ``architectures`` says which SMs
    a build without a list is for: ``visible`` (those of the GPUs it sees), ``default`` (a list of
    its own) or ``fixed`` (nothing changes them); ``arch_variable`` takes the list. ``needs`` are
    packages that its build imports, with ninja where it would use it; ``companions`` are packages
    that parts of it import at run time. ``modules`` must load. ``same_minor`` says that it refuses
    an nvcc whose minor is not torch's.
    """

    name: str
    distribution: str
    repository: str | None
    wheels_at: str | None
    wheel_pattern: str | None
    build_variables: tuple[str, ...]
    needs: tuple[str, ...]
    companions: tuple[str, ...] | None
    modules: tuple[str, ...] | None
    compiles_cuda: bool
    asked_by: tuple[str, ...] | None
    skip: tuple[str, ...] | None
    force: tuple[str, ...] | None
    force_instead: tuple[str, ...] | None
    force_reason: str | None
    architectures: str | None
    arch_variable: str | None
    same_minor: bool | None
    since: str | None
    until: str | None
    cuda_min: str | None
    sm_min: str | None
    glibc_min: str | None
    ram_per_job_gb: int | None
    nvcc_threads: int | None
    tool_at_run: str | None
    note: str | None
    source: str
    as_of: str


class ExtensionWheel(NamedTuple):
    """Prebuilt wheels of a native extension, for one torch series, CUDA and machine.

    ``build`` is the wheel's word for CUDA (``cu12``, ``cu118``, ``cpu``); ``fits`` says which
    builds of torch it takes: ``major`` (any CUDA of that major) or ``exact``. ``cuda`` is the
    toolkit it was compiled with. ``cxx11_abis`` are the values of ``_GLIBCXX_USE_CXX11_ABI`` there
    is a wheel for, None where it is that of the torch it was built with.
    """

    package: str
    version: str
    torch: str
    build: str
    machine: str
    fits: str
    cuda: str | None
    cxx11_abis: tuple[str, ...] | None
    python_min: str | None
    python_max: str | None
    note: str | None
    source: str
    as_of: str


class Namesake(NamedTuple):
    """A name of the default index that is another project than the one meant.

    ``what`` says what the index has. The one meant is ``distribution`` there, or is installed from
    its ``repository``.
    """

    name: str
    what: str
    meant: str
    distribution: str | None
    repository: str | None
    source: str
    as_of: str


class ImportName(NamedTuple):
    """Distributions that provide a module, the usual one first.

    There is none where the module is installed from its ``repository``."""

    module: str
    distributions: tuple[str, ...]
    repository: str | None
    note: str | None
    source: str
    as_of: str


class CudaImageRule(NamedTuple):
    """How tags of ``nvidia/cuda`` are made.

    ``kind``: ``version`` (a published X.Y.Z), ``flavour``, ``cudnn`` (the label) or ``distro``;
    the last two hold for CUDA ``first`` to ``last`` inclusive, None meaning open.
    """

    kind: str
    value: str
    first: str | None
    last: str | None
    note: str | None
    source: str
    as_of: str
