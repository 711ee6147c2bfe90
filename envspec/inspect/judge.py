"""Do the libraries of one set fit each other, a GPU and a C library? Pure.

A set is what would be imported together: the packages of a prefix, or some wheels. What a set
cannot tell (no torch in it, no GPU asked for) is said as unknown and never as fitting.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from envspec.facts.device_code import binary_runs_on
from envspec.facts.failures import symbol_meaning
from envspec.facts.versions import version
from envspec.inspect.library import Library, Package

SYMBOLS, LIBRARIES, DEVICE, GLIBC, MAJORS, UNREAD = (
    *("symbols", "libraries", "device code", "glibc", "CUDA majors", "unread"),
)
TORCH = "torch"
_DRIVER = frozenset({"libcuda.so.1", "libnvidia-ml.so.1", "libnvidia-ptxjitcompiler.so.1"})
_SYSTEM = re.compile(
    r"(?:lib(?:c|m|dl|rt|pthread|util|resolv|gcc_s|stdc\+\+|gomp|z|anl)|ld-linux[-\w]*)\.so(?:\.\d+)*"
)
"""What every base image of a Python has: the C and C++ libraries, OpenMP and zlib."""
_OF_CUDA_TORCH = ("libtorch_cuda", "libc10_cuda")
_OLD_STRING = re.compile(r"(?:E|RK|[a-z])Ss(?![a-z])")
_CUDA_MAJOR = re.compile(r"lib(?:cudart|cublas|cublasLt)\.so\.(\d+)(?:\.\d+)?")


class Asked(NamedTuple):
    """What the set is to fit: SMs such as ``sm_90``, a version of glibc; empty for not asked."""

    gpus: tuple[str, ...] = ()
    glibc: str = ""


class Fault(NamedTuple):
    """Something that does not fit, or with ``fits`` None could not be told. ``library`` is the
    path below site-packages, ``names`` are symbols, libraries or SMs, ``why`` is a sentence."""

    kind: str
    package: str
    library: str
    names: tuple[str, ...]
    why: str
    fits: bool | None = False


def judge(
    packages: Sequence[Package],
    asked: Asked,
    beside: frozenset[str] = frozenset(),
    *,
    whole: bool = True,
) -> list[Fault]:
    """Every fault of a set, by package.

    ``beside`` are names of libraries in the prefix that no package owns. ``whole`` says that the
    set is all that would be there: in loose wheels a library that is lacking may come with others.
    """
    found = list(_majors(packages))
    torch = next((p for p in packages if p.name == TORCH), None)
    exports = frozenset[str]().union(*(lib.exported for lib in torch.libraries)) if torch else None
    names = {n for p in packages for lib in p.libraries for n in (_name(lib.path), lib.soname)}
    for package in packages:
        found += [
            Fault(UNREAD, package.name, path, (), f"it was not read: {why}", None)
            for path, why in package.unread
        ]
        own = frozenset[str]().union(*(lib.exported for lib in package.libraries))
        for library in package.libraries:
            if package.name != TORCH:
                found += _symbols(package, library, exports, own)
            there = names | beside
            found += _needed(package, library, there, whole=whole, torch=torch is not None)
            if asked.glibc:
                found += _glibc(package, library, asked.glibc)
        if asked.gpus:
            found += _device(package, asked.gpus)
    return sorted(found, key=lambda f: (f.package, f.library, f.kind))


def _name(path: str) -> str:
    return posixpath.basename(path)


def _symbols(
    package: Package, library: Library, exports: frozenset[str] | None, own: frozenset[str]
) -> Iterator[Fault]:
    """Symbols of torch that nothing here exports: importing the library fails with the first."""
    if not library.undefined:
        return
    if exports is None:
        why = "it uses torch, and no torch is among what was read"
        yield Fault(SYMBOLS, package.name, library.path, (), why, None)
        return
    missing = tuple(n for n in library.undefined if n not in exports and n not in own)
    if missing:
        meanings = dict.fromkeys(filter(None, map(symbol_meaning, missing)))
        other = "it was built for another release of torch"
        why = _abi(missing, exports) or next(iter(meanings), other)
        yield Fault(SYMBOLS, package.name, library.path, missing, why)


def _abi(missing: Sequence[str], exports: frozenset[str]) -> str:
    """Whether the two were built with different C++ ABIs, told by the constructor of torch's error:
    each build exports it with the string of its own ABI."""
    error = "_ZN3c105ErrorC2ENS_14SourceLocationE"
    old = f"{error}Ss" in exports
    new = any(name.startswith(f"{error}NSt7__cxx11") for name in exports)
    if new and not old and any(_OLD_STRING.search(n) for n in missing):
        return "it was built with the old C++ ABI, and this torch with the new one"
    if old and not new and any("__cxx1112basic_string" in n for n in missing):
        return "it was built with the new C++ ABI, and this torch with the old one"
    return ""


def _needed(
    package: Package,
    library: Library,
    names: frozenset[str] | set[str],
    *,
    whole: bool,
    torch: bool,
) -> Iterator[Fault]:
    """Libraries that neither the set has nor every base image. The driver's come with the GPU."""
    absent = [
        n
        for n in library.needed
        if n not in names and n not in _DRIVER and not _SYSTEM.fullmatch(n)
    ]
    cuda = tuple(n for n in absent if n.startswith(_OF_CUDA_TORCH))
    if cuda and torch:
        why = "it was built for a CUDA build of torch, and this torch is a CPU build"
        yield Fault(LIBRARIES, package.name, library.path, cuda, why)
    missing = tuple(n for n in absent if n not in cuda or not torch)
    if missing:
        why = "they are in no package that was read, and a base image need not have them"
        yield Fault(LIBRARIES, package.name, library.path, missing, why, False if whole else None)


def _glibc(package: Package, library: Library, wanted: str) -> Iterator[Fault]:
    has = version(wanted) or ()
    newer = {v for _, v in library.versions if v.startswith("GLIBC_") and _number(v) > has}
    if newer:
        newest = max(newer, key=_number)
        why = f"it needs glibc {newest.removeprefix('GLIBC_')}, and {wanted} is asked for"
        yield Fault(GLIBC, package.name, library.path, (newest,), why)


def _number(symbol: str) -> tuple[int, ...]:
    return version(symbol.partition("_")[2]) or ()


def _device(package: Package, gpus: Sequence[str]) -> Iterator[Fault]:
    """Per library: a package's libraries hold different kernels, and each has to have its own."""
    for library in package.libraries:
        if not library.sass and not library.ptx:
            continue
        runs = {gpu: binary_runs_on(library.sass, library.ptx, gpu) for gpu in gpus}
        for fits in (False, None):
            lacking = tuple(gpu for gpu, answer in runs.items() if answer is fits)
            if lacking:
                has = " ".join((*library.sass, *(f"{p}(PTX)" for p in library.ptx)))
                yield Fault(DEVICE, package.name, library.path, lacking, f"it has {has}", fits)


def _majors(packages: Sequence[Package]) -> Iterator[Fault]:
    """Two CUDA majors that are needed by libraries of different packages, both of them here."""
    users: dict[str, str] = {}
    for package in packages:
        if package.name.startswith("nvidia-"):
            continue
        majors = {
            match[1]
            for library in package.libraries
            for name in library.needed
            if (match := _CUDA_MAJOR.fullmatch(name))
        }
        if len(majors) == 1:  # a package with several has one library for each, and loads one
            users.setdefault(majors.pop(), package.name)
    if len(users) > 1:
        said = ", ".join(f"CUDA {major} ({name})" for major, name in sorted(users.items()))
        why = f"packages of one environment need different CUDA majors: {said}"
        yield Fault(MAJORS, "", "", tuple(sorted(users)), why)
