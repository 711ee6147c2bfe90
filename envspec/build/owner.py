"""Who owns a running container or a scratch folder, so that a sweep takes only orphans.

A process id alone is not enough: ids are used again. With the time the process started, the
boot of the machine and its pid namespace it names one process for good.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

_PROC = Path("/proc")
_UNKNOWN = "unknown"
_NOBODY = "-"


class Owner(NamedTuple):
    """A process. ``place`` is the boot and the pid namespace, in which the rest has meaning."""

    place: str
    pid: int
    started: str

    @classmethod
    def current(cls) -> Owner:
        """The process that asks."""
        pid = os.getpid()
        return cls(_place(), pid, _started(pid))

    @classmethod
    def parse(cls, text: str) -> Owner | None:
        """Read what `str` wrote; None where it is something else."""
        place, _, rest = text.partition("/")
        pid, _, started = rest.partition("/")
        return cls(place, int(pid), started) if pid.isdecimal() and started else None

    def __str__(self) -> str:
        return f"{self.place}/{self.pid}/{self.started}"

    @property
    def near(self) -> bool:
        """Whether this process can tell if the owner lives: same boot, same pid namespace."""
        return self.place == _place() != _UNKNOWN

    @property
    def alive(self) -> bool:
        """Whether the owner still runs. Meaningful only where `near`."""
        return self.started == _started(self.pid) != _NOBODY


def _place() -> str:
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
        namespace = (_PROC / "self/ns/pid").stat().st_ino
    except OSError:
        return _UNKNOWN
    return f"{boot}.{namespace}"


def _started(pid: int) -> str:
    """Clock ticks from boot to the start of a process, ``-`` where there is no such process."""
    try:
        stat = (_PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return _NOBODY
    # The second field is the program's name in brackets and may hold anything, spaces too.
    fields = stat.rpartition(")")[2].split()
    return _NOBODY if fields[0] in "ZX" else fields[19]
