"""`report.json`, schema 1: the whole of a verification as plain data. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from envspec import __version__
from envspec.build.protocol import Built, EngineInfo, Rebuilt
from envspec.plan.model import BuildExtension, Plan
from envspec.report.bounded import bounded
from envspec.verify.claims.model import HALLUCINATIONS, Seen
from envspec.verify.claims.scores import scores
from envspec.verify.pyramid import Outcome
from envspec.verify.verdicts import BLOCKED, ERROR, FAIL, PASS, Rung

SCHEMA = 1
_MOST = 100  # files in which two builds differ that a report names


class Subject(NamedTuple):
    """What was verified: digests are sha256 in hexadecimal."""

    spec: str
    spec_sha256: str
    lock_sha256: str
    plan_sha256: str
    build_digest: str


class Verifier(NamedTuple):
    """Who looked, and where: digests are sha256 in hexadecimal, ``gpus`` is how many the host has.
    ``glibc`` is empty where the C library is another or not known."""

    facts_sha256: str
    probes_sha256: str
    system: str
    machine: str
    kernel: str
    glibc: str
    gpus: int


def document(
    subject: Subject,
    verifier: Verifier,
    plan: Plan,
    info: EngineInfo,
    why: str,
    built: Built,
    outcome: Outcome,
    findings: list[dict[str, Any]],
    rebuilt: Rebuilt | None = None,
) -> dict[str, Any]:
    """The report. ``why`` says why this engine was chosen; ``findings`` are compile findings;
    ``rebuilt`` is None where nobody asked for two builds to be compared."""
    whole = {
        "schema": SCHEMA,
        "envspec": __version__,
        "spec": subject._asdict(),
        "project": plan.project,
        "verifier": verifier._asdict(),
        "engine": {
            "name": info.name,
            "version": info.version,
            "chosen": why,
            "isolation": info.isolation,
            "weaknesses": list(info.weaknesses),
            "base": f"{plan.base.name}@{plan.base.digest}",
            "base_substituted": built.base_substituted,
            "reference": built.reference,
            "digest": built.digest,
            "reused": built.reused,
            "build_seconds": round(built.seconds, 3),
        },
        **_judged(outcome, rebuilt),
        "extensions": [_extension(step, built) for step in plan.extensions],
        "rebuild": _rebuild(rebuilt),
        "network": [e.name for e in plan.entries if e.network],
        "evidence": [e._asdict() for e in outcome.evidence],
        "findings": findings,
    }
    # What programs printed is in it: what no reader takes is cut, and the rest stays a report.
    report: dict[str, Any] = bounded(whole)
    return report


def judged(outcome: Outcome, rebuilt: Rebuilt | None) -> dict[str, Any]:
    """The part of a report that follows from its evidence."""
    part: dict[str, Any] = bounded(_judged(outcome, rebuilt))
    return part


def _judged(outcome: Outcome, rebuilt: Rebuilt | None) -> dict[str, Any]:
    return {
        "verdict": verdict(outcome, rebuilt),
        "rungs": {name: _rung(rung) for name, rung in outcome.rungs.items()},
        "claims": [j._asdict() for j in outcome.judgements],
        "scores": scores(outcome.judgements),
        "source_changed": list(outcome.source_changed),
        "seen": _seen(outcome.seen),
        "identity": outcome.seen.identity,
    }


def dumps(report: Mapping[str, Any]) -> str:
    """The report as text."""
    return json.dumps(report, indent=2, ensure_ascii=False) + "\n"


def verdict(outcome: Outcome, rebuilt: Rebuilt | None = None) -> str:
    """`fail` where a rung failed, broke, the spec said what is not so, or two builds differ;
    `blocked` where something could not be checked; `pass` otherwise."""
    rungs = {r.verdict for r in outcome.rungs.values()}
    lies = any(j.verdict in HALLUCINATIONS for j in outcome.judgements)
    if rungs & {FAIL, ERROR} or lies or outcome.source_changed or differs(rebuilt):
        return FAIL
    return BLOCKED if BLOCKED in rungs else "pass"


def _extension(step: BuildExtension, built: Built) -> dict[str, Any]:
    """The wheel that was compiled; ``recorded`` is the digest of the one in the lock."""
    wheel = next((w for w in built.wheels if w.name == step.name), None)
    return {
        "name": step.name,
        "version": step.version,
        "file": wheel.file if wheel else None,
        "sha256": wheel.sha256 if wheel else None,
        "recorded": step.sha256 or None,
    }


def differs(rebuilt: Rebuilt | None) -> bool:
    """Whether two builds were made and are not the same bytes."""
    return rebuilt is not None and rebuilt.digests[0] != rebuilt.digests[1]


def _rebuild(rebuilt: Rebuilt | None) -> dict[str, Any] | None:
    if rebuilt is None:
        return None
    shown = rebuilt.differences[:_MOST]
    return {
        "verdict": FAIL if differs(rebuilt) else PASS,
        "digests": list(rebuilt.digests),
        "seconds": round(rebuilt.seconds, 3),
        "differences": [d._asdict() for d in shown],
        "not_shown": len(rebuilt.differences) - len(shown),
    }


def _rung(rung: Rung) -> dict[str, Any]:
    return {
        "verdict": rung.verdict,
        "cause": rung.cause or None,
        "reason": rung.reason,
        "evidence": list(rung.evidence),
        "details": rung.details,
    }


def _seen(seen: Seen) -> dict[str, Any]:
    """What claims were held against, beside the rungs and the identity."""
    kept = ("interpreter", "gpu_present", "accelerator", "processes")
    return {
        **{name: getattr(seen, name) for name in kept},
        "modules": [{"name": n, "loaded": loaded} for n, loaded in seen.modules.items()],
        "provenance": seen.provenance._asdict(),
    }
