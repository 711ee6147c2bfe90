"""The solver on every combination of facts: drivers × GPU generations × Pythons × additions.

Every driver that the tables name, as the floor of a CUDA release, with a toolkit or as a branch. A
combination that nothing meets is measured up to its conflict and the changes that would do.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from itertools import product

from measure import AT_MOST, Figure, Skipped

from envspec.facts.rows import DriverBranch, DriverFloor, ToolkitDriver
from envspec.facts.tables import rows
from envspec.facts.versions import version
from envspec.language.parse import parse
from envspec.language.resolve import resolve
from envspec.model import Spec
from envspec.solve import solve
from envspec.solve.values import Conflict
from envspec.source import SourceFile

NAME = "solver"
ROUNDS = 1
TARGET = 200.0
GENERATIONS = ("sm_60", "sm_70", "sm_75", "sm_80", "sm_90", "sm_120")
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
ADDITIONS = {
    "none": ("", ""),
    "flash-attn": ("", "extension flash-attn {\n  needs torch setuptools\n}\n"),
    "xformers": ("  xformers\n", ""),
    "mmcv": ("", "extension mmcv {\n  needs torch setuptools\n}\n"),
}


def figures(rounds: int | None) -> Iterator[Figure | Skipped]:
    """The slowest and the 95th of 100, of all answers, and the first of a process."""
    specs = [_spec(*addition) for addition in ADDITIONS.values()]
    begun = time.perf_counter()
    solve(*specs[0])
    first = 1000 * (time.perf_counter() - begun)
    slowest: list[float] = []
    conflicts = 0
    grid = list(product(drivers(), GENERATIONS, PYTHONS, specs))
    for number in range(rounds or ROUNDS):
        for place, (driver, gpu, python, (spec, source)) in enumerate(grid):
            asked = _asked(spec, driver, gpu, python)
            begun = time.perf_counter()
            found = solve(asked, source)
            took = 1000 * (time.perf_counter() - begun)
            conflicts += number == 0 and isinstance(found, Conflict)
            # Of several rounds the quickest counts: what else the machine did is no part of it.
            if number == 0:
                slowest.append(took)
            else:
                slowest[place] = min(slowest[place], took)
    note = f"{len(grid)} combinations, {conflicts} of them conflicts; median {_median(slowest)} ms"
    p95 = statistics.quantiles(slowest, n=20)[-1]
    yield Figure("solve: the slowest combination", max(slowest), None, "ms", AT_MOST, TARGET, note)
    yield Figure("solve: 95 of 100 combinations", p95, None, "ms", AT_MOST, TARGET)
    yield Figure("solve: the first in a process, tables read", first, None, "ms", AT_MOST, TARGET)


def drivers() -> list[str]:
    """Every driver of the tables, oldest first."""
    named = {r.linux for r in (*rows(DriverFloor), *rows(ToolkitDriver))}
    return sorted(named | {r.branch for r in rows(DriverBranch)}, key=lambda d: version(d) or ())


def _median(times: list[float]) -> str:
    return f"{statistics.median(times):.1f}"


def _asked(spec: Spec, driver: str, gpu: str, python: str) -> Spec:
    accelerator = spec.accelerator._replace(driver=driver, gpus=(gpu,))
    platform = spec.platform._replace(python=python)
    return spec._replace(accelerator=accelerator, platform=platform)


def _spec(packages: str, extensions: str) -> tuple[Spec, SourceFile]:
    text = f"""envspec 1
project bench {{
  source path "."
}}
platform linux/amd64 {{
  base   "python:3.11-slim-bookworm"
  python 3.11
}}
accelerator cuda {{
  driver >=525.60.13
  gpus   sm_80
}}
packages {{
  torch
  torchvision
{packages}}}
{extensions}"""
    source = SourceFile("spec.env", text)
    return resolve(parse(source), source), source
