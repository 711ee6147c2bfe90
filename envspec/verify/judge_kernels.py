"""Observations → C2 live, C3 and C4, what needs GPUs. Pure: evidence in, verdicts out."""

from __future__ import annotations

from typing import Any

from envspec.verify import verdicts
from envspec.verify.judge_entries import Ran, entries, records
from envspec.verify.results import Observation
from envspec.verify.verdicts import Rung

FRAMEWORKS = ("torch", "jax", "tensorflow")


def c2_live(observation: Observation, evidence: tuple[str, ...]) -> Rung:
    """Whether every framework sees the GPU."""
    name = "c2_live"
    if not observation.usable:
        return verdicts.broken(name, observation.error, evidence)
    seen = observation.observed
    frameworks = {k: seen[k] for k in FRAMEWORKS if seen.get(k)}
    counts = {k: int(v.get("device_count") or 0) for k, v in frameworks.items()}
    details = {"driver": seen.get("driver"), "frameworks": frameworks}
    if not frameworks:
        reason = "no framework is installed that could see a GPU"
        return verdicts.failed(name, verdicts.ENVIRONMENT, reason, evidence, **details)
    blind = [k for k, count in counts.items() if count == 0]
    if blind:
        reason = f"{', '.join(blind)} sees no GPU"
        return verdicts.failed(name, verdicts.ENVIRONMENT, reason, evidence, **details)
    reason = ", ".join(f"{k} sees {count}" for k, count in counts.items())
    return verdicts.passed(name, reason, evidence, **details)


def c3(
    observation: Observation, evidence: tuple[str, ...], runs: list[Ran], own: frozenset[str]
) -> Rung:
    """Whether a kernel runs on one GPU, and then the entry. A failure names its layer."""
    name = "c3"
    if not observation.usable:
        return verdicts.broken(name, observation.error, evidence)
    stages = observation.observed.get("stages")
    if not isinstance(stages, dict) or not stages:
        return verdicts.broken(name, "the probe named no stage", evidence)
    kept = {"stages": stages, "entries": records(runs, own)}
    for stage, result in stages.items():
        if not result.get("ok"):
            reason = f"{stage}: {str(result.get('error'))[:300]}"
            return verdicts.failed(name, verdicts.ENVIRONMENT, reason, evidence, **kept)
    if not runs:
        said = "a kernel ran; the spec has no c3 entry"
        return verdicts.passed(name, said, evidence, stages=stages)
    return _with(entries(name, runs, own), stages=stages)


def c4(
    observation: Observation, evidence: tuple[str, ...], runs: list[Ran], own: frozenset[str]
) -> Rung:
    """Whether a collective runs over the GPUs, then the entry. Names the rank that did not."""
    name = "c4"
    if not observation.usable:
        return verdicts.broken(name, observation.error, evidence)
    ranks = observation.observed.get("ranks")
    if not isinstance(ranks, list) or len(ranks) < 2:
        return verdicts.broken(name, "fewer than two ranks reported", evidence)
    wrong = [r for r in ranks if not r.get("ok")]
    if wrong:
        reason = "; ".join(f"rank {r.get('rank')}: {str(r.get('error'))[:200]}" for r in wrong[:3])
        kept = {"ranks": ranks, "entries": records(runs, own)}
        return verdicts.failed(name, verdicts.ENVIRONMENT, reason, evidence, **kept)
    if not runs:
        said = "an all-reduce ran; the spec has no c4 entry"
        return verdicts.passed(name, said, evidence, ranks=ranks)
    return _with(entries(name, runs, own), ranks=ranks)


def _with(rung: Rung, **more: Any) -> Rung:
    """The rung of the entries, with what the probe before them saw."""
    return rung._replace(details={**more, **rung.details})
