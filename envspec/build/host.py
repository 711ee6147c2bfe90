"""What this machine is: programs, kernel, C library, driver, GPUs, isolation, room on disks.

Looking is here; judging what was seen is the caller's. A question that gets no answer leaves
its field empty, and never a guess.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from envspec.build import isolate
from envspec.build.endpoint import find_endpoint, ping
from envspec.credentials import masked
from envspec.diagnostics import DiagnosticError

PROC_DRIVER = Path("/proc/driver/nvidia/version")
SMI = ("--query-gpu=name,compute_cap,memory.total,driver_version", "--format=csv,noheader,nounits")

_SECONDS = 20
_CUDA = "/usr/local/cuda/bin"
"""Where builds find nvcc, on PATH or not."""
_NUMBER = re.compile(r"(\d+(?:\.\d+)+)")
_MODULE = re.compile(r"NVIDIA UNIX.*?Kernel Module.*?\s(\d+(?:\.\d+)+)\s")


class Gpu(NamedTuple):
    """``architecture`` is ``sm_90``, ``""`` where the tool does not tell; ``memory`` in MiB."""

    name: str
    architecture: str
    memory: int


class Nvidia(NamedTuple):
    """``driver`` is ``""`` where none was found; ``trouble`` says why the tool gave no answer."""

    driver: str
    gpus: tuple[Gpu, ...]
    trouble: str


class Program(NamedTuple):
    """``found`` says that it is there; ``version`` is ``""`` where it does not answer."""

    name: str
    found: bool
    version: str


class Engine(NamedTuple):
    """``version`` is ``""`` where none answers, and ``cause`` then says why."""

    version: str
    cause: str


class Host(NamedTuple):
    """``memory`` is in bytes, 0 where it is not known; ``isolation`` one of `isolate`'s ways."""

    system: str
    machine: str
    kernel: str
    glibc: str
    memory: int
    cgroup: str
    namespaces: tuple[str, ...]
    isolation: str
    docker: Engine
    programs: tuple[Program, ...]
    nvidia: Nvidia


# The number is the first behind the word; a tool of several parts names each.
PROGRAMS: dict[str, tuple[str, tuple[str, ...]]] = {
    "docker": ("version", ("docker", "--version")),
    "buildx": ("buildx", ("docker", "buildx", "version")),
    "BuildKit": ("BuildKit", ("docker", "buildx", "inspect")),
    "runc": ("version", ("runc", "--version")),
    "nvidia-ctk": ("version", ("nvidia-ctk", "--version")),
    "nix": ("nix", ("nix", "--version")),
    "git": ("version", ("git", "--version")),
    "bwrap": ("bubblewrap", ("bwrap", "--version")),
    "cc": ("(?:cc|gcc|clang version)", ("cc", "--version")),
    "nvcc": ("release", ("nvcc", "--version")),
    "apptainer": ("version", ("apptainer", "--version")),
}


def look() -> Host:
    """Ask everything once."""
    return Host(
        system=platform.system(),
        machine=platform.machine(),
        kernel=platform.release(),
        glibc=glibc(),
        memory=_memory(),
        cgroup=_cgroup(),
        namespaces=_namespaces(),
        isolation=isolate.strongest(),
        docker=_docker(),
        programs=tuple(_program(name, *how) for name, how in PROGRAMS.items()),
        nvidia=_nvidia(),
    )


def free(folder: Path) -> tuple[int, int] | None:
    """Bytes that are free where a folder is or would be, and the device; None if unknown."""
    try:
        there = next(p for p in (folder, *folder.parents) if p.exists())
        return shutil.disk_usage(there).free, there.stat().st_dev
    except (OSError, StopIteration):
        return None


def size(folder: Path) -> int:
    """Bytes of all files below a folder; a file with several names there counts once."""
    seen: dict[tuple[int, int], int] = {}
    for where, _, names in os.walk(folder):
        for name in names:
            try:
                status = os.lstat(os.path.join(where, name))  # noqa: PTH118 - a hot loop
            except OSError:
                continue
            seen[status.st_dev, status.st_ino] = status.st_size
    return sum(seen.values())


# --- texts of the driver, pure --------------------------------------------------------------


def read_smi(text: str) -> tuple[tuple[Gpu, ...], str]:
    """GPUs and the driver, from nvidia-smi's answer to `SMI`; lines of another form are nothing."""
    gpus, driver = [], ""
    for line in text.splitlines():
        fields = [field.strip() for field in line.split(",")]
        if len(fields) != 4 or not _NUMBER.fullmatch(fields[3]):
            continue
        name, capability, memory, driver = fields
        known = re.fullmatch(r"(\d+)\.(\d+)", capability)
        architecture = f"sm_{known[1]}{known[2]}" if known else ""
        name = "".join(c if c.isprintable() else "?" for c in name)
        gpus.append(Gpu(name, architecture, int(memory) if memory.isdecimal() else 0))
    return tuple(gpus), driver


def read_version(text: str, word: str) -> str:
    """The first dotted number behind a word, on its line: what `--version` prints."""
    found = re.search(rf"\b{word}\b\D*?(\d+(?:\.\d+)+)", text, re.IGNORECASE)
    return found[1] if found else ""


def read_module(text: str) -> str:
    """The driver, from ``/proc/driver/nvidia/version``."""
    found = _MODULE.search(text)
    return found[1] if found else ""


# --- looking ----------------------------------------------------------------------------------


def _nvidia() -> Nvidia:
    try:
        module = read_module(PROC_DRIVER.read_text("utf-8", "replace"))
    except OSError:
        module = ""
    if shutil.which("nvidia-smi") is None:
        return Nvidia(module, (), "`nvidia-smi` is not installed")
    status, text = _answer(("nvidia-smi", *SMI))
    gpus, driver = read_smi(text)
    trouble = "" if status == 0 and gpus else "`nvidia-smi` names no GPU"
    if status != 0:
        trouble = "`nvidia-smi` cannot speak to the driver"
    return Nvidia(driver or module, gpus, trouble)


def _program(name: str, word: str, argv: tuple[str, ...]) -> Program:
    found = shutil.which(argv[0]) or shutil.which(argv[0], path=_CUDA)
    if found is None:
        return Program(name, False, "")
    status, text = _answer((found, *argv[1:]))
    # `docker` is there without its plugin, and the plugin without a builder.
    return Program(name, status == 0 or len(argv) == 2, read_version(text, word))


def _answer(argv: tuple[str, ...]) -> tuple[int, str]:
    try:
        done = subprocess.run(
            argv,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError):
        return -1, ""
    return done.returncode, done.stdout


def _docker() -> Engine:
    try:
        return Engine(ping(find_endpoint()), "")
    except DiagnosticError as error:
        return Engine("", masked(error.diagnostics[0].cause))


def glibc() -> str:
    """The release of the C library, `""` where it is another or not known."""
    try:
        return (os.confstr("CS_GNU_LIBC_VERSION") or "").removeprefix("glibc ")
    except (AttributeError, ValueError, OSError):
        return ""


def _memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 0


def _cgroup() -> str:
    root = Path("/sys/fs/cgroup")
    if (root / "cgroup.controllers").is_file():
        return "v2"
    return "v1" if (root / "memory").is_dir() else ""


def _namespaces() -> tuple[str, ...]:
    try:
        return tuple(sorted(p.name for p in Path("/proc/self/ns").iterdir() if "_" not in p.name))
    except OSError:
        return ()
