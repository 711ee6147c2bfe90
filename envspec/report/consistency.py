"""Contradictions inside a report: what no verification could have written. Pure.

A report is judged again from its own evidence as far as it holds any: rungs against the runs they
name, claims against rungs and identity, scores against claims, the verdict against all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

from envspec.plan.model import Claim
from envspec.report import document, restore
from envspec.verify import claims
from envspec.verify.claims import Judgement, Seen
from envspec.verify.pyramid import CLAIMABLE, Outcome
from envspec.verify.session import Evidence
from envspec.verify.verdicts import ERROR, HARNESS, NOT_APPLICABLE, PASS, Rung

_ACCELERATORS = ("none", "cuda")


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
    for name, count in claims.scores(found.judgements).items():
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


def _claims(found: Outcome, gpus: int) -> Iterator[Contradiction]:
    """Every claim judged again by what the report itself tells. Two things it does not hold: what
    the spec says of the accelerator, and what trying the claimed interpreter gave."""
    told = {judgement.name: judgement for judgement in found.judgements}
    names = tuple(judgement.name for judgement in found.judgements)
    if names != CLAIMABLE:
        yield Contradiction("$.claims", "not the list of everything that can be claimed, in order")
        return
    stated = tuple(Claim(j.name, j.claimed, "", j.line) for j in told.values() if j.claimed)
    fewest: list[Contradiction] | None = None
    for accelerator, interpreter in product(_ACCELERATORS, (True, False, None)):
        seen = Seen(found.rungs, found.identity, interpreter, gpus > 0, accelerator)
        try:
            again = claims.judge(stated, seen, CLAIMABLE)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            yield Contradiction("$.claims", "not what evidence of this shape can be judged as")
            return
        pairs = zip(found.judgements, again, strict=True)
        wrong = [
            Contradiction(f"$.claims[{n}]", _unlike(old, new))
            for n, (old, new) in enumerate(pairs)
            if not _same(old, new)
        ]
        if fewest is None or len(wrong) < len(fewest):
            fewest = wrong
    yield from fewest or ()


def _same(old: Judgement, new: Judgement) -> bool:
    """A claim that is written as `unstated` has a line, and stands here as one that is not."""
    return old == (new._replace(line=old.line) if old.verdict == claims.UNSTATED else new)


def _unlike(old: Judgement, new: Judgement) -> str:
    for name in ("verdict", "observed", "claimed", "note", "line"):
        before, after = str(getattr(old, name)), str(getattr(new, name))
        if before != after:
            return f"`{old.name}` with the {name} `{before[:60]}`, judged again `{after[:60]}`"
    return f"`{old.name}`, which is judged otherwise"
