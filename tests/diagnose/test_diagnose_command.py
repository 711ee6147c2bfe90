"""The command: a report with its logs, a log, a spec that is changed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from envspec.cli.diagnose import command
from envspec.diagnose.changes import Change
from envspec.diagnose.mends import Mend
from envspec.pipeline import diagnose
from envspec.pipeline.check import of_text
from envspec.source import SourceFile

DOCS = Path(__file__).parents[2] / "docs" / "diagnose.md"
SPEC = """envspec 1

project demo {
  source archive "demo-1.0.tar.gz" sha256 "%s"
}

platform linux/amd64 {
  base   "python:3.11-slim-bookworm"
  python 3.11
}

packages {
  numpy ==2.1.0
}

entry smoke {
  level   c1
  run     "python" "-m" "demo"
  timeout 5m
}
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "spec.env"
    path.write_text(SPEC % ("a" * 64))
    return path


def run(*words: object, stdin: str | bytes = "") -> Result:
    return CliRunner().invoke(command, [str(w) for w in words], input=stdin)


def rung(verdict: str = "fail", **more: Any) -> dict[str, Any]:
    found = {"verdict": verdict, "cause": None, "reason": "", "evidence": [], "details": {}}
    return {**found, **more}


def report(folder: Path, rungs: dict[str, Any], logs: dict[str, Any] | None = None) -> Path:
    """A report as `envspec verify` writes it, with its logs."""
    beside = folder / "report.logs"
    beside.mkdir(exist_ok=True)
    evidence = []
    for name, observed in (logs or {}).items():
        (beside / f"{name}.json").write_text(json.dumps({"observed": observed}))
        evidence.append({"id": name, "log": f"{name}.json"})
    path = folder / "report.json"
    path.write_text(json.dumps({"schema": 1, "rungs": rungs, "evidence": evidence}))
    return path


def told(result: Result) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(result.stdout)["diagnoses"]
    return found


def entry(**seen: Any) -> dict[str, Any]:
    return {"name": "smoke", "exit_code": 1, "signal": None, "timed_out": False, **seen}


def raised(exception: str) -> str:
    head = "Traceback (most recent call last):"
    return f'{head}\n  File "/src/a.py", line 1, in <module>\n{exception}\n'


def wrote(exception: str, **more: Any) -> dict[str, Any]:
    return {"stderr": raised(exception), **more}


WANTED = "ImportError: tokenizers>=0.14,<0.15 is required for a normal functioning of this module"
CASES = [
    ({"timed_out": True, "exit_code": None, "seconds": 300.0}, "time", "timeout 10m"),
    ({"killed": True, "exit_code": 137}, "memory", "memory 16GiB"),
    (
        wrote("RuntimeError: DataLoader worker (pid 3) is killed by signal: Bus error."),
        "shm",
        "shm 8GiB",
    ),
    (
        wrote("ImportError: libGL.so.1: cannot open shared object file: No such file"),
        "undeclared",
        "runtime libgl1",
    ),
    (
        wrote("ModuleNotFoundError: No module named 'yaml'", missing_module="yaml"),
        "undeclared",
        "pyyaml",
    ),
    (
        wrote("AttributeError: module 'numpy' has no attribute 'float'."),
        "version",
        "numpy <1.24",
    ),
    (
        wrote(f"{WANTED}, but found tokenizers==0.13.3."),
        "version",
        "tokenizers >=0.14,<0.15",
    ),
]
NO_KERNEL = "CUDA error: no kernel image is available for execution on the device"


@pytest.mark.parametrize(("seen", "category", "line"), CASES, ids=lambda v: str(v)[:20])
def test_an_entry_is_told_and_its_spec_mended(
    tmp_path: Path, spec: Path, seen: dict[str, Any], category: str, line: str
) -> None:
    path = report(
        tmp_path, {"c1": rung(details={"entries": [entry()]})}, {"c1-smoke": entry(**seen)}
    )
    (found,) = told(run(path, "--spec", spec, "--format", "json"))
    assert found["diagnosis"]["category"] == category
    assert found["entry"] == "smoke"
    certain = [m for m in found["mends"] if m["certain"]]
    assert len(certain) == 1
    assert f"+  {line}" in certain[0]["diff"]
    before = spec.read_text()
    result = run(path, "--spec", spec, "--fix")
    assert result.exit_code == 0, result.output
    assert line in spec.read_text()
    assert spec.read_text() != before
    errors = [d.code for d in of_text(SourceFile("spec.env", spec.read_text())) if d.code[0] == "E"]
    assert errors == []


def test_rungs_that_are_no_entries(tmp_path: Path) -> None:
    path = report(
        tmp_path,
        {
            "c0_static": rung(details={"missing_names": ["einops", "demo.gone"]}),
            "c0_live": rung(details={"failed": [
                {"name": "cv2", "outcome": "error", "type": "ImportError",
                 "message": "libGL.so.1: cannot open shared object file: No such file"},
                {"name": "slow", "outcome": "timeout"},
            ]}),
            "c2_static": rung(details={"checks": [
                {"name": "driver", "fits": False, "text": "driver 520 is older than 580"},
                {"name": "gpu sm_120", "fits": False, "text": "torch has no code for sm_120"},
                {"name": "glibc", "fits": True, "text": "fine"},
            ]}),
            "c3": rung(details={"stages": {"matmul": {"ok": False, "error": NO_KERNEL}}}),
            "c4": rung("error", reason="the probe gave no result (exit 1)"),
            "c1": rung("pass"),
            "c2_live": rung("blocked"),
        },
        {"c0_static": {"imports": [{"top": "demo", "origin": "first_party"}]}},
    )  # fmt: skip
    found = told(run(path, "--format", "json"))
    assert [(f["rung"], f["diagnosis"]["category"]) for f in found] == [
        ("c0_static", "undeclared"),
        ("c0_static", "repository"),
        ("c0_live", "undeclared"),
        ("c0_live", "time"),
        ("c2_static", "cuda"),
        ("c2_static", "architecture"),
        ("c3", "architecture"),
        ("c4", "harness"),
    ]


def test_a_change_is_shown_once(tmp_path: Path, spec: Path) -> None:
    gone = "ModuleNotFoundError: No module named 'yaml'"
    path = report(
        tmp_path,
        {
            "c0_static": rung(details={"missing_names": ["yaml"]}),
            "c1": rung(details={"entries": [entry()]}),
        },
        {"c1-smoke": entry(missing_module="yaml", stderr=raised(gone))},
    )
    shown = run(path, "--spec", spec).output
    assert shown.count("+  pyyaml") == 1
    assert "mend: declare `pyyaml`, as above" in shown
    assert f"  c1-smoke, stderr:3\n  | {gone}\n" in shown


def test_nothing_failed_and_nothing_known(tmp_path: Path) -> None:
    good = run(report(tmp_path, {"c1": rung("pass")}))
    assert (good.exit_code, good.output) == (0, "nothing failed\n")
    odd = run(report(tmp_path, {"c1": rung(reason="it looked odd")}))
    assert odd.exit_code == 4
    assert "uncertain" in odd.output
    none = run("--log", "-", stdin="epoch 1\nepoch 2\n")
    assert (none.exit_code, none.output) == (4, "nothing in it says that something failed\n")


def test_what_is_guessed_is_not_made(tmp_path: Path, spec: Path) -> None:
    before = spec.read_text()
    log = tmp_path / "train.log"
    log.write_text(raised("ModuleNotFoundError: No module named 'some_lab_thing'"))
    result = run("--log", log, "--spec", spec, "--fix")
    assert "some-lab-thing" in result.output
    assert "0 changes made" in result.output
    assert spec.read_text() == before


def test_control_characters_are_never_shown(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_bytes(
        b"ModuleNotFoundError: No module named 'ein\x1b]0;x\x07ops'\n"
        b"ImportError: \x1b[31mNo module named 'x\x00y'\n"
        b"RuntimeError: CUDA out of memory. \x07\x08\x9b tried to allocate 2 GiB\n"
    )
    result = run("--log", log)
    assert "out of memory" in result.output
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", result.output)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", run("--log", log, "--format", "json").output)


def test_an_edit_that_would_break_the_spec_is_not_offered(spec: Path) -> None:
    read = diagnose.read_spec(spec)
    good = diagnose.tried(Mend("x", Change("resources", "shm", "8GiB"), certain=True), read)
    assert good.mend.certain
    assert "+  shm 8GiB" in good.difference
    bad = diagnose.tried(Mend("x", Change("resources", "shm", "lots"), certain=True), read)
    assert (bad.mend.certain, bad.after, bad.difference) == (False, None, "")


BAD = {
    "text": b"hello",
    "list": b"[]",
    "other": b'{"schema": 1}',
    "schema": b'{"schema": 7, "rungs": {}}',
    "deep": b'{"schema": 1, "rungs": ' + b'{"a":' * 60 + b"1" + b"}" * 61,
    "deeper": b"[" * 200_000,
    "bytes": b"\xff\xfe\x00",
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_report_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(BAD[name])
    result = run(path)
    assert result.exit_code == 1
    assert "E0851" in result.output


def test_a_report_of_any_shape_breaks_nothing(tmp_path: Path) -> None:
    odd: list[Any] = [None, 1, "x", [], {}, [1], {"a": 1}, [[]], [None], {"entries": [{}]}]
    for value in odd:
        for key in ("details", "reason", "verdict", "evidence"):
            rungs = {"c1": {**rung(), key: value}, "c0_static": value}
            run_of = report(tmp_path, rungs, {"c1-x": value})
            result = run(run_of)
            assert result.exception is None or isinstance(result.exception, SystemExit), (
                key,
                value,
            )
        for inner in ("entries", "failed", "checks", "missing_names", "stages", "ranks"):
            result = run(report(tmp_path, {"c1": rung(details={inner: value})}))
            assert isinstance(result.exception, SystemExit | None), (inner, value)


def test_no_file_but_the_logs_is_opened(tmp_path: Path) -> None:
    path = report(tmp_path, {"c1": rung(reason="odd", details={"entries": [entry()]})})
    (tmp_path / "secret.json").write_text(
        json.dumps({"observed": entry(stderr=raised("MemoryError"))})
    )
    data = json.loads(path.read_text())
    data["evidence"] = [{"id": "c1-smoke", "log": "../secret.json"}]
    path.write_text(json.dumps(data))
    assert "out of memory" not in run(path).output


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for words in ([tmp_path / "no.json"], ["--log", tmp_path / "no.log"], [tmp_path]):
        result = run(*words)
        assert result.exit_code == 1
        assert "E0850" in result.output
    assert run("a.json", "--log", "b").exit_code == 2
    assert run("a.json", "--fix").exit_code == 2


def test_the_example_of_the_page(
    tmp_path: Path, spec: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks = re.findall(r"(?ms)^```(\w*)\n(.*?)\n```$", DOCS.read_text(encoding="utf-8"))
    log, shown = (text for language, text in blocks if not language)
    (tmp_path / "train.log").write_text(log + "\n")
    spec.write_text(spec.read_text().partition("\nentry")[0])
    monkeypatch.chdir(tmp_path)
    result = run("--log", "train.log", "--spec", "spec.env")
    assert result.output.rstrip("\n") == shown
