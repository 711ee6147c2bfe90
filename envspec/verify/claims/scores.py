"""Counts and rates over judgements, and beside them what ResearchEnvBench counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from envspec.verify.claims.model import (
    CONFIRMED,
    HALLUCINATIONS,
    INCONCLUSIVE,
    MISMATCH,
    OVERCLAIM,
    UNDERCLAIM,
    UNSTATED,
    Judgement,
)
from envspec.verify.claims.rungs import PARTS

CLASSES = {
    "python_path": "path",
    "python_version": "version",
    "torch_version": "version",
    "cuda_available": "capability",
    "gpu_count": "capability",
    "c4": "capability",
}
"""The six claims that ResearchEnvBench audits (`ddp_expected_ok` is `c4`), by its own classes: a
count over more would not compare with its figures."""


def scores(judgements: Sequence[Judgement]) -> dict[str, Any]:
    """Counts, `coverage` (stated over claimable) and `overclaim_rate` (over stated).

    `calibration`: of the rungs that were claimed and could be judged, how many were as claimed.
    """
    words = (CONFIRMED, OVERCLAIM, MISMATCH, UNDERCLAIM, INCONCLUSIVE, UNSTATED)
    count = {word: sum(j.verdict == word for j in judgements) for word in words}
    stated = len(judgements) - count[UNSTATED]
    classes = dict.fromkeys(("path", "version", "capability"), 0)
    for judgement in judgements:
        if judgement.verdict in HALLUCINATIONS and judgement.name in CLASSES:
            classes[CLASSES[judgement.name]] += 1
    open_ = {UNSTATED, INCONCLUSIVE}
    judged = [j for j in judgements if j.name in PARTS and j.verdict not in open_]
    right = sum(j.verdict == CONFIRMED for j in judged)
    return {
        "claimable": len(judgements),
        "stated": stated,
        "confirmed": count[CONFIRMED],
        "overclaims": count[OVERCLAIM],
        "mismatches": count[MISMATCH],
        "underclaims": count[UNDERCLAIM],
        "inconclusive": count[INCONCLUSIVE],
        "unstated": count[UNSTATED],
        "coverage": round(stated / len(judgements), 4) if judgements else 0.0,
        "overclaim_rate": round(count[OVERCLAIM] / stated, 4) if stated else 0.0,
        "calibration": {
            "judged": len(judged),
            "as_claimed": right,
            "rate": round(right / len(judged), 4) if judged else None,
        },
        "researchenvbench": classes,
    }
