"""A committed set is checked part by part; one flipped field anywhere is detected."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from report_room import Made
from test_report_reader import get, kinds, leaves, put

from envspec.cli.verbs import cli
from envspec.pipeline.audit import Check, Places, audit
from envspec.report import reader
from envspec.report.attestation import canonical, statement
from envspec.report.document import dumps


def places(made: Made, folder: Path) -> Places:
    """A copy of a whole set, attested."""
    home = folder / "home"
    shutil.copytree(made.spec.parent, home)
    shutil.copytree(made.outputs, folder / "outputs")
    report = home / "report.json"
    text = report.read_text()
    (home / "attestation.json").write_text(canonical(statement(reader.loads(text), text)))
    return Places(home / "spec.env", folder / "outputs", report, home / "attestation.json")


@pytest.fixture
def good_set(good: Made, tmp_path: Path) -> Places:
    return places(good, tmp_path)


def verdicts(checks: list[Check]) -> dict[str, str]:
    return {check.name: check.verdict for check in checks}


def codes(checks: list[Check]) -> set[str]:
    return {finding.code for check in checks for finding in check.findings}


ALL = ("lock", "outputs", "report", "evidence", "attestation")


def test_a_sound_set_of_every_kind(reports: dict[str, Made], tmp_path: Path) -> None:
    """Judged again from the evidence alone, on each kind of report, failed ones too."""
    for name, made in reports.items():
        found = audit(places(made, tmp_path / name))
        assert verdicts(found) == dict.fromkeys(ALL, "pass"), (name, found)


def test_the_verb(good_set: Places) -> None:
    argv = ["audit", str(good_set.spec.parent), "--outputs", str(good_set.outputs)]
    done = CliRunner().invoke(cli, argv)
    assert (done.exit_code, done.output.count("pass")) == (0, 5), done.output
    shown = CliRunner().invoke(cli, [*argv, "--format", "json"])
    assert json.loads(shown.output)["verdict"] == "pass"
    good_set.spec.write_text(good_set.spec.read_text() + "# one more line\n")
    done = CliRunner().invoke(cli, argv)
    assert done.exit_code == 1
    assert "E0881" in done.output
    assert "E0602" in done.output


@pytest.mark.parametrize("part", ["attestation", "outputs", "evidence"])
def test_what_is_missing_is_no_pass(good_set: Places, part: str) -> None:
    if part == "evidence":
        shutil.rmtree(good_set.report.with_suffix(".logs"))
        found = audit(good_set)
    else:
        found = audit(good_set._replace(**{part: None}))
    assert verdicts(found) == {**dict.fromkeys(ALL, "pass"), part: "blocked"}
    assert codes(found) == set()


def test_without_an_attestation_the_verb_ends_with_4(good_set: Places) -> None:
    assert good_set.attestation
    good_set.attestation.unlink()
    argv = ["audit", str(good_set.spec), "--outputs", str(good_set.outputs)]
    assert CliRunner().invoke(cli, argv).exit_code == 4


def test_a_lock_of_another_spec(good_set: Places) -> None:
    good_set.spec.write_text(good_set.spec.read_text().replace("numpy >=1.26", "numpy >=1.27"))
    found = audit(good_set)
    assert codes(found) == {"E0402"}
    assert verdicts(found)["evidence"] == "blocked"


def test_an_output_that_was_edited(good_set: Places) -> None:
    assert good_set.outputs
    path = good_set.outputs / "Dockerfile"
    path.write_text(path.read_text() + "RUN true\n")
    assert codes(audit(good_set)) == {"E0602"}


def test_a_log_that_was_edited(good_set: Places) -> None:
    for log in sorted(good_set.report.with_suffix(".logs").glob("*.json")):
        before = log.read_text()
        log.write_text(before.replace('"error": ""', '"error": "x"', 1))
        assert codes(audit(good_set)) == {"E0882"}, log
        log.write_text(before)
    assert codes(audit(good_set)) == set()


def rewritten(good_set: Places, report: dict[str, Any]) -> list[Check]:
    """The audit of a set whose report is another one, newly attested by who changed it."""
    text = dumps(report)
    good_set.report.write_text(text)
    assert good_set.attestation
    good_set.attestation.write_text(canonical(statement(report, text)))
    return audit(good_set)


def test_a_forged_pass_that_holds_together_is_found_by_its_evidence(
    reports: dict[str, Made], tmp_path: Path
) -> None:
    """C1 failed; rung, claim, scores and verdict are rewritten so that the reader takes them, and
    it is attested anew. The evidence still tells."""
    liar = places(reports["liar"], tmp_path)
    forged = json.loads(liar.report.read_text())
    good = reports["good"].report
    for field in ("rungs", "claims", "scores", "verdict"):
        forged[field] = good[field]
    reader.loads(dumps(forged))
    assert codes(rewritten(liar, forged)) == {"E0883"}


def test_evidence_of_another_run(reports: dict[str, Made], tmp_path: Path) -> None:
    """The whole report and the logs of a verification of another spec."""
    mine = places(reports["good"], tmp_path / "mine")
    other = places(reports["torch"], tmp_path / "other")
    found = audit(mine._replace(report=other.report, attestation=other.attestation))
    assert codes(found) >= {"E0881"}
    assert verdicts(found)["report"] == "fail"


def flips(value: Any) -> Iterator[Any]:
    """Another value of the same type."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        yield value + 1
    elif isinstance(value, str):
        digest = len(value) >= 64 and value[-1] in "0123456789abcdef"
        flipped = ("1" if value[-1] == "0" else "0") if digest else "x"
        yield (value[:-1] + flipped) if digest else value + flipped
    elif value is None:
        yield "x"
    elif isinstance(value, list):
        yield ["x"]
    else:
        yield {"x": 1}


def test_one_flipped_field_of_the_report_is_detected(good_set: Places) -> None:
    """Every leaf, 100 %: the attestation holds the digest of the whole report."""
    report = json.loads(good_set.report.read_text())
    places_ = list(leaves(report))
    for at in places_:
        for value in flips(get(report, at)):
            good_set.report.write_text(dumps(put(report, at, value)))
            assert "fail" in verdicts(audit(good_set)).values(), at
    assert len(places_) > 250


UNTOLD = {
    # Fields that only the attestation pins: nothing else in a committed set repeats them.
    *("$.envspec", "$.engine.name", "$.engine.version", "$.engine.chosen", "$.engine.isolation"),
    *("$.engine.weaknesses[]", "$.engine.base_substituted", "$.engine.reference"),
    *("$.engine.digest", "$.engine.reused", "$.engine.build_seconds"),
    *("$.verifier.facts_sha256", "$.verifier.probes_sha256", "$.verifier.system"),
    *("$.verifier.machine", "$.verifier.kernel", "$.verifier.glibc", "$.verifier.gpus"),
    *("$.evidence[].argv[]", "$.evidence[].cwd", "$.evidence[].environment[]"),
    *("$.evidence[].environment", "$.evidence[].started", "$.evidence[].seconds"),
    "$.findings",
}


def named(at: tuple[Any, ...]) -> str:
    return "$" + "".join("[]" if isinstance(key, int) else f".{key}" for key in at)


def test_what_is_detected_without_an_attestation(good_set: Places) -> None:
    """All but what docs/reports.md lists."""
    report = json.loads(good_set.report.read_text())
    alone = good_set._replace(attestation=None)
    missed = set()
    for at in kinds(report):
        for value in flips(get(report, at)):
            good_set.report.write_text(dumps(put(report, at, value)))
            if "fail" not in verdicts(audit(alone)).values():
                missed.add(named(at))
    assert missed <= UNTOLD
    assert "$.verdict" not in missed


def test_one_flipped_field_of_the_attestation_is_detected(good_set: Places) -> None:
    assert good_set.attestation
    whole = json.loads(good_set.attestation.read_text())
    for at in leaves(whole):
        for value in flips(get(whole, at)):
            good_set.attestation.write_text(canonical(put(whole, at, value)))
            assert codes(audit(good_set)) & {"E0880", "E0884"}, at
    good_set.attestation.write_text(json.dumps(whole))
    assert codes(audit(good_set)) == {"E0884"}, "another layout is other bytes"


def test_one_flipped_field_of_the_lock_is_detected(good_set: Places) -> None:
    path = good_set.spec.with_name("spec.lock")
    lock = json.loads(path.read_text())
    count = 0
    for at in leaves(lock):
        for value in flips(get(lock, at)):
            count += 1
            path.write_text(json.dumps(put(lock, at, value)))
            assert "fail" in verdicts(audit(good_set)).values(), at
    assert count > 100


@pytest.mark.parametrize("text", ["", "[]", "{}", "[" * 100_000, '{"_type": 1}', "\0"])
def test_what_is_no_attestation(good_set: Places, text: str) -> None:
    assert good_set.attestation
    good_set.attestation.write_text(text)
    assert codes(audit(good_set)) == {"E0880"}


def test_a_report_that_is_not_there(good_set: Places) -> None:
    good_set.report.unlink()
    found = audit(good_set)
    assert codes(found) == {"E0833"}
    assert verdicts(found) == {
        **dict.fromkeys(ALL, "blocked"), "lock": "pass", "outputs": "pass", "report": "fail",
    }  # fmt: skip
