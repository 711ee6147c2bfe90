"""Every claim has one judge, and every claim that could be made is listed."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from envspec.plan.model import Claim
from envspec.verify.claims import hardware, provenance, rungs, software
from envspec.verify.claims.model import UNSTATED, Judge, Judgement, Seen, Verdict, unknown

JUDGES: dict[str, Judge] = {
    **provenance.JUDGES,
    **software.JUDGES,
    **hardware.JUDGES,
    **rungs.JUDGES,
}
_KEYED = {"entry": rungs.entry, "extension": rungs.module}
"""Claims that name what they are about."""

ALWAYS = (
    *("python_path", "python_version", "torch_version", "cuda_available", "gpu_count"),
    *("c0_missing", "c0", "c1", "c2", "c3", "c4"),
)
"""What every spec could state and coverage counts. Of the rest it counts what is stated: a spec
without JAX does not keep silent about it."""

_IDENTITY = (*software.JUDGES, *hardware.IDENTITY)


def judge(claims: Iterable[Claim], seen: Seen) -> list[Judgement]:
    """A judgement for each claim of `ALWAYS`, and for each other one that stands in the spec."""
    stated = {(c.name, c.subject): c for c in claims}
    order = [*JUDGES, *_KEYED]
    names = {*((name, "") for name in ALWAYS), *stated}
    result = []
    for name, subject in sorted(names, key=lambda n: (order.index(n[0]), n[1])):
        claim = stated.get((name, subject))
        title = f"{name} {subject}".rstrip()
        line = claim.line if claim else 0
        if claim is None or claim.value == UNSTATED:
            result.append(Judgement(title, "", _observed(name, seen), UNSTATED, "", line))
            continue
        found = _judge(claim, seen)
        result.append(Judgement(title, claim.value, *found, line))
    return result


def _judge(claim: Claim, seen: Seen) -> Verdict:
    if claim.name in _IDENTITY and not seen.identity:
        return unknown("the identity of the environment could not be read")
    if claim.subject:
        return partial(_KEYED[claim.name], claim.subject)(claim.value, seen)
    return JUDGES[claim.name](claim.value, seen)


def _observed(name: str, seen: Seen) -> str:
    """What was seen for a claim that is not stated: shown, never judged."""
    parts = rungs.PARTS.get(name)
    return rungs.combined([seen.rungs[r] for r in parts]).verdict if parts else ""
