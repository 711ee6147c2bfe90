"""Timing of processes and calls, fair to both sides: interleaved, warmed up, medians."""

from __future__ import annotations

import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

AT_MOST, AT_LEAST = "≤", "≥"


class Figure(NamedTuple):
    """One line of the table. ``ours`` and ``peer`` are in ``unit``; a ``peer`` of None means that
    the target is about ours alone. ``target`` bounds the ratio, or ours where there is no peer."""

    name: str
    ours: float
    peer: float | None
    unit: str
    bound: str
    target: float | None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """Ours as a multiple of the peer's."""
        return None if self.peer is None else self.ours / self.peer

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None for a figure that has none."""
        if self.target is None:
            return None
        value = self.ours if self.ratio is None else self.ratio
        return value <= self.target if self.bound == AT_MOST else value >= self.target


class Skipped(NamedTuple):
    """A figure that could not be measured here, and why."""

    name: str
    why: str


class Times(NamedTuple):
    """Seconds of one run: on the wall, and of processor time, children included."""

    wall: float
    cpu: float


def interleaved(actions: Mapping[str, Callable[[], Times]], rounds: int) -> dict[str, Times]:
    """Medians of ``rounds`` runs of each action, taken in turn (A B A B …).

    Whatever slows the machine down for a while slows all of them down.
    """
    seen: dict[str, list[Times]] = {name: [] for name in actions}
    for _ in range(rounds):
        for name, action in actions.items():
            seen[name].append(action())
    return {name: median(runs) for name, runs in seen.items()}


def median(runs: Sequence[Times]) -> Times:
    """The median of each number by itself."""
    return Times(*(statistics.median(numbers) for numbers in zip(*runs, strict=True)))


def child(argv: Sequence[str | Path], *, cwd: Path | None = None) -> Times:
    """Run a program to its end. Processor time counts the programs that it waited for.

    Raises:
        RuntimeError: it failed; with the end of what it printed.
    """
    return output(argv, cwd=cwd)[0]


def output(argv: Sequence[str | Path], *, cwd: Path | None = None) -> tuple[Times, str]:
    """`child`, with what the program printed on both streams."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    done = subprocess.run(
        [str(word) for word in argv],
        cwd=cwd,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    wall = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError(f"{argv[0]} ended with {done.returncode}:\n{done.stdout[-2000:]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Times(wall, cpu), done.stdout


def environment() -> dict[str, str]:
    """The variables that measured programs see: nothing that changes how Python imports.

    With `PYTHONDONTWRITEBYTECODE` set, for one, every run would compile its modules anew.
    """
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def script(name: str) -> Path:
    """A program of the virtual environment that this interpreter belongs to, so that every
    Python program that is compared runs on one interpreter.

    Raises:
        RuntimeError: it is not there.
    """
    path = Path(sys.executable).with_name(name)
    if not path.is_file():
        raise RuntimeError(f"{path} is not there; `make bench` installs it")
    return path


def machine() -> str:
    """What the numbers were taken on, and how busy it was."""
    busy = ", ".join(f"{load:.2f}" for load in os.getloadavg())
    python = f"Python {platform.python_version()}"
    return f"{os.cpu_count()} cores, load {busy} (1, 5, 15 minutes), {python}, {platform.machine()}"
