"""What is said of a machine: programs, engines, system, driver, disks, settings. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from envspec.build import isolate
from envspec.build.host import Host, Program
from envspec.facts.versions import older
from envspec.lock import surroundings
from envspec.model import Spec
from envspec.report.health import BROKEN, GOOD, NOTE, UNKNOWN, Finding

ROOM = 1 << 30
"""Bytes that a disk should have free, whatever is built."""

USES = {
    "docker": ("the engine `docker`", ""),
    "buildx": ("images, and digests of base images", ""),
    "BuildKit": ("images that rebuild to the same bytes", "0.13"),  # rewrite-timestamp
    "runc": ("containers that keep to themselves", "1.2.8"),  # CVE-2024-21626, CVE-2025-52565
    "nvidia-ctk": ("GPUs in containers", "1.17.8"),
    "nix": ("building the generated flake", "2.4"),  # the first with flakes
    "git": ("sources from repositories", ""),
    "bwrap": ("the strongest isolation of the engine `local`", ""),
    "cc": ("extensions with the engine `local`", ""),
    "nvcc": ("extensions for CUDA with the engine `local`", ""),
    "apptainer": ("images from the generated Apptainer definition", ""),
}
"""Program → what it is for, and the oldest release that will do, ``""`` for any."""
_BACKPORTED = {"runc", "nvidia-ctk"}


def programs(host: Host, tools: Sequence[surroundings.Tool]) -> Iterator[Finding]:
    """Programs against what is needed of them. uv is a must, and one engine."""
    section = "programs"
    for tool in tools:
        must = tool.name not in {"pyright", surroundings.NODE}  # C0 static alone
        if not tool.found:
            package = "pyright[nodejs]" if tool.name == surroundings.NODE else tool.name
            hint = f"python -m pip install '{package}{tool.needed}'"
            yield Finding(section, tool.name, BROKEN if must else NOTE, "is not installed", hint)
        elif tool.good is None:
            said = f"{tool.found} cannot be compared with {tool.needed}"
            yield Finding(section, tool.name, UNKNOWN, said)
        elif not tool.needed:
            yield Finding(section, tool.name, GOOD, tool.found)
        else:
            said = f"{tool.found}, needed: {tool.needed}"
            hint = "" if tool.good else f"python -m pip install '{tool.name}{tool.needed}'"
            yield Finding(section, tool.name, GOOD if tool.good else BROKEN, said, hint)
    for program in host.programs:
        yield _program(program)
    docker = host.docker
    if docker.version:
        yield Finding("engines", "docker", GOOD, f"{docker.version} answers")
    else:
        yield Finding("engines", "docker", NOTE, f"none answers: {docker.cause}")
    linux = host.system == "Linux"
    said = isolate.DESCRIPTIONS[host.isolation] if linux else "needs Linux"
    weak = linux and host.isolation == isolate.CHILD
    hint = "install bubblewrap, or allow user namespaces" if weak else ""
    local = (NOTE if weak else GOOD) if linux else (NOTE if docker.version else BROKEN)
    yield Finding("engines", "local", local, said, hint)


def _program(program: Program) -> Finding:
    use, needed = USES[program.name]
    if not program.found:
        return Finding("programs", program.name, NOTE, f"is not here; it is for {use}")
    if not program.version:
        state = UNKNOWN if needed else NOTE
        return Finding("programs", program.name, state, "is there, and does not tell its version")
    if needed and older(program.version, needed):
        said = f"{program.version}, needed: {needed} or newer, for {use}"
        if program.name in _BACKPORTED:
            hint = "distributions mend faults under old numbers: see what yours did"
            return Finding("programs", program.name, NOTE, said, hint)
        return Finding("programs", program.name, BROKEN, said, "install a newer one")
    said = program.version + (f", needed: {needed} or newer" if needed else "")
    return Finding("programs", program.name, GOOD, said)


def system(host: Host) -> Iterator[Finding]:
    """Kernel, C library, memory, and what the engine `local` can be built on."""
    section = "machine"
    yield Finding(section, "system", GOOD, f"{host.system} {host.kernel} on {host.machine}")
    if host.glibc:
        yield Finding(section, "glibc", GOOD, host.glibc)
    else:
        yield Finding(section, "glibc", UNKNOWN, "the C library does not tell its version")
    if host.memory:
        yield Finding(section, "memory", GOOD, said_bytes(host.memory))
    else:
        yield Finding(section, "memory", UNKNOWN, "the system does not tell")
    cgroup = f"cgroup {host.cgroup}" if host.cgroup else "no cgroup is mounted"
    yield Finding(section, "limits", GOOD if host.cgroup == "v2" else NOTE, cgroup)
    missing = {"mnt", "pid", "net", "user"} - set(host.namespaces)
    said = f"the kernel has {', '.join(host.namespaces)}" if host.namespaces else "none is known"
    state = NOTE if missing else GOOD
    yield Finding(section, "namespaces", state, said)


def graphics(host: Host, spec: Spec | None) -> Iterator[Finding]:
    """Driver and GPUs. Where the spec asks for CUDA, without them nothing is shown here."""
    section, seen = "NVIDIA", host.nvidia
    wanted = spec is not None and spec.accelerator.kind == "cuda"
    missing = UNKNOWN if wanted else NOTE
    if seen.driver:
        yield Finding(section, "driver", GOOD, seen.driver)
    else:
        said = "none was found" + ("; what needs a GPU cannot be shown here" if wanted else "")
        yield Finding(section, "driver", missing, said)
    for number, gpu in enumerate(seen.gpus):
        said = ", ".join(
            part
            for part in (gpu.name, gpu.architecture, f"{gpu.memory} MiB" if gpu.memory else "")
            if part
        )
        yield Finding(section, f"GPU {number}", GOOD, said)
    if seen.trouble and (seen.driver or wanted):
        yield Finding(section, "GPUs", UNKNOWN, seen.trouble)


def disks(folders: Iterable[tuple[str, tuple[int, int] | None]], cached: int) -> Iterator[Finding]:
    """Room in the folders that are written to, and how much the cache holds."""
    section = "disk"
    for name, room in folders:
        if room is None:
            yield Finding(section, name, UNKNOWN, "the system does not tell what is free")
            continue
        state, hint = (GOOD, "") if room[0] >= ROOM else (BROKEN, "make room, or name another disk")
        yield Finding(section, name, state, f"{said_bytes(room[0])} free", hint)
    yield Finding(section, "in the cache", GOOD, said_bytes(cached))


def network(settings: Sequence[surroundings.Setting]) -> Iterator[Finding]:
    """What is set about proxies, certificates, mirrors and pip; no value that may be secret."""
    section = "network settings"
    for setting in settings:
        hint = "" if setting.good else "name a file with certificates in PEM form"
        yield Finding(section, setting.name, GOOD if setting.good else BROKEN, setting.said, hint)
    if not settings:
        yield Finding(section, "proxies, certificates", GOOD, "nothing is set")


def said_bytes(count: int) -> str:
    """An amount of bytes in the largest unit that holds one."""
    for unit, power in (("TiB", 40), ("GiB", 30), ("MiB", 20)):
        if count >= 1 << power:
            return f"{count / (1 << power):.1f} {unit}"
    return f"{count} bytes"
