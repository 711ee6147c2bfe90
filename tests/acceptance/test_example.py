"""The main job, as a user does it: the shipped example, from the command line to the report."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from envspec.report import reader

ROOT = Path(__file__).resolve().parents[2]
SPEC = ROOT / "examples" / "x-transformers" / "spec.env"
RUNGS = ("c0_static", "c0_live", "c1", "c2_static", "c2_live", "c3", "c4")
EVIDENCE_KEYS = {
    "id",
    "argv",
    "cwd",
    "started",
    "seconds",
    "exit_code",
    "signal",
    "log",
    "log_sha256",
}


def verify(engine: str, report: Path, *extra: str) -> tuple[int, dict[str, Any], str]:
    argv = [sys.executable, "-m", "envspec", "verify", str(SPEC), "--engine", engine]
    argv += ["--frozen", "--report", str(report), "--format", "json", *extra]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=1500)
    assert done.stdout, done.stderr[-3000:]
    return done.returncode, json.loads(done.stdout), done.stderr


def check(code: int, report: dict[str, Any], path: Path) -> None:
    """What the example promises, on either engine."""
    assert code == 0, {k: (r["verdict"], r["reason"]) for k, r in report["rungs"].items()}
    assert report["schema"] == 1
    assert tuple(report["rungs"]) == RUNGS
    verdicts = {name: rung["verdict"] for name, rung in report["rungs"].items()}
    assert {verdicts[n] for n in ("c0_static", "c0_live", "c1", "c2_static")} == {"pass"}
    assert {verdicts[n] for n in ("c2_live", "c3", "c4")} == {"n/a"}
    assert report["rungs"]["c0_static"]["details"]["guarded"] == ["flash_attn"]
    scores = report["scores"]
    assert scores["confirmed"] == scores["stated"] == 7
    assert report["identity"]["torch"]["version"] == "2.13.0+cpu"
    assert report["source_changed"] == []
    logs = path.with_suffix(".logs")
    for record in report["evidence"]:
        assert record.keys() >= EVIDENCE_KEYS
        assert (logs / record["log"]).is_file()
    assert json.loads(path.read_text()) == report == reader.read(path)


@pytest.mark.xdist_group("local-example")
def test_on_this_machine_without_an_engine(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    code, report, _ = verify("local", path)
    check(code, report, path)
    assert report["engine"]["name"] == "local"
    assert any("C library" in w for w in report["engine"]["weaknesses"]), "says what is weaker"
    code, again, _ = verify("local", path)
    check(code, again, path)
    assert again["engine"]["reused"]


@pytest.mark.engine
def test_in_a_real_engine(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    code, report, _ = verify("docker", path)
    check(code, report, path)
    engine = report["engine"]
    assert (engine["name"], engine["base_substituted"]) == (
        "docker",
        os.environ.get("ENVSPEC_BASE_FROM", ""),
    )
    assert engine["digest"].startswith("sha256:")
    left = subprocess.run(
        ["docker", "ps", "-aq", "--filter", "label=org.envspec.run"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    mine = [e["id"] for e in report["evidence"]]
    assert mine[0] == "identity"
    assert left.stdout.split() == [] or os.environ.get("PYTEST_XDIST_WORKER")


@pytest.mark.xdist_group("local-example")
def test_the_table_is_for_people(tmp_path: Path) -> None:
    """Text on stdout, nothing coloured when it is not a terminal, the verdict in the last lines."""
    argv = [sys.executable, "-m", "envspec", "verify", str(SPEC), "--engine", "local", "--frozen"]
    argv += ["--report", str(tmp_path / "report.json")]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=1500)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    for words in ("x-transformers on the local engine", "C0 static", "C5 claim", "verdict: pass"):
        assert words in done.stdout
