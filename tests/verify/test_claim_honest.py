"""The claims that a report allows are confirmed by the verification they come from."""

from __future__ import annotations

import pytest
from claim_cells import SITUATIONS

from envspec.language.statements import words_in
from envspec.pipeline.claims import FORMS
from envspec.verify.claims.honest import honest
from envspec.verify.claims.judge import ALWAYS, judge


@pytest.mark.parametrize("where", SITUATIONS)
def test_what_is_stated_is_confirmed(where: str) -> None:
    seen = SITUATIONS[where]
    claims = honest(seen, FORMS)
    assert {j.verdict for j in judge(claims, seen)} <= {"confirmed", "unstated"}
    assert {c.name for c in claims} >= set(ALWAYS)
    for claim in claims:
        shape = words_in("claims")[claim.name].params[-2].shape
        assert claim.value == "unstated" or shape.fits(claim.value), claim
        assert bool(claim.because) == (claim.value == "unstated")


def stated(where: str) -> dict[str, str]:
    found = honest(SITUATIONS[where], FORMS)
    return {f"{c.name} {c.subject}".rstrip(): c.value for c in found if c.value != "unstated"}


def test_by_value() -> None:
    assert stated("nothing could be read") == {}
    assert stated("two GPUs") == {
        "python_path": "/opt/env/bin/python",
        "python_version": "3.11.7",
        "python_abi": "cp311",
        "glibc": "2.36",
        "torch_version": "2.14.1+cu130",
        "torch_cuda": "13.0",
        "driver_min": "580.65.06",
        "cuda_available": "true",
        "gpu_count": "2",
        "c0_missing": "0",
        **dict.fromkeys(("c0", "c1", "c2", "c3", "c4"), "pass"),
        "c4_processes": "2",
        "entry smoke": "pass",
    }
    assert stated("torch does not import") == {
        "python_version": "3.11.7",
        "python_abi": "cp311",
        "glibc": "2.36",
        "cuda_available": "false",
        "gpu_count": "0",
        "c0_missing": "2",
        **dict.fromkeys(("c0", "c1", "c2"), "fail"),
        "entry smoke": "fail",
    }
    jax = stated("jax and tensorflow, GPU")
    assert (jax["jax_version"], jax["tf_version"], jax["gpu_count"]) == ("0.8.1", "2.20.0", "1")
    assert "torch_version" not in jax
