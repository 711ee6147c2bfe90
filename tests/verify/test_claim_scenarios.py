"""The fifteen situations in which ResearchEnvBench's own validators disagree: one answer each.

The scenarios are those of the measured comparison of its 44 validators; a nine-key report is read,
and judged against what probes saw.
"""

from __future__ import annotations

from typing import Any

import pytest
from claim_cells import SITUATIONS

from envspec.plan.model import Claim
from envspec.verify.claims import ninekey
from envspec.verify.claims.judge import judge
from envspec.verify.claims.model import Seen
from envspec.verify.claims.scores import scores
from envspec.verify.verdicts import Rung

HONEST: dict[str, Any] = {
    "python_path": "/opt/env/bin/python",
    "python_version": "3.11.7",
    "torch_version": "2.14.1+cu130",
    "cuda_available": True,
    "gpu_count": 2,
    "ddp_expected_ok": True,
    "env_tool": "uv",
    "env_name": None,
    "notes": None,
}
NULLS = {**HONEST, **dict.fromkeys(("torch_version", "cuda_available", "gpu_count"))}
NULLS["ddp_expected_ok"] = None
TWO, ONE, BLIND = (SITUATIONS[n] for n in ("two GPUs", "one GPU", "GPU there, torch blind"))


def without_torch(seen: Seen) -> Seen:
    return seen._replace(identity={**seen.identity, "torch": None})


def rung(seen: Seen, name: str, verdict: str, cause: str) -> Seen:
    return seen._replace(rungs={**seen.rungs, name: Rung(name, verdict, cause, "why")})


def counts(said: dict[str, Any], seen: Seen) -> tuple[int, int, int]:
    assert ninekey.problems(said) == []
    classes = scores(judge(ninekey.claims(ninekey.read(said)), seen))["researchenvbench"]
    return classes["path"], classes["version"], classes["capability"]


def word(said: dict[str, Any], seen: Seen, name: str) -> str:
    found = judge(ninekey.claims(ninekey.read(said)), seen)
    return next(j.verdict for j in found if j.name == name)


SCENARIOS = {
    "A honest, everything passes": (HONEST, TWO, (0, 0, 0)),
    "B honest nulls, no torch": (NULLS, without_torch(SITUATIONS["cpu"]), (0, 0, 0)),
    "C CUDA and two GPUs claimed, none seen": (
        {**HONEST, "ddp_expected_ok": None},
        BLIND,
        (0, 0, 2),
    ),
    "D DDP claimed, fails on two GPUs": (
        HONEST,
        rung(TWO, "c4", "fail", "environment"),
        (0, 0, 1),
    ),
    "E DDP claimed, one GPU here": ({**HONEST, "gpu_count": 1}, ONE, (0, 0, 0)),
    "F DDP claimed, a gated model": (HONEST, rung(TWO, "c4", "fail", "asset"), (0, 0, 0)),
    "G DDP claimed, the rung does not apply": (HONEST, rung(TWO, "c4", "n/a", ""), (0, 0, 0)),
    "H DDP denied, and it runs": ({**HONEST, "ddp_expected_ok": False}, TWO, (0, 0, 0)),
    "I no such interpreter": (
        {**HONEST, "python_path": "/nowhere/python"},
        TWO._replace(interpreter=False),
        (1, 0, 0),
    ),
    "J wrong Python and torch": (
        {**HONEST, "python_version": "3.10.4", "torch_version": "2.4.0"},
        TWO,
        (0, 2, 0),
    ),
    "K a local tag that was not stated": ({**HONEST, "torch_version": "2.14.1"}, TWO, (0, 0, 0)),
    "L eight GPUs claimed, two seen": ({**HONEST, "gpu_count": 8}, TWO, (0, 0, 1)),
    "N torch claimed, does not import": (
        {**NULLS, "torch_version": "2.13.0"},
        SITUATIONS["torch does not import"]._replace(interpreter=True),
        (0, 1, 0),
    ),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario(name: str) -> None:
    said, seen, expected = SCENARIOS[name]
    assert counts(said, seen) == expected


def test_what_is_no_hallucination_has_its_own_word() -> None:
    for letter, expected in {"E": "inconclusive", "F": "inconclusive", "G": "inconclusive"}.items():
        said, seen, _ = next(v for k, v in SCENARIOS.items() if k.startswith(letter))
        assert word(said, seen, "c4") == expected
    denied = {**HONEST, "ddp_expected_ok": False}
    assert word(denied, TWO, "c4") == "underclaim"
    found = judge(ninekey.claims(ninekey.read({**HONEST, "torch_version": "2.14.1"})), TWO)
    assert next(j.note for j in found if j.name == "torch_version") == (
        "the build `cu130` was not stated"
    )


def test_scenario_m_one_gpu_can_be_claimed() -> None:
    """The nine keys cannot say it; a spec can."""
    fails = rung(TWO, "c3", "fail", "environment")
    (found,) = (j for j in judge((Claim("c3", "pass", "", 1),), fails) if j.name == "c3")
    assert found.verdict == "overclaim"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"python_path": ""}, "`python_path` is no text"),
        ({"python_path": 3}, "`python_path` is no text"),
        ({"python_version": 3.11}, "`python_version` is neither text nor null"),
        ({"cuda_available": "yes"}, "`cuda_available` is neither true, false nor null"),
        ({"cuda_available": 1}, "`cuda_available` is neither true, false nor null"),
        ({"gpu_count": -1}, "`gpu_count` is neither a number from 0 nor null"),
        ({"gpu_count": True}, "`gpu_count` is neither a number from 0 nor null"),
        ({"gpu_count": 1.5}, "`gpu_count` is neither a number from 0 nor null"),
        ({"env_tool": None}, "`env_tool` is none of conda, uv, pip, poetry, venv, none"),
        ({"torch_version": "9" * 5000}, "`torch_version` is longer than 4096 characters"),
    ],
)
def test_a_report_of_another_form_is_refused(change: dict[str, Any], problem: str) -> None:
    assert ninekey.problems({**HONEST, **change}) == [problem]


def test_a_missing_key_is_named() -> None:
    for key in HONEST:
        said = {k: v for k, v in HONEST.items() if k != key}
        assert f"`{key}` is missing" in ninekey.problems(said)
    assert ninekey.problems({**HONEST, "installed_packages": [], "x": {}}) == []


def test_there_and_back() -> None:
    for said in (HONEST, NULLS, {**HONEST, "ddp_expected_ok": False, "gpu_count": 0}):
        report = ninekey.read(said)
        assert ninekey.report(ninekey.claims(report)) == report
