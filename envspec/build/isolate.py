"""How far a child process of this machine can be kept apart, and the arguments that do it.

Three ways, the strongest that works is taken: ``bwrap`` (own mounts, network and processes),
``namespaces`` (own network and processes, made by the keeper), ``child`` (a child process).
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from envspec.build import supervise
from envspec.build.protocol import Limits

BWRAP = "bwrap"
NAMESPACES = "namespaces"
CHILD = "child"

SCRATCH = "/tmp"  # noqa: S108 - a folder of the sandbox, not of the machine
NOBODY = "65534"
_PROBE_SECONDS = 5.0
# What bwrap and its helpers put between the keeper and the program.
OVERHEAD = {BWRAP: 3, NAMESPACES: 2, CHILD: 0}
# Folders that hold a user's own things, or sockets of services that run outside.
_PRIVATE = ("/root", "/home", "/run", "/var/tmp", "/mnt", "/media")  # noqa: S108
_NEEDED = ("/usr", "/etc", "/opt", "/proc", "/dev", "/sys")

WEAKNESSES = {
    BWRAP: ("memory and process limits are watched ten times a second, not fenced by the kernel",),
    NAMESPACES: (
        "programs can read this user's files and write where this user can: `bwrap` was not found "
        "or does not work",
        "memory and process limits are watched ten times a second, not fenced by the kernel",
    ),
    CHILD: (
        "programs have the network of this machine, although they were to have none: neither "
        "`bwrap` nor namespaces work here",
        "programs can read this user's files and write where this user can",
        "memory and process limits are watched ten times a second, not fenced by the kernel",
    ),
}
DESCRIPTIONS = {
    BWRAP: "bwrap: own network, processes and mounts; the machine's folders read-only, "
    "home folders hidden",
    NAMESPACES: "namespaces: own network and processes; the machine's own files",
    CHILD: "child process: no isolation but limits and a deadline",
}


def strongest() -> str:
    """The strongest way that works here, found by trying (about 20 ms)."""
    if shutil.which(BWRAP) is not None:
        argv = bwrap(Limits(), (), (), "/", ["true"], network=False)
        with suppress(OSError, subprocess.SubprocessError):
            subprocess.run(argv, capture_output=True, timeout=_PROBE_SECONDS, check=True)
            return BWRAP
    command = supervise.Command(["/bin/true"], {}, "/", namespaces=True)
    done = supervise.run(command, _PROBE_SECONDS, Limits())
    return NAMESPACES if done.exit_code == 0 else CHILD


def bwrap(
    limits: Limits,
    shown: Sequence[Path],
    writable: Sequence[Path],
    cwd: str,
    argv: Sequence[str],
    *,
    network: bool,
    devices: Iterable[Path] = (),
    building: bool = False,
) -> list[str]:
    """The argument list of bwrap that runs ``argv``.

    The whole machine is there read-only, but home folders and the like are empty; ``shown`` is
    shown again in them, ``writable`` is shown and can be written. ``/tmp`` is empty, in memory.
    Run by root, ``argv`` is nobody's, unless it is ``building`` what belongs to root.
    """
    words = [shutil.which(BWRAP) or BWRAP]
    words += ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    words += [] if network else ["--unshare-net"]
    words += ["--die-with-parent", "--new-session", "--ro-bind", "/", "/"]
    words += ["--dev", "/dev", "--proc", "/proc"]
    for folder in _hidden():
        words += ["--tmpfs", folder]
    if network:
        words += ["--ro-bind-try", "/run/systemd/resolve", "/run/systemd/resolve"]
    for folder, size in ((SCRATCH, limits.scratch), ("/dev/shm", limits.shared_memory)):  # noqa: S108
        words += ["--perms", "1777", "--size", str(size), "--tmpfs", folder]
    empty = (*_hidden(), SCRATCH)
    for path in (*shown, *writable):
        # By itself bwrap makes the folders above a mount for its own user only.
        for parent in reversed(path.parents):
            if any(parent.is_relative_to(folder) and str(parent) != folder for folder in empty):
                words += ["--perms", "0755", "--dir", str(parent)]
    for option, paths in (("--ro-bind", shown), ("--dev-bind", devices)):
        for path in paths:
            words += [option, str(path), str(path)]
    written = [word for path in writable for word in ("--bind", str(path), str(path))]
    words += written
    if building and os.geteuid() == 0:
        # The prefix belongs to root, so root it stays, but without its powers.
        return [*words, "--cap-drop", "ALL", "--chdir", cwd, "--", *argv]
    return [*words, "--chdir", cwd, "--", *_lesser(limits), *argv]


def _hidden() -> list[str]:
    folders = {os.path.realpath(folder) for folder in (*_PRIVATE, Path.home())}
    return sorted(
        folder
        for folder in folders
        if Path(folder).is_dir() and not any(Path(n).is_relative_to(folder) for n in _NEEDED)
    )


def _lesser(limits: Limits) -> list[str]:
    """Words that take privileges away inside, by programs that every Debian and Ubuntu has."""
    words: list[str] = []
    if os.geteuid() == 0:
        if shutil.which("setpriv"):
            words += ["setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"]
            words += ["--no-new-privs", "--inh-caps=-all", "--bounding-set=-all", "--"]
    elif shutil.which("prlimit") and _counts_by_namespace():
        words += ["prlimit", f"--nproc={limits.processes}", "--"]
    return words


def _counts_by_namespace() -> bool:
    """Since Linux 5.14 the process limit counts within a user namespace; before, it would count
    everything that this user runs."""
    numbers = platform.release().split(".")[:2]
    return [int("".join(filter(str.isdigit, n)) or 0) for n in numbers] >= [5, 14]
