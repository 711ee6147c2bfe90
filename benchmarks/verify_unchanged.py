"""`envspec verify` where everything is built already, without the time of the probes themselves.

There is no peer: the targets are seconds.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from engine import why_no_engine
from inputs import EXAMPLE
from measure import AT_MOST, Figure, Skipped, Times, child, median, script

NAME = "verify_unchanged"
ROUNDS = 3
TARGETS = {"docker": 2.0, "local": 1.0}


def figures(rounds: int | None) -> Iterator[Figure | Skipped]:
    """One figure for each engine."""
    for engine, target in TARGETS.items():
        name = f"verify, nothing changed, {engine}"
        why = why_no_engine() if engine == "docker" else None
        if why:
            yield Skipped(name, why)
            continue
        with tempfile.TemporaryDirectory(prefix="envspec-bench.") as folder:
            yield _measured(name, engine, target, Path(folder), rounds or ROUNDS)


def _measured(name: str, engine: str, target: float, folder: Path, rounds: int) -> Figure:
    for file in ("spec.env", "spec.lock", "smoke.py"):
        shutil.copy(EXAMPLE / file, folder)
    _verify(engine, folder)  # builds what is not there yet
    runs = [_verify(engine, folder) for _ in range(rounds)]
    own = median([own for own, _ in runs])
    probes = median([Times(seconds, 0) for _, seconds in runs]).wall
    return Figure(
        name, own.wall, None, "s", AT_MOST, target, f"without {probes:.1f} s of the probes' own"
    )


def _verify(engine: str, folder: Path) -> tuple[Times, float]:
    """Times without the probes, and the probes' seconds."""
    report = folder / "report.json"
    argv: list[str | Path] = [
        script("envspec"),
        "verify",
        "--frozen",
        "--quiet",
        "--engine",
        engine,
    ]
    times = child([*argv, "--report", report, folder / "spec.env"], cwd=folder)
    said = json.loads(report.read_text(encoding="utf-8"))
    probes = sum(evidence["seconds"] for evidence in said["evidence"])
    return Times(times.wall - probes, times.cpu), probes
