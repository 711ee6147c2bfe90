"""Observations become rungs; what is not there is never a pass."""

from __future__ import annotations

from typing import Any

import pytest

from envspec.plan.model import Entry, Expect
from envspec.verify import judge_entries, judge_imports, judge_kernels
from envspec.verify.judge_entries import Ran
from envspec.verify.pyramid import changes
from envspec.verify.results import Observation
from envspec.verify.run_imports import live_names
from envspec.verify.verdicts import Rung

GOOD_STATIC = {"files_analyzed": 3, "bound": True, "missing": []}


def missing(top: str, classification: str) -> dict[str, Any]:
    return {"top": top, "module": top, "classification": classification, "places": []}


def seen(**observed: Any) -> Observation:
    return Observation("p", observed, "")


BROKEN = Observation("p", {}, "the probe gave no result")


@pytest.mark.parametrize(
    ("observation", "verdict", "words"),
    [
        (seen(**GOOD_STATIC), "pass", "nothing missing"),
        (seen(**{**GOOD_STATIC, "files_analyzed": 0}), "error", "no file"),
        (seen(**{**GOOD_STATIC, "bound": False}), "error", "another interpreter"),
        (seen(bound=True), "error", "no file"),
        (BROKEN, "error", "no result"),
        (seen(**{**GOOD_STATIC, "missing": [missing("wandb", "required")]}), "fail", "wandb"),
        (
            seen(**{**GOOD_STATIC, "missing": [missing("flash_attn", "guarded")]}),
            "pass",
            "1 guarded",
        ),
        (seen(**{**GOOD_STATIC, "missing": [missing("x", "optional")]}), "pass", "1 optional"),
        (seen(**{**GOOD_STATIC, "cut": ["imports"]}), "pass", "nothing missing"),
        (seen(**{**GOOD_STATIC, "cut": ["imports", "missing"]}), "error", "can hold"),
        (seen(**{**GOOD_STATIC, "skipped": [{"file": "big.py"}]}), "blocked", "big.py"),
        (
            seen(
                **{
                    **GOOD_STATIC,
                    "skipped": [{"file": "big.py"}],
                    "missing": [missing("wandb", "required")],
                }
            ),
            "fail",
            "wandb",
        ),
    ],
)
def test_c0_static(observation: Observation, verdict: str, words: str) -> None:
    rung = judge_imports.c0_static(observation, ("e",))
    assert rung.verdict == verdict
    assert words in rung.reason


@pytest.mark.parametrize(
    ("results", "verdict", "words"),
    [
        ([{"name": "torch", "outcome": "ok"}], "pass", "1 imports"),
        ([], "error", "no record of: torch"),
        ([{"name": "einops", "outcome": "ok"}], "error", "no record"),
        ([{"name": "torch", "outcome": "missing"}], "fail", "not installed"),
        (
            [{"name": "torch", "outcome": "missing_dependency", "missing": "datasets"}],
            "fail",
            "`datasets`",
        ),
        ([{"name": "torch", "outcome": "timeout"}], "fail", "in time"),
        ([{"name": "torch", "outcome": "crash", "signal": 11}], "fail", "signal 11"),
        ([{"name": "torch", "outcome": "exit"}], "fail", "ends the program"),
        (
            [{"name": "torch", "outcome": "error", "type": "OSError", "message": "m"}],
            "fail",
            "OSError",
        ),
        ([{"name": "torch"}], "fail", "torch"),
    ],
)
def test_c0_live(results: list[dict[str, Any]], verdict: str, words: str) -> None:
    rung = judge_imports.c0_live(seen(results=results), ("e",), ["torch"])
    assert rung.verdict == verdict
    assert words in rung.reason


def entry(**observed: Any) -> Ran:
    what = Entry("smoke", "c1", ("python",), None, 60, 1, (), False, 9)
    return Ran(what, Observation("c1_entry", observed, ""), "c1-smoke", "/opt/src")


OK = {"exit_code": 0, "signal": None, "timed_out": False}


@pytest.mark.parametrize(
    ("ran", "verdict"),
    [
        (entry(**OK), "pass"),
        (entry(**{**OK, "exit_code": 3}), "fail"),
        (entry(**{**OK, "exit_code": None, "signal": 9, "killed": True}), "fail"),
        (entry(**{**OK, "timed_out": True, "seconds": 60}), "fail"),
        (entry(), "fail"),
        (entry(**OK)._replace(observation=BROKEN), "error"),
        (entry(start_error={"type": "PermissionError", "message": "no /opt/src"}), "error"),
    ],
)
def test_entries(ran: Ran, verdict: str) -> None:
    assert judge_entries.entries("c1", [ran], frozenset()).verdict == verdict


def expecting(expect: Expect, **observed: Any) -> Ran:
    ran = entry(**{**OK, **observed})
    return ran._replace(entry=ran.entry._replace(expect=expect))


@pytest.mark.parametrize(
    ("ran", "verdict", "words"),
    [
        (expecting(Expect(3), exit_code=3), "pass", "ended with status 3"),
        (expecting(Expect(3)), "fail", "status 0, and 3 is expected"),
        (expecting(Expect(3), exit_code=4), "fail", "status 4"),
        (expecting(Expect(3), exit_code=3, timed_out=True), "fail", "did not end"),
        (expecting(Expect(0, ("a/b",)), files={"a/b": True}), "pass", "expected (1)"),
        (expecting(Expect(0, ("a/b",)), files={"a/b": False}), "fail", "no file `/tmp/a/b`"),
        (expecting(Expect(0, ("a/b",)), files={"a/b": "yes"}), "fail", "no file `/tmp/a/b`"),
        (expecting(Expect(0, ("a/b",))), "fail", "no file `/tmp/a/b`"),
        (expecting(Expect(0, (), ("x+",)), output={"x+": True}), "pass", "expected (1)"),
        (expecting(Expect(0, (), ("x+",)), output={"x+": False}), "fail", "does not match `x+`"),
        (expecting(Expect(0, (), ("x+",)), output={"y": True}), "fail", "does not match `x+`"),
    ],
)
def test_what_an_entry_is_expected_to_show(ran: Ran, verdict: str, words: str) -> None:
    rung = judge_entries.entries("c1", [ran], frozenset())
    assert rung.verdict == verdict
    assert words in rung.reason


def test_one_bad_entry_fails_the_rung() -> None:
    runs = [entry(**OK), entry(**{**OK, "exit_code": 1})]
    assert judge_entries.entries("c1", runs, frozenset()).verdict == "fail"


def gpu(rung: Rung) -> tuple[str, str]:
    return rung.verdict, rung.reason


def test_gpu_rungs_need_evidence() -> None:
    stage = {
        "context": {"ok": True},
        "matmul": {"ok": False, "error": {"message": "no kernel image"}},
    }
    assert judge_kernels.c3(seen(stages=stage), (), [], frozenset()).verdict == "fail"
    assert judge_kernels.c3(seen(stages={}), (), [], frozenset()).verdict == "error"
    assert judge_kernels.c3(BROKEN, (), [], frozenset()).verdict == "error"
    good = {"context": {"ok": True}, "matmul": {"ok": True}}
    assert judge_kernels.c3(seen(stages=good), (), [], frozenset()).verdict == "pass"
    ranks = [{"rank": 0, "ok": True}, {"rank": 1, "ok": False, "error": {"message": "hung"}}]
    assert "rank 1" in judge_kernels.c4(seen(ranks=ranks), (), [], frozenset()).reason
    assert judge_kernels.c4(seen(ranks=ranks[:1]), (), [], frozenset()).verdict == "error"
    assert judge_kernels.c2_live(seen(torch={"device_count": 0}), ()).verdict == "fail"
    assert judge_kernels.c2_live(seen(torch={"device_count": 1}), ()).verdict == "pass"
    assert judge_kernels.c2_live(seen(torch=None), ()).verdict == "fail"
    assert judge_kernels.c2_live(BROKEN, ()).verdict == "error"


def test_what_must_load() -> None:
    must = {"third_party": ["extra", "torch"], "first_party": ["mine", "torch"]}
    assert live_names({"must_load": must}, ["extra.part"]) == (["torch"], ["mine"])
    assert live_names({}, []) == ([], [])


def test_changes_are_named_and_unknown_is_not_unchanged() -> None:
    before = seen(files={"a.py": "1", "b.py": "1"}, source_digest="x", packages_digest="p")
    same = changes(before, before)
    assert same == ()
    after = seen(files={"a.py": "2", "c.py": "1"}, source_digest="y", packages_digest="q")
    assert changes(before, after) == ("a.py", "b.py", "c.py", "the set of installed packages")
    assert changes(before, BROKEN)[0].startswith("unknown")
    large = seen(files={}, source_digest="y", packages_digest="p")
    assert changes(seen(files={}, source_digest="x", packages_digest="p"), large) == (
        "a file of the source",
    )
