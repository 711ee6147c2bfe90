"""C5: every kind of claim against every kind of evidence has one verdict."""

from __future__ import annotations

from typing import Any

import pytest

from envspec.language.statements import CLAIMS
from envspec.plan.model import Claim
from envspec.verify.claims import Judgement, Seen, judge, scores
from envspec.verify.pyramid import CLAIMABLE
from envspec.verify.verdicts import RUNGS, Rung

CPU = {"version": "2.13.0+cpu", "cuda": None, "cuda_available": False, "device_count": 0}
CUDA = {"version": "2.14.1+cu130", "cuda": "13.0", "cuda_available": False, "device_count": 0}
SEES = {**CUDA, "cuda_available": True, "device_count": 2}
SLOW = {"version": None, "error": {"type": "Timeout", "message": "no answer"}}
BROKEN = {"version": None, "error": {"type": "OSError", "message": "libcudart.so.13"}}


def seen(
    torch: dict[str, Any] | None = None,
    rungs: dict[str, tuple[str, str]] | None = None,
    *,
    identity: bool = True,
    interpreter: bool | None = True,
    gpu: bool = False,
    accelerator: str = "none",
    missing: int | None = 0,
) -> Seen:
    details = {} if missing is None else {"missing": missing, "missing_names": ["x"] * missing}
    given = {name: Rung(name, "n/a", "", "why") for name in RUNGS}
    given["c0_static"] = Rung(
        "c0_static", "pass" if not missing else "fail", "", "why", (), details
    )
    given["c0_live"] = Rung("c0_live", "pass", "", "why")
    for name, (verdict, cause) in (rungs or {}).items():
        given[name] = Rung(name, verdict, cause, "why", (), given[name].details)
    known = {"python_version": "3.11.7", "torch": torch} if identity else {}
    return Seen(given, known, interpreter, gpu, accelerator)


def verdict(name: str, value: str, what: Seen) -> Judgement:
    found = judge((Claim(name, value, "", 7),), what, CLAIMABLE)
    assert [j.name for j in found] == list(CLAIMABLE)
    return next(j for j in found if j.name == name)


def test_everything_the_language_can_claim_is_judged() -> None:
    assert tuple(CLAIMS) == CLAIMABLE


CASES = [
    # name, claimed, evidence, verdict
    ("torch_version", "2.13.0+cpu", seen(CPU), "confirmed"),
    ("torch_version", "2.13.0", seen(CPU), "confirmed"),
    ("torch_version", "2.13", seen(CPU), "confirmed"),
    ("torch_version", "2.12.0", seen(CPU), "mismatch"),
    ("torch_version", "2.13.0+cu126", seen(CPU), "mismatch"),
    ("torch_version", "2.13.0", seen(None), "mismatch"),
    ("torch_version", "2.13.0", seen(BROKEN), "mismatch"),
    ("torch_version", "2.13.0", seen(identity=False), "inconclusive"),
    ("torch_version", "2.13.0", seen(SLOW), "inconclusive"),
    ("cuda_available", "true", seen(SLOW), "inconclusive"),
    ("python_version", "3.11", seen(), "confirmed"),
    ("python_version", "3.11.7", seen(), "confirmed"),
    ("python_version", "3.1", seen(), "mismatch"),
    ("python_version", "3.12", seen(), "mismatch"),
    ("python_version", "3.11", seen(identity=False), "inconclusive"),
    ("python_path", "/opt/env/bin/python", seen(), "confirmed"),
    ("python_path", "/usr/bin/python3", seen(interpreter=False), "mismatch"),
    ("python_path", "/usr/bin/python3", seen(interpreter=None), "inconclusive"),
    ("python_path", "/opt/env/bin/python", seen(identity=False), "inconclusive"),
    ("cuda_available", "false", seen(CPU), "confirmed"),
    ("cuda_available", "true", seen(CPU), "overclaim"),
    ("cuda_available", "true", seen(None), "overclaim"),
    ("cuda_available", "true", seen(CUDA), "inconclusive"),
    ("cuda_available", "true", seen(CUDA, gpu=True), "overclaim"),
    ("cuda_available", "true", seen(SEES, gpu=True), "confirmed"),
    ("cuda_available", "false", seen(SEES, gpu=True), "underclaim"),
    ("cuda_available", "true", seen(identity=False), "inconclusive"),
    ("gpu_count", "0", seen(CPU), "confirmed"),
    ("gpu_count", "2", seen(SEES, gpu=True), "confirmed"),
    ("gpu_count", "8", seen(SEES, gpu=True), "overclaim"),
    ("gpu_count", "1", seen(SEES, gpu=True), "underclaim"),
    ("gpu_count", "2", seen(CUDA), "inconclusive"),
    ("gpu_count", "2", seen(CPU), "overclaim"),
    ("c0_missing", "0", seen(missing=0), "confirmed"),
    ("c0_missing", "0", seen(missing=2), "overclaim"),
    ("c0_missing", "2", seen(missing=2), "confirmed"),
    ("c0_missing", "3", seen(missing=2), "underclaim"),
    ("c0_missing", "0", seen(missing=None), "inconclusive"),
    ("c0_missing", "0", seen(rungs={"c0_static": ("blocked", "harness")}), "inconclusive"),
    ("c0", "pass", seen(rungs={"c0_static": ("blocked", "harness")}), "inconclusive"),
    ("c0", "pass", seen(), "confirmed"),
    ("c0", "pass", seen(rungs={"c0_live": ("fail", "environment")}), "overclaim"),
    ("c0", "pass", seen(rungs={"c0_live": ("error", "harness")}), "inconclusive"),
    ("c1", "pass", seen(rungs={"c1": ("pass", "")}), "confirmed"),
    ("c1", "fail", seen(rungs={"c1": ("pass", "")}), "underclaim"),
    ("c1", "pass", seen(rungs={"c1": ("fail", "environment")}), "overclaim"),
    ("c1", "pass", seen(rungs={"c1": ("fail", "repository")}), "overclaim"),
    ("c1", "fail", seen(rungs={"c1": ("fail", "repository")}), "confirmed"),
    ("c1", "pass", seen(rungs={"c1": ("fail", "network")}), "inconclusive"),
    ("c1", "pass", seen(rungs={"c1": ("fail", "asset")}), "inconclusive"),
    ("c1", "pass", seen(rungs={"c1": ("fail", "hardware")}), "inconclusive"),
    ("c1", "pass", seen(rungs={"c1": ("error", "harness")}), "inconclusive"),
    ("c1", "pass", seen(), "inconclusive"),
    ("c2", "pass", seen(rungs={"c2_static": ("pass", "")}), "confirmed"),
    ("c2", "pass", seen(rungs={"c2_static": ("fail", "environment")}), "overclaim"),
    (
        "c2",
        "pass",
        seen(
            rungs={"c2_static": ("pass", ""), "c2_live": ("blocked", "hardware")},
            accelerator="cuda",
        ),
        "inconclusive",
    ),
    ("c3", "pass", seen(), "overclaim"),
    ("c3", "fail", seen(), "inconclusive"),
    ("c3", "pass", seen(rungs={"c3": ("blocked", "hardware")}, accelerator="cuda"), "inconclusive"),
    ("c4", "pass", seen(rungs={"c4": ("blocked", "hardware")}, accelerator="cuda"), "inconclusive"),
    ("c4", "pass", seen(), "overclaim"),
]


@pytest.mark.parametrize(("name", "value", "what", "expected"), CASES)
def test_verdicts(name: str, value: str, what: Seen, expected: str) -> None:
    found = verdict(name, value, what)
    assert found.verdict == expected, found
    assert (found.claimed, found.line) == (value, 7)


@pytest.mark.parametrize("name", CLAIMABLE)
def test_unstated_is_never_judged(name: str) -> None:
    for what in (seen(), seen(identity=False), seen(missing=3, interpreter=False)):
        assert verdict(name, "unstated", what).verdict == "unstated"


def test_scores_count_classes_and_rates() -> None:
    claims = (
        Claim("torch_version", "2.12.0", "", 1),
        Claim("python_path", "/nowhere", "", 2),
        Claim("cuda_available", "true", "", 3),
        Claim("c1", "pass", "", 4),
    )
    what = seen(CPU, rungs={"c1": ("pass", "")}, interpreter=False)
    found = scores(judge(claims, what, CLAIMABLE))
    assert found["stated"] == 4
    assert found["unstated"] == len(CLAIMABLE) - 4
    assert (found["overclaims"], found["mismatches"], found["confirmed"]) == (1, 2, 1)
    assert found["researchenvbench"] == {"path": 1, "version": 1, "capability": 1}
    assert found["overclaim_rate"] == 0.25
