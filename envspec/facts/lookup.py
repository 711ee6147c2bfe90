"""Questions to the tables. What a table does not say is ``None``, never a guess.

Versions are compared as tuples of integers; a text that is not such a version compares with
nothing, so its answer is ``None`` too.
"""

from __future__ import annotations

import re
from functools import cache

from envspec.facts.rows import (
    CudaImageRule,
    Distribution,
    DriverBranch,
    DriverFloor,
    Extension,
    ExtensionWheel,
    HostCompiler,
    ImportName,
    JaxPlugin,
    JaxRelease,
    Namesake,
    TensorflowRelease,
    ToolkitDriver,
    TorchBuild,
    TorchPairing,
    UnlistedBuild,
)
from envspec.facts.tables import rows
from envspec.facts.versions import version, within
from envspec.names import normalise

_RELEASE = re.compile(r"\d+(?:\.\d+)*", re.ASCII)


# --- drivers and toolkits -----------------------------------------------------------------


def driver_floor(toolkit: str) -> DriverFloor | None:
    """Oldest driver that runs applications of a toolkit (``12.8``, ``12.8.1``): the floor of
    its major where one is known, since minors are compatible from 11 on."""
    parts = version(toolkit)
    if parts is None:
        return None
    by_cuda = {row.cuda: row for row in rows(DriverFloor)}
    minor = ".".join(map(str, parts[:2]))
    return by_cuda.get(minor) or by_cuda.get(str(parts[0]))


def toolkit_driver(toolkit: str) -> ToolkitDriver | None:
    """Driver that shipped with a toolkit; ``12.8`` means 12.8.0."""
    parts = version(toolkit)
    if parts is None or not 2 <= len(parts) <= 3:
        return None
    exact = ".".join(map(str, (*parts, 0)[:3]))
    return next((row for row in rows(ToolkitDriver) if row.toolkit == exact), None)


def required_driver(toolkit: str, *, relies_on_ptx: bool) -> str | None:
    """Oldest Linux driver for code of a toolkit. Native code needs the floor of the major; PTX
    needs the toolkit's own driver, because an older one cannot compile newer PTX."""
    row = toolkit_driver(toolkit) if relies_on_ptx else driver_floor(toolkit)
    return row.linux if row else None


def cuda_number(driver: str) -> str | None:
    """Newest CUDA that a driver supports: the number ``nvidia-smi`` prints."""
    parts = version(driver)
    if parts is None:
        return None
    return next((r.cuda for r in rows(DriverBranch) if r.branch == str(parts[0])), None)


def compiler_accepted(toolkit: str, compiler: str, found: str) -> bool | None:
    """Whether nvcc of a toolkit accepts a host compiler: ``gcc`` or ``clang``, and a version."""
    cuda, have = version(toolkit), version(found)
    if cuda is None or have is None or compiler not in {"gcc", "clang"}:
        return None
    for row in rows(HostCompiler):
        if not within(toolkit, row.first, row.last):
            continue
        bound = version(row.gcc if compiler == "gcc" else row.clang)
        if bound is None:
            return None
        if have[0] != bound[0]:
            return have < bound
        # A bare major says too little where the bound names a minor.
        return have[: len(bound)] <= bound if len(have) >= len(bound) else None
    return None


def cudnn_label(cuda: str) -> str | None:
    """Word for cuDNN in the ``nvidia/cuda`` tags of an exact CUDA version."""
    for row in rows(CudaImageRule):
        if row.kind == "cudnn" and row.first and within(cuda, row.first, row.last):
            return row.value
    return None


# --- frameworks and packages --------------------------------------------------------------


def torch_build(
    release: str, build: str | None = None, machine: str = "x86_64"
) -> TorchBuild | None:
    """The row of a torch release: the exact version where a wheel was read, else its series.

    ``build`` None means the local part of ``release`` (``2.6.0+cu124``) or, without one, the
    build that the default index serves.
    """
    public, _, local = release.partition("+")
    asked = version(public)
    if asked is None or (local and build and local != build):
        return None
    build = build or local or None
    best: TorchBuild | None = None
    for parts, row in _torch(machine):
        fits = asked[: len(parts)] == parts
        wanted = row.default if build is None else row.build == build
        if fits and wanted and (best is None or len(row.release) > len(best.release)):
            best = row
    return best


def torch_builds(release: str, machine: str = "x86_64") -> tuple[TorchBuild, ...]:
    """The row of each build of a torch release that is known, in the order of the table; ``()``
    where the release is not."""
    asked = version(release.partition("+")[0])
    best: dict[str, TorchBuild] = {}
    for parts, row in _torch(machine) if asked else ():
        if asked is None or asked[: len(parts)] != parts:
            continue
        known = best.get(row.build)
        if known is None or len(row.release) > len(known.release):
            best[row.build] = row
    return tuple(best.values())


def is_unlisted(build: str) -> bool:
    """Whether a build may be there for a torch release although `torch_builds` lacks it."""
    return any(row.build == build for row in rows(UnlistedBuild))


def torch_series(machine: str = "x86_64") -> tuple[str, ...]:
    """The torch series that are known (``2.7``), oldest first."""
    found = sorted({parts[:2] for parts, _ in _torch(machine)})
    return tuple(".".join(map(str, parts)) for parts in found)


@cache
def _torch(machine: str) -> tuple[tuple[tuple[int, ...], TorchBuild], ...]:
    """The rows of a machine, each with its release as numbers."""
    parsed = ((version(row.release), row) for row in rows(TorchBuild) if row.machine == machine)
    return tuple((parts, row) for parts, row in parsed if parts)


def architectures(
    release: str, build: str | None = None, machine: str = "x86_64"
) -> tuple[str, ...] | None:
    """SMs with native code in a torch build; ``()`` for CPU builds, None where not known."""
    row = torch_build(release, build, machine)
    return row.architectures if row else None


def pairings(torch: str, package: str | None = None) -> tuple[TorchPairing, ...]:
    """Companions that go with a torch release (``2.7.1``), all or those of one package."""
    asked = version(torch.partition("+")[0])
    if asked is None:
        return ()
    among = rows(TorchPairing) if package is None else _companions().get(package, ())
    return tuple(row for row in among if _pairs(row, asked))


def companion(package: str, release: str) -> tuple[TorchPairing, ...]:
    """Rows about one version of a companion (``torchaudio``, ``2.11.0``): with which torch it
    goes. A row of a series (``0.24``) holds for its patches; any other names one version."""
    asked = version(release)
    found = []
    for row in _companions().get(package, ()):
        parts = version(row.version)
        in_series = row.relation == "series" and asked and parts and asked[: len(parts)] == parts
        if row.version == release or in_series:
            found.append(row)
    return tuple(found)


def pairs(row: TorchPairing, torch: str) -> bool | None:
    """Whether a row takes a torch release; None where that is not dotted numbers."""
    asked = version(torch.partition("+")[0])
    return _pairs(row, asked) if asked else None


@cache
def _companions() -> dict[str, list[TorchPairing]]:
    found: dict[str, list[TorchPairing]] = {}
    for row in rows(TorchPairing):
        found.setdefault(row.package, []).append(row)
    return found


def _pairs(row: TorchPairing, asked: tuple[int, ...]) -> bool:
    parts = version(row.torch) or ()
    if row.relation == "at_least":
        return asked >= parts
    if row.relation == "series":
        return asked[: len(parts)] == parts
    return asked == parts


def jax_plugin(plugin: str) -> JaxPlugin | None:
    """Needs of ``cuda12`` or ``cuda13``."""
    return next((row for row in rows(JaxPlugin) if row.plugin == plugin), None)


def jax_plugin_of(extra: str) -> JaxPlugin | None:
    """The plugin that an extra of ``jax`` brings: ``cuda12`` or ``cuda12-local``."""
    return next((row for row in rows(JaxPlugin) if extra in row.extras), None)


def jax_release(release: str) -> JaxRelease | None:
    """The row of one JAX release (``0.6.2``); a local part does not matter."""
    public = release.partition("+")[0]
    return next((row for row in rows(JaxRelease) if row.release == public), None)


def tensorflow_release(release: str) -> TensorflowRelease | None:
    """The row of a TensorFlow version's series."""
    parts = version(release)
    if parts is None or len(parts) < 2:
        return None
    series = ".".join(map(str, parts[:2]))
    return next((row for row in rows(TensorflowRelease) if row.release == series), None)


def extension(name: str, release: str = "") -> Extension | None:
    """What is known about a native extension, by distribution name in any spelling; None where
    the row is about other releases than the one asked for. A pre-release counts as its release."""
    wanted = normalise(name)
    row = next((row for row in rows(Extension) if row.name == wanted), None)
    if row is None or not release or not (row.since or row.until):
        return row
    number = _RELEASE.match(release)
    return row if number and within(number[0], row.since or "0", row.until) else None


def extension_wheels(name: str, release: str | None = None) -> tuple[ExtensionWheel, ...]:
    """Prebuilt wheels of an extension, newest release first; ``()`` where none is known."""
    wanted = normalise(name)
    return tuple(
        row
        for row in rows(ExtensionWheel)
        if row.package == wanted and release in {None, row.version}
    )


def wheel_fits(row: ExtensionWheel, torch: TorchBuild, python: str | None = None) -> bool | None:
    """Whether prebuilt wheels of an extension go with a torch build (and a Python release).

    None where they fit as far as is known, and the table does not tell the rest: the ABI of the
    torch build, or the Pythons of the wheels.
    """
    asked, series = version(torch.release), version(row.torch)
    if asked is None or series is None or asked[: len(series)] != series:
        return False
    if row.machine != torch.machine:
        return False
    if row.fits == "major" and torch.cuda and row.build != "cpu":
        if row.build[2:4] != torch.cuda.partition(".")[0]:
            return False
    elif row.build != torch.build:
        return False
    known = True
    if row.cxx11_abis is not None:
        if torch.cxx11_abi is None:
            known = False
        elif str(int(torch.cxx11_abi)) not in row.cxx11_abis:
            return False
    if python is not None:
        if row.python_min is None or row.python_max is None:
            known = False
        elif not within(python, row.python_min, row.python_max):
            return False
    return known or None


def namesake(name: str) -> Namesake | None:
    """What a normalised name of the default index is instead of the project people mean by it."""
    return next((row for row in rows(Namesake) if row.name == name), None)


def distribution_for_import(name: str) -> ImportName | None:
    """Distributions for a module; a submodule is found through its longest known parent."""
    by_module = _imports()
    while name:
        if name in by_module:
            return by_module[name]
        name = name.rpartition(".")[0]
    return None


@cache
def known_names() -> frozenset[str]:
    """Every distribution that a table names: what a misspelt name is compared with."""
    names = {name for row in rows(ImportName) for name in row.distributions}
    return frozenset(names | {row.name for row in rows(Extension)})


@cache
def _imports() -> dict[str, ImportName]:
    return {row.module: row for row in rows(ImportName)}


# --- images -------------------------------------------------------------------------------


def distribution_of_image(image: str) -> Distribution | None:
    """The Linux release inside an image, where its name says so (``debian:12-slim``,
    ``python:3.11-slim-bookworm``, ``nvidia/cuda:12.4.1-base-ubuntu22.04``)."""
    path, _, tag = image.partition("@")[0].rpartition("/")[2].partition(":")
    words = tag.split("-")
    for row in rows(Distribution):
        if any(word in row.tags for word in words):
            return row
        if path in row.images and (path in row.tags or _is_release(words[0], row)):
            return row
    return None


def _is_release(word: str, row: Distribution) -> bool:
    return word in {row.version, row.codename} or word.startswith(f"{row.version}.")


def glibc_of(image: str) -> str | None:
    """Version of glibc of an image; None where it is not known, or where there is none (musl:
    `distribution_of_image` tells)."""
    row = distribution_of_image(image)
    return row.glibc if row else None
