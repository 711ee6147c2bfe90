"""A report of a real verification, from the command line to every form of it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from report_room import ROOT

from envspec.report import reader, schema

pytestmark = pytest.mark.xdist_group("report-of-c-step")


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of examples/c-step on this machine, with its evidence beside it."""
    path = tmp_path_factory.mktemp("real") / "report.json"
    spec = ROOT / "examples" / "c-step" / "spec.env"
    argv = [sys.executable, "-m", "envspec", "verify", str(spec), "--engine", "local", "--frozen"]
    argv += ["--quiet", "--report", str(path), "--html", str(path.with_name("page.html"))]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return path


def test_it_is_read_and_valid(real: Path) -> None:
    report = reader.read(real)
    assert report["verdict"] == "pass"
    Draft202012Validator(schema.json_schema()).validate(json.loads(real.read_text()))


def test_the_page_is_the_one_of_the_verb(real: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    assert run(tmp_path, "report", str(real), "--format", "html", "-o", str(page)) == 0
    assert real.with_name("page.html").read_bytes() == page.read_bytes()
    assert "squared distance" in page.read_text()


def test_it_is_attested_and_audited(real: Path, tmp_path: Path) -> None:
    """The whole way over the command line, and one flipped byte of a log."""
    home = tmp_path / "home"
    shutil.copytree(ROOT / "examples" / "c-step", home)
    shutil.copytree(ROOT / "generated" / "c-step", home / "generated" / "c-step")
    shutil.copy(real, home / "report.json")
    shutil.copytree(real.with_suffix(".logs"), home / "report.logs")
    assert run(home, "attest", "-o", "attestation.json") == 0
    assert run(home, "audit") == 0
    log = home / "report.logs" / "c1-smoke.json"
    log.write_text(log.read_text().replace("1884", "1885", 1))
    assert run(home, "audit") == 1


def run(home: Path, *argv: str) -> int:
    command = [sys.executable, "-m", "envspec", *argv]
    done = subprocess.run(
        command, cwd=home, capture_output=True, text=True, check=False, timeout=60
    )
    assert "Traceback" not in done.stderr
    return done.returncode
