"""Start probes as the host does, and read their one line with the host's strictness."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Protocol

PROBES = Path(__file__).resolve().parents[2] / "probes"
PREFIX = "ENVSPEC-RESULT "
NONCE = "5f" * 16


class Probe(Protocol):
    """`probe("c1_entry", argv=[…])` → what was observed; ``raw`` → the envelope."""

    def __call__(self, program: str, *, raw: bool = False, **config: Any) -> dict[str, Any]: ...


def start(
    program: str, config: dict[str, Any], python: str = sys.executable, timeout: float = 120
) -> subprocess.CompletedProcess[str]:
    """Run one probe; ``config`` becomes ENVSPEC_PROBE."""
    variables = {**os.environ, "ENVSPEC_PROBE": json.dumps(config)}
    return subprocess.run(
        [python, "-I", "-S", "-B", str(PROBES / f"{program}.py")],
        env=variables,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def envelope(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The one line of a probe: nothing else may stand on its standard output."""
    assert done.stdout.isascii()
    assert done.stdout.startswith(PREFIX), done.stdout[:300] + done.stderr[-2000:]
    assert done.stdout.count("\n") == 1
    assert done.stdout.endswith("\n")
    document = json.loads(done.stdout[len(PREFIX) :])
    assert done.returncode == (70 if "error" in document else 0)
    assert set(document) == {
        "envspec_result",
        "probe",
        "nonce",
        "error" if "error" in document else "observed",
    }
    assert isinstance(document, dict)
    return document
