"""Where extensions are built, what is known of them, and the compilers that are there: nvcc, and
the one that it calls.

They are built in the `devel` image (the base where there is none). An image whose name does not
tell what is in it is taken to have what is needed. Pure.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from envspec.facts import images, lookup
from envspec.facts.rows import Extension as Facts
from envspec.facts.versions import older
from envspec.model import Extension, Package, Spec
from envspec.source import Span
from envspec.stated import environment, exact

ARCH_LIST = "TORCH_CUDA_ARCH_LIST"
"""The variable that says for which GPUs torch compiles extensions."""

_SEPARATORS = re.compile(r"[;,\s]+")
_RELEASE = re.compile(r"(\d+\.\d+)(?:\.\d+)?", re.ASCII)
_TOOLKIT_PACKAGE = re.compile(
    r"(?:cuda(?:-(?:nvcc|compiler|minimal-build|toolkit))?)-(\d+)-(\d+)", re.ASCII
)
_NVCC_PACKAGE = re.compile(
    rf"{_TOOLKIT_PACKAGE.pattern}|cuda|cuda-toolkit(?:-\d+)?|cuda-compiler|nvidia-cuda-toolkit",
    re.ASCII,
)
_NVCC_WHEEL = re.compile(r"nvidia-cuda-nvcc(?:-cu\d+)?|cuda-toolkit", re.ASCII)

_DEVEL_RELEASES = ("ubuntu22.04", "ubuntu24.04", "ubuntu20.04", "ubuntu18.04")  # best first
_NAMING = ("NVCC_CCBIN", "CUDAHOSTCXX", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "CC", "CXX")
_NAMED = re.compile(
    r"(?:^|[/\s=])(?:[a-z0-9_]+-linux-gnu-)?(gcc|g\+\+|clang\+\+|clang)-(\d{1,2})\b", re.ASCII
)
_CC_PACKAGE = re.compile(r"(?:gcc|g\+\+)-(\d{1,2})", re.ASCII)
_UNCHECKED = ("-allow-unsupported-compiler", "--allow-unsupported-compiler")
# Packages that bring the distribution's default compiler under its plain name.
_DEFAULTS = frozenset({"build-essential", "gcc", "g++", "gcc-c++"})


class Nvcc(NamedTuple):
    """The release of nvcc (``12.8``), what says so, and where. ``image`` is the image that has it,
    ``""`` where it comes from elsewhere."""

    release: str
    said: str
    span: Span
    image: str


class Compiler(NamedTuple):
    """A host compiler: ``gcc`` or ``clang``, its version, what says so (the end of a sentence
    about it), and where. ``variable`` is the one that names it, ``""`` for a default."""

    kind: str
    version: str
    said: str
    span: Span
    variable: str = ""


def build_image(spec: Spec) -> tuple[str, Span]:
    """The image that extensions are built in, and where it is stated."""
    platform = spec.platform
    if platform.devel:
        return platform.devel, platform.devel_span
    return platform.base, platform.base_span


def extension_facts(item: Package | Extension) -> Facts | None:
    """What is known of a native package in the release that its statement pins. A commit may be
    any release; without a version, the newest one is meant."""
    pinned = exact(item.specifier).partition("+")[0]
    row = lookup.extension(item.name, pinned)
    from_git = isinstance(item, Extension) and item.git is not None
    return None if row and row.until and from_git and not pinned else row


def architectures_in(written: str) -> tuple[str, ...]:
    """The words of a list of architectures: ``8.0;9.0+PTX`` or ``80 90``."""
    return tuple(filter(None, _SEPARATORS.split(written)))


def is_nvcc_package(name: str) -> bool:
    """Whether a package of the distribution brings nvcc."""
    return _NVCC_PACKAGE.fullmatch(name) is not None


def has_nvcc(spec: Spec, extension: Extension) -> bool | None:
    """Whether a build finds nvcc: in its image, from the distribution, from a wheel, or where its
    variables point; None where that is not known."""
    if any(is_nvcc_package(p.name) for p in spec.system):
        return True
    if any(map(_NVCC_WHEEL.fullmatch, extension.needs)):
        return True
    if environment(spec, extension).keys() & {"CUDA_HOME", "CUDA_PATH", "CUDACXX"}:
        return None
    return images.has_nvcc(build_image(spec)[0])


def nvcc(spec: Spec) -> Nvcc | None:
    """The nvcc of the build: of the image, else of the distribution's packages, else of the stated
    toolkit; None where none of them tells, or two of them disagree."""
    name, span = build_image(spec)
    found = []
    release = _RELEASE.fullmatch(images.nvcc_release(name))
    if release:
        found.append(Nvcc(release[1], f"`{name}`", span, name))
    for package in spec.system:
        match = _TOOLKIT_PACKAGE.fullmatch(package.name)
        if match:
            found.append(Nvcc(f"{match[1]}.{match[2]}", f"`{package.name}`", package.span, ""))
    if found:
        return found[0] if len({each.release for each in found}) == 1 else None
    others = (is_nvcc_package(p.name) for p in spec.system)
    needed = (n for e in spec.extensions for n in e.needs if _NVCC_WHEEL.fullmatch(n))
    accelerator = spec.accelerator
    match = _RELEASE.fullmatch(accelerator.toolkit)
    # What the distribution or a wheel brings is of its own release.
    if not match or any(others) or any(needed):
        return None
    at = accelerator.toolkit_span if accelerator.toolkit_span.end else accelerator.span
    return Nvcc(match[1], f"`accelerator cuda {accelerator.toolkit}`", at, "")


def host_compilers(spec: Spec, extension: Extension) -> tuple[Compiler, ...]:
    """The compilers that nvcc and torch call in a build: those that `CC`, `CXX` and nvcc's own
    variables name, else the distribution's default; none where nothing tells.

    Installing ``g++-12`` beside the default changes nothing, because nvcc and torch call ``gcc``
    and ``c++``. A variable that names a compiler in a way that cannot be read is taken to name a
    good one.
    """
    own = (*spec.environment, *extension.environment)
    naming = {v.name: v for v in own if v.name in _NAMING and v.value.strip()}
    if any(flag in v.value.split() for v in naming.values() for flag in _UNCHECKED):
        return ()
    # A list of flags that names no compiler says nothing about it.
    chosen = [v for v in naming.values() if not v.name.endswith("FLAGS") or "bin" in v.value]
    if not chosen:
        return _default_compilers(spec)
    found = []
    for variable in chosen:
        match = _NAMED.search(variable.value)
        if match:
            kind = "clang" if match[1].startswith("clang") else "gcc"
            said = f"`{variable.name}` names"
            found.append(Compiler(kind, match[2], said, variable.span, variable.name))
    return tuple(found)


def _default_compilers(spec: Spec) -> tuple[Compiler, ...]:
    name, span = build_image(spec)
    row = lookup.distribution_of_image(name)
    brought = any(p.name in _DEFAULTS for p in spec.system)
    if row is not None and row.gcc and (brought or images.has_default_cc(name)):
        said = f"is the default of {row.shown}"
        return (Compiler("gcc", row.gcc, said, span),)
    stated = [(m[1], p) for p in spec.system if (m := _CC_PACKAGE.fullmatch(p.name))]
    # Without the default compiler, the one that is named so is the only one there.
    if row is None or len({number for number, _ in stated}) != 1:
        return ()
    number, package = stated[0]
    return (Compiler("gcc", number, f"`{package.name}` brings", package.span),)


def devel_for(cuda: str, glibc: str) -> str:
    """The newest `nvidia/cuda` image with the compiler of a CUDA release, on a Linux whose C
    library is no newer than the one that will load what it compiles; ``""`` for none. Where that
    is not known, or no image is as old, the best known image."""
    found = [(d, image) for d in _DEVEL_RELEASES if (image := images.newest_devel(cuda, d))]
    fits = (i for d, i in found if glibc and not older(glibc, lookup.glibc_of(i) or ""))
    return next(fits, found[0][1] if found else "")
