"""The attestation: an in-toto statement that is the same bytes for the same report, and that a
signature can be put on."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator
from report_room import ROOT, Made

from envspec.cli.verbs import cli
from envspec.report.attestation import canonical, loads

# in-toto attestation: Statement v1, test-result v0.1 and ResourceDescriptor v1, as published.
DESCRIPTOR = {
    "type": "object",
    "anyOf": [{"required": ["uri"]}, {"required": ["digest"]}, {"required": ["content"]}],
    "properties": {
        "name": {"type": "string"},
        "digest": {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": {"type": "string", "pattern": "^[0-9a-f]+$"},
        },
        "annotations": {"type": "object"},
    },
    "additionalProperties": False,
}
NAMES = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
STATEMENT = {
    "type": "object",
    "required": ["_type", "subject", "predicateType", "predicate"],
    "properties": {
        "_type": {"const": "https://in-toto.io/Statement/v1"},
        "subject": {
            "type": "array",
            "minItems": 1,
            "items": {**DESCRIPTOR, "required": ["digest"]},
        },
        "predicateType": {"const": "https://in-toto.io/attestation/test-result/v0.1"},
        "predicate": {
            "type": "object",
            "required": ["result", "configuration"],
            "properties": {
                "result": {"enum": ["PASSED", "WARNED", "FAILED"]},
                "configuration": {"type": "array", "items": DESCRIPTOR},
                "passedTests": NAMES,
                "warnedTests": NAMES,
                "failedTests": NAMES,
            },
            "additionalProperties": False,
        },
    },
    "additionalProperties": False,
}


def attested(made: Made) -> str:
    done = CliRunner().invoke(cli, ["attest", str(made.path)])
    assert done.exit_code == 0, done.output
    return done.output


def test_it_is_a_statement(reports: dict[str, Made]) -> None:
    for made in reports.values():
        Draft202012Validator(STATEMENT).validate(json.loads(attested(made)))


def test_the_same_report_gives_the_same_canonical_bytes(good: Made, tmp_path: Path) -> None:
    first, target = attested(good), tmp_path / "attestation.json"
    assert CliRunner().invoke(cli, ["attest", str(good.path), "-o", str(target)]).exit_code == 0
    assert target.read_bytes() == first.encode()
    assert first == canonical(json.loads(first))
    assert "\n" not in first[:-1]
    assert loads(first, "attestation.json") == json.loads(first)


def test_the_subject_is_what_was_tested_and_the_report(good: Made) -> None:
    built, report = json.loads(attested(good))["subject"]
    assert built["digest"]["sha256"] == good.report["engine"]["digest"].removeprefix("sha256:")
    assert report["name"] == "report.json"
    assert report["digest"]["sha256"] == hashlib.sha256(good.path.read_bytes()).hexdigest()


def test_the_configuration_is_what_the_result_depends_on(good: Made) -> None:
    found = {d["name"]: d for d in json.loads(attested(good))["predicate"]["configuration"]}
    assert list(found) == ["spec.env", "spec.lock", "plan.json", "facts", "probes", "build", "host"]
    for path in (good.spec, good.spec.with_name("spec.lock"), good.outputs / "plan.json"):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        assert found[path.name]["digest"]["sha256"] == digest
    assert found["build"]["annotations"]["slsa_build_level"] == "SLSA_BUILD_LEVEL_1"
    assert "LEVEL_2" not in attested(good)
    assert found["host"]["annotations"]["machine"] == good.report["verifier"]["machine"]


def test_what_was_not_checked_is_no_passed_test(reports: dict[str, Made]) -> None:
    words = {"pass": "PASSED", "blocked": "WARNED", "fail": "FAILED"}
    for made in reports.values():
        predicate = json.loads(attested(made))["predicate"]
        assert predicate["result"] == words[made.report["verdict"]]
        rungs = made.report["rungs"]
        wanted: dict[str, list[str]] = {"passedTests": ["pass"], "warnedTests": ["blocked"]}
        wanted["failedTests"] = ["fail", "error"]
        for field, verdicts in wanted.items():
            found = [name for name in predicate[field] if name in rungs]
            assert found == [name for name, r in rungs.items() if r["verdict"] in verdicts]


def test_a_report_that_is_refused_is_not_attested(good: Made, tmp_path: Path) -> None:
    wrong = tmp_path / "report.json"
    wrong.write_text(good.path.read_text().replace('"verdict": "pass"', '"verdict": "fail"', 1))
    done = CliRunner().invoke(cli, ["attest", str(wrong), "-o", str(tmp_path / "a.json")])
    assert done.exit_code == 1
    assert not (tmp_path / "a.json").exists()


@pytest.fixture
def signer() -> None:
    if shutil.which("ssh-keygen") is None:
        if os.environ.get("CI"):
            pytest.fail("CI has ssh-keygen", pytrace=False)
        pytest.skip("ssh-keygen is not installed")


@pytest.mark.usefixtures("signer")
def test_the_example_of_the_docs_signs_it(good: Made, tmp_path: Path) -> None:
    """docs/reports.md, line by line; and a changed attestation is refused."""
    text = (ROOT / "docs" / "reports.md").read_text()
    (block,) = re.findall(r"```sh\n(ssh-keygen .*?)```", text, re.DOTALL)
    (tmp_path / "attestation.json").write_text(attested(good))
    environment = {**os.environ, "HOME": str(tmp_path)}

    def shell(lines: str) -> Any:
        return subprocess.run(
            ["bash", "-euc", lines], cwd=tmp_path, capture_output=True, text=True, check=False,
            env=environment, timeout=60,
        )  # fmt: skip

    done = shell(block)
    assert done.returncode == 0, done.stderr
    assert "Good" in done.stdout
    verify = next(line for line in block.splitlines() if "-Y verify" in line)
    (tmp_path / "attestation.json").write_text(attested(good).replace("PASSED", "FAILED"))
    assert shell(verify).returncode != 0


def test_every_command_of_the_page_runs(good: Made, tmp_path: Path) -> None:
    """docs/reports.md, in a folder as it says to commit it."""
    home = tmp_path / "home"
    shutil.copytree(good.spec.parent, home)
    shutil.copytree(good.outputs, home / "generated" / "c-step")
    text = (ROOT / "docs" / "reports.md").read_text()
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    commands = [line for b in blocks for line in b.splitlines() if line.startswith("envspec ")]
    assert {c.split()[1] for c in commands} == {"report", "attest", "audit"}
    for line in commands:
        argv = [sys.executable, "-m", "envspec", *shlex.split(line)[1:]]
        done = subprocess.run(argv, cwd=home, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (line, done.stdout, done.stderr)
    (shown,) = re.findall(r"```\n(lock .*?)```", text, re.DOTALL)
    assert done.stdout == shown
