"""Reports made without an engine: a spec of the examples, and probes whose answers stand here.

Everything between the probes' answers and the report is the product's own.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from envspec.build.protocol import Built, Completed, EngineInfo, Invocation, Limits, Rebuilt
from envspec.emit.publish import write_file
from envspec.pipeline import compile as compiling
from envspec.pipeline.load import load, read_lock
from envspec.pipeline.verifier import verifier
from envspec.pipeline.verify import provenance, subject
from envspec.plan import model as plan
from envspec.report.document import document, dumps
from envspec.verify.pyramid import climb

ROOT = Path(__file__).resolve().parents[2]
Answer = Mapping[str, Any] | Completed
Answers = Mapping[str, Answer | Callable[[Mapping[str, Any]], Answer]]

TORCH = {
    "version": "2.13.0+cpu",
    "cuda": None,
    "cuda_available": False,
    "device_count": 0,
    "error": None,
}
IDENTITY = {
    "executable": "/opt/env/bin/python",
    "prefix": "/opt/env",
    "python_version": "3.11.7",
    "libc": {"name": "glibc", "version": "2.36"},
    "packages": {"numpy": "2.4.6"},
    "packages_digest": "7" * 64,
    "torch": None,
    "tree": {"smoke.py": "1" * 64},
}
STATIC = {
    "files_analyzed": 1,
    "bound": True,
    "missing": [],
    "distinct_top_level": ["numpy"],
    "missing_top_level": [],
    "diagnostic_count": 0,
    "missing_source_top_level": [],
    "syntax_errors": [],
    "skipped": [],
    "pyright_version": "1.1.400",
    "must_load": {"third_party": ["numpy"], "first_party": []},
    "imports": [],
}
STATE = {"files": {"smoke.py": "1" * 64}, "source_digest": "2" * 64, "packages_digest": "7" * 64}
ENTRY = {
    "exit_code": 0,
    "signal": None,
    "timed_out": False,
    "seconds": 0.2,
    "peak_rss_kb": 38_000,
    "exception": None,
    "stdout": "squared distance 1884.1\n",
    "stderr": "",
    "files": {},
    "output": {},
}


def loads_all(settings: Mapping[str, Any]) -> Answer:
    """C0 live where every import loads."""
    return {"results": [{"name": name, "outcome": "ok"} for name in settings["names"]]}


GOOD: Answers = {
    "identity": IDENTITY,
    "state": STATE,
    "c0_static": STATIC,
    "c0_live": loads_all,
    "c1_entry": ENTRY,
}


class Silence:
    """A reporter that says nothing."""

    def stage(self, title: str) -> None: ...

    def advance(self, done: int, total: int, unit: str = "") -> None: ...

    def line(self, text: str) -> None: ...


class Answering:
    """An engine whose probes say what they are told to."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers

    def run(self, built: Built, invocation: Invocation, limits: Limits) -> Completed:
        settings = json.loads(dict(invocation.environment)["ENVSPEC_PROBE"])
        answer = self._answers[settings["probe"]]
        if callable(answer):
            answer = answer(settings)
        if isinstance(answer, Completed):
            return answer
        result = {
            "envspec_result": 1,
            "nonce": settings["nonce"],
            "probe": settings["probe"],
            "observed": answer,
        }
        line = b"ENVSPEC-RESULT " + json.dumps(result).encode() + b"\n"
        return ended(0, line)


def ended(code: int, stdout: bytes = b"", *, timed_out: bool = False) -> Completed:
    """How a run of a probe ended."""
    status = None if timed_out else code
    return Completed(status, None, timed_out, False, stdout, b"", False, 0.25)


class Made(NamedTuple):
    """A spec in a folder of its own, the outputs, the report and its evidence beside it."""

    spec: Path
    outputs: Path
    path: Path
    report: dict[str, Any]

    @property
    def logs(self) -> Path:
        return self.path.with_suffix(".logs")


def make(
    folder: Path,
    answers: Answers = GOOD,
    *,
    example: str = "c-step",
    change: Callable[[str], str] = str,
    gpus: int = 0,
    immutable: bool = False,
    rebuilt: Rebuilt | None = None,
) -> Made:
    """Verify an example, its spec ``change``d, with probes that give ``answers``."""
    home = folder / example
    shutil.copytree(ROOT / "examples" / example, home)
    spec = home / "spec.env"
    spec.write_text(change(spec.read_text()))
    loaded = load(spec)
    found = read_lock(loaded)
    assert found is not None
    made = compiling.compiled(loaded, *found)
    compiling.write(loaded, made, folder / "generated")
    path = home / "report.json"
    logs = path.with_suffix(".logs")
    logs.mkdir()
    roots = () if immutable else ((plan.PREFIX, "/cache/env"), (plan.SOURCE, "/cache/src"))
    built = Built("ref", "sha256:" + "9" * 64, False, "", roots, 1.5, None, immutable)
    engine: Any = Answering(answers)
    origin = provenance(loaded, made, built.digest if immutable else "")
    outcome = climb(made.plan, engine, built, (), origin, gpus, folder / "pycache", logs, Silence())
    info = EngineInfo("docker" if immutable else "local", "1", "bwrap", ("no image",))
    told = (subject(loaded, made), verifier(gpus), made.plan, info, "asked for")
    report = document(*told, built, outcome, [], rebuilt)
    write_file(path, dumps(report))
    return Made(spec, folder / "generated", path, report)
