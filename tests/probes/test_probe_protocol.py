"""The contract every probe keeps: one line, a nonce, exit 0 or 70, Python 3.8 to 3.13."""

from __future__ import annotations

import ast
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from interpreters import interpreters
from probe_host import NONCE, PROBES, Probe, envelope, start

PROGRAMS = sorted(p.stem for p in PROBES.glob("*.py") if not p.name.startswith("_"))
VERSIONS = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13")


def configured(program: str, python: str, folder: Path) -> dict[str, Any]:
    """A configuration under which every program has something real to do."""
    (folder / "tiny.py").write_text("import json\n")
    return {
        "schema": 1,
        "probe": program,
        "nonce": NONCE,
        "python": python,
        "seconds": 60,
        "seconds_each": 30,
        "gpus": False,
        "argv": [python, "-c", "import nowhere"],
        "cwd": str(folder),
        "names": ["json", "nowhere", "tiny"],
        "device": "cpu",
        "backend": "gloo",
        "processes": 2,
        "source": str(folder),
        "prefix": sys.prefix,
        "pyright": {"node": "/nonexistent/node", "script": "/nonexistent/index.js"},
        "scratch": str(folder),
    }


@pytest.mark.parametrize("version", VERSIONS)
def test_every_probe_runs_on_every_python(version: str, tmp_path: Path) -> None:
    """Old images have old interpreters: all programs compile and answer on each."""
    python = next(interpreters(version), None)
    if python is None:
        pytest.skip(f"no python{version} on PATH")
    for file in PROBES.glob("*.py"):
        code = f"compile(open({str(file)!r}, encoding='utf-8').read(), 'probe', 'exec')"
        subprocess.run([python, "-W", "error", "-c", code], check=True, timeout=60)
    answers = {}
    for program in PROGRAMS:
        answers[program] = envelope(start(program, configured(program, python, tmp_path), python))
    assert answers["identity"]["observed"]["python_version"].startswith(version + ".")
    outcomes = {r["name"]: r["outcome"] for r in answers["c0_live"]["observed"]["results"]}
    assert outcomes == {"json": "ok", "nowhere": "missing", "tiny": "ok"}
    assert answers["c1_entry"]["observed"]["missing_module"] == "nowhere"
    assert answers["state"]["observed"]["count"] >= 1
    assert answers["c0_static"]["error"]["type"] == "PyrightFailed"
    assert "nonexistent" in answers["c0_static"]["error"]["message"]
    assert answers["c3_kernel"]["observed"]["stages"]["import"]["ok"] is False
    assert answers["c4_collective"]["observed"]["ok"] is False


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"schema": 2}, "BadConfig"),
        ({"nonce": None}, "BadConfig"),
        ({"probe": "other"}, "BadConfig"),
        ({"seconds": "long", "names": 3, "argv": "x", "prefix": 3}, "BadConfig"),
        ({"environment": ["A=1"]}, "BadConfig"),
    ],
)
def test_a_bad_configuration_is_an_error_and_exit_70(
    program: str, change: dict[str, Any], kind: str, tmp_path: Path
) -> None:
    config = {**configured(program, sys.executable, tmp_path), **change}
    document = envelope(start(program, config))
    assert document["error"]["type"] == kind


@pytest.mark.parametrize("text", [None, "", "{", "[]", "7"])
def test_a_configuration_that_is_none_is_an_error(text: str | None) -> None:
    variables = {k: v for k, v in os.environ.items() if k != "ENVSPEC_PROBE"}
    if text is not None:
        variables["ENVSPEC_PROBE"] = text
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-B", str(PROBES / "c1_entry.py")],
        env=variables,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    document = envelope(done)
    assert document["error"]["type"] == "BadConfig"
    assert document["nonce"] == ""


def test_a_probe_that_breaks_says_where(probe: Probe, tmp_path: Path) -> None:
    document = probe(
        "c1_entry", raw=True, argv=[sys.executable], cwd=str(tmp_path), output_limit="many"
    )
    assert document["error"]["type"] == "ValueError"
    assert "(c1_entry.py:" in document["error"]["message"]


def test_an_interrupted_probe_leaves_nothing_and_still_answers(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    code = f"import os, time; open({str(mark)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    config = configured("c1_entry", sys.executable, tmp_path)
    config["argv"] = [sys.executable, "-c", code]
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-B", str(PROBES / "c1_entry.py")],
        env={**os.environ, "ENVSPEC_PROBE": json.dumps(config)},
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        while not (mark.exists() and mark.read_text()):
            time.sleep(0.02)
        running.send_signal(signal.SIGTERM)
        out, _ = running.communicate(timeout=60)
    assert running.returncode == 70
    assert '"type":"Interrupted"' in out
    assert not Path(f"/proc/{mark.read_text()}").exists()


def test_the_probes_import_the_standard_library_only() -> None:
    """They run where nothing is installed; never envspec, never a package."""
    local = {p.stem for p in PROBES.glob("*.py")}
    for file in PROBES.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names.append(node.module or "")
            for name in names:
                assert name.split(".")[0] in sys.stdlib_module_names | local, file.name
