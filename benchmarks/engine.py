"""The Docker Engine as the benchmarks use it: is there one, build, time each step, remove.

Others may use the same engine: nothing here prunes, and only tags of our own are removed.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from measure import output

from envspec.build.docker import DockerEngine
from envspec.diagnostics import DiagnosticError

_FRACTION = re.compile(r"\.(\d+)")
_RECORD = re.compile(r"^ID:\s+(\S+)$", re.MULTILINE)


class Step(NamedTuple):
    """One step of a build by BuildKit's name for it; times are seconds since the epoch."""

    name: str
    begun: float
    ended: float


def why_no_engine() -> str | None:
    """Why no engine can be used; None where one answers."""
    try:
        DockerEngine.connect()
    except DiagnosticError as error:
        found = error.diagnostics[0]
        return f"{found.title}: {found.cause}"
    return None


def base_from() -> str | None:
    """The local image that stands in for the base, where that cannot be pulled."""
    return os.environ.get("ENVSPEC_BASE_FROM") or None


def build(argv: Sequence[str]) -> tuple[float, list[Step]]:
    """Run a build whose progress is ``rawjson``; its seconds on the wall and its steps."""
    times, said = output(argv)
    return times.wall, list(_steps(said))


def remove(tag: str) -> None:
    """Forget an image of ours, if it is there."""
    subprocess.run(["docker", "image", "rm", tag], capture_output=True, check=False)


def cache() -> frozenset[str]:
    """Ids of the build cache's records."""
    asked = subprocess.run(
        ["docker", "buildx", "du", "--builder", "default", "--verbose"],
        capture_output=True,
        text=True,
        check=True,
    )
    return frozenset(_RECORD.findall(asked.stdout))


def forget(records: Iterable[str]) -> None:
    """Drop records of the build cache, each by its id: a clean build leaves gigabytes."""
    for record in records:
        argv = ["docker", "buildx", "prune", "--builder", "default", "--force"]
        subprocess.run([*argv, "--filter", f"id={record}"], capture_output=True, check=False)


def covered(steps: Iterable[Step]) -> float:
    """Seconds in which at least one of the steps ran; steps may overlap."""
    total, until = 0.0, 0.0
    for step in sorted(steps, key=lambda s: s.begun):
        total += max(0.0, step.ended - max(step.begun, until))
        until = max(until, step.ended)
    return total


def _steps(said: str) -> Iterator[Step]:
    """Steps out of JSON documents that follow one another; the last word on each counts."""
    seen: dict[str, Step] = {}
    decoder = json.JSONDecoder()
    at = said.find("{")
    while at >= 0:
        document, end = decoder.raw_decode(said, at)
        for vertex in document.get("vertexes") or ():
            if vertex.get("started") and vertex.get("completed"):
                begun, ended = _seconds(vertex["started"]), _seconds(vertex["completed"])
                seen[vertex["digest"]] = Step(vertex["name"], begun, ended)
        at = said.find("{", end)
    yield from seen.values()


def _seconds(stamp: str) -> float:
    # BuildKit writes nanoseconds, Python 3.10 reads micro- or milliseconds.
    text = _FRACTION.sub(lambda m: "." + m[1][:6].ljust(6, "0"), stamp).replace("Z", "+00:00")
    return datetime.fromisoformat(text).timestamp()
