"""Contradictions inside a report: what no verification could have written. Pure.

A report is judged again from its own evidence as far as it holds any: rungs against the runs they
name, claims against rungs and identity, scores against claims, the verdict against all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from envspec.plan.model import Claim
from envspec.report import document, restore
from envspec.verify.claims.judge import judge
from envspec.verify.claims.model import UNSTATED, Judgement
from envspec.verify.claims.scores import scores
from envspec.verify.pyramid import Outcome
from envspec.verify.session import Evidence
from envspec.verify.verdicts import CAUSES, ERROR, FAIL, HARNESS, NOT_APPLICABLE, PASS, Rung


class Contradiction(NamedTuple):
    """``path`` is the place in the JSON, ``what`` a clause about it."""

    path: str
    what: str


def contradictions(report: Mapping[str, Any]) -> Iterator[Contradiction]:
    """What does not go together, the first things first. ``report`` has the right shape."""
    found = restore.outcome(report)
    yield from _runs(found.evidence)
    runs = {run.id: run for run in found.evidence}
    for rung in found.rungs.values():
        for what in _rung(rung, runs):
            yield Contradiction(f"$.rungs.{rung.name}", what)
    yield from _claims(found, report["verifier"]["gpus"])
    for name, count in scores(found.judgements).items():
        if report["scores"][name] != count:
            yield Contradiction(f"$.scores.{name}", f"{report['scores'][name]}, counted {count}")
    rebuilt = restore.rebuilt(report)
    if rebuilt is not None:
        same = "fail" if document.differs(rebuilt) else PASS
        if report["rebuild"]["verdict"] != same:
            yield Contradiction("$.rebuild.verdict", f"not `{same}`, which its digests tell")
    whole = document.verdict(found, rebuilt)
    if report["verdict"] != whole:
        yield Contradiction(
            "$.verdict", f"`{report['verdict']}`, and its rungs and claims are a `{whole}`"
        )


def _runs(evidence: list[Evidence]) -> Iterator[Contradiction]:
    ids: set[str] = set()
    for number, run in enumerate(evidence):
        path = f"$.evidence[{number}]"
        if run.id in ids:
            yield Contradiction(path, "there twice")
        ids.add(run.id)
        if run.log != f"{run.id}.json":
            yield Contradiction(f"{path}.log", "not the log of that run")
        unclean = run.exit_code != 0 or run.signal or run.timed_out or run.out_of_memory
        if not run.error and unclean:
            yield Contradiction(path, "a run that did not end well, and has no error")


def _rung(rung: Rung, runs: Mapping[str, Evidence]) -> Iterator[str]:
    """Clauses about a rung that is not what a judge gives."""
    blameless = rung.verdict in {PASS, NOT_APPLICABLE}
    if blameless and rung.cause:
        yield f"`{rung.verdict}` with the cause `{rung.cause}`"
    elif not blameless and not rung.cause:
        yield f"`{rung.verdict}` without a cause"
    elif rung.verdict == ERROR and rung.cause != HARNESS:
        yield f"`{ERROR}` with the cause `{rung.cause}`, and only the harness can err"
    yield from _entries(rung)
    unknown = [name for name in rung.evidence if name not in runs]
    if unknown:
        yield f"resting on the run `{unknown[0][:60]}`, which is not in `evidence`"
    elif rung.verdict == PASS and not rung.evidence:
        yield f"`{PASS}` without evidence"
    elif rung.verdict == NOT_APPLICABLE and rung.evidence:
        yield f"`{NOT_APPLICABLE}`, and it rests on a run"
    elif any(runs[name].error for name in rung.evidence):
        # What C2 static asks the interpreter is one of its checks, which is then unknown.
        broken = rung.cause == HARNESS and rung.name != "c2_static"
        if rung.verdict == PASS or (broken and rung.verdict != ERROR):
            yield f"`{rung.verdict}`, and a run that it rests on gave no answer"


def _entries(rung: Rung) -> Iterator[str]:
    """Clauses about the entries of a rung: each is judged, and a rung passes where all do."""
    records = rung.details.get("entries")
    if not isinstance(records, list):
        return
    for record in records:
        said = record if isinstance(record, dict) else {}
        verdict, cause = said.get("verdict"), said.get("cause")
        known = verdict in (PASS, FAIL, ERROR) and (cause is None or cause in CAUSES)
        erred = verdict == ERROR and cause != HARNESS
        if not known or erred or (verdict == PASS) != (cause is None):
            yield f"about the entry `{str(said.get('name'))[:60]}`, which has no such verdict"
    verdicts = [r.get("verdict") for r in records if isinstance(r, dict)]
    good = all(v == PASS for v in verdicts)
    # C3 and C4 can fail before their entries do: their kernel or collective did.
    before = rung.name in {"c3", "c4"} and good
    if (rung.verdict == PASS) != good and not (rung.verdict == FAIL and before):
        yield f"`{rung.verdict}`, and its entries say otherwise"


def _claims(found: Outcome, gpus: int) -> Iterator[Contradiction]:
    """Every claim judged again by what the report itself tells."""
    if found.seen.gpu_present != (gpus > 0):
        yield Contradiction("$.seen.gpu_present", f"not what {gpus} GPUs of the host are")
    if (found.seen.interpreter is None) != (not found.seen.identity):
        yield Contradiction("$.seen.interpreter", "not what an interpreter that answered is")
    told = [_claim(judgement) for judgement in found.judgements]
    try:
        again = judge(told, found.seen)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        yield Contradiction("$.claims", "not what evidence of this shape can be judged as")
        return
    if [j.name for j in again] != [j.name for j in found.judgements]:
        yield Contradiction("$.claims", "not the list of everything that can be claimed, in order")
        return
    for number, (old, new) in enumerate(zip(found.judgements, again, strict=True)):
        if old != new:
            yield Contradiction(f"$.claims[{number}]", _unlike(old, new))


def _claim(judgement: Judgement) -> Claim:
    """The claim as the spec states it."""
    name, _, subject = judgement.name.partition(" ")
    return Claim(name, judgement.claimed or UNSTATED, "", judgement.line, subject)


def _unlike(old: Judgement, new: Judgement) -> str:
    for name in ("verdict", "observed", "claimed", "note", "line"):
        before, after = str(getattr(old, name)), str(getattr(new, name))
        if before != after:
            return f"`{old.name}` with the {name} `{before[:60]}`, judged again `{after[:60]}`"
    return f"`{old.name}`, which is judged otherwise"
