"""Claims about rungs, and about the entries and modules that rungs ran."""

from __future__ import annotations

from functools import partial
from typing import Any

from envspec.verify.claims.model import (
    CONFIRMED,
    MISMATCH,
    OVERCLAIM,
    UNDERCLAIM,
    Judge,
    Seen,
    Verdict,
    unknown,
)
from envspec.verify.verdicts import (
    BLOCKED,
    ENVIRONMENT,
    ERROR,
    FAIL,
    NOT_APPLICABLE,
    PASS,
    REPOSITORY,
    Rung,
)

PARTS = {
    "c0": ("c0_static", "c0_live"),
    "c1": ("c1",),
    "c2": ("c2_static", "c2_live"),
    "c3": ("c3",),
    "c4": ("c4",),
}
"""The rungs that a claim is about."""

_BACKEND = "nccl"
"""What the collective of C4 runs over."""


def combined(rungs: list[Rung]) -> Rung:
    """The worst of several rungs; what does not apply is left out where anything does."""
    order = (ERROR, FAIL, BLOCKED, PASS)
    applicable = [r for r in rungs if r.verdict != NOT_APPLICABLE]
    if not applicable:
        return rungs[0]
    return min(applicable, key=lambda r: order.index(r.verdict))


def _rung(name: str, claimed: str, seen: Seen) -> Verdict:
    rung = combined([seen.rungs[part] for part in PARTS[name]])
    impossible = name in {"c3", "c4"} and seen.accelerator == "none"
    return _judged(claimed, rung.verdict, rung.cause, rung.reason, impossible=impossible)


def _judged(
    claimed: str, verdict: str, cause: str, reason: str, *, impossible: bool = False
) -> Verdict:
    """A failure counts only where it is the environment's or the repository's own."""
    hopeful = claimed == PASS
    if verdict == PASS:
        return Verdict(PASS, CONFIRMED if hopeful else UNDERCLAIM)
    if verdict == FAIL and cause in {ENVIRONMENT, REPOSITORY}:
        return Verdict(FAIL, OVERCLAIM if hopeful else CONFIRMED, reason)
    if verdict == NOT_APPLICABLE and hopeful and impossible:
        return Verdict(NOT_APPLICABLE, OVERCLAIM, "the spec itself says `accelerator none`")
    return unknown(reason, verdict)


def _missing(claimed: str, seen: Seen) -> Verdict:
    rung = seen.rungs["c0_static"]
    number = rung.details.get("missing")
    if not isinstance(number, int):
        return unknown(rung.reason)
    if rung.verdict == BLOCKED and number <= int(claimed):
        return unknown(rung.reason, f"at least {number}")
    names = ", ".join(rung.details.get("missing_names", [])[:10])
    if number == int(claimed):
        return Verdict(str(number), CONFIRMED)
    return Verdict(str(number), OVERCLAIM if number > int(claimed) else UNDERCLAIM, names)


def entry(name: str, claimed: str, seen: Seen) -> Verdict:
    """One entry, by the record that its rung kept of it."""
    for level in ("c1", "c3", "c4"):
        rung = seen.rungs[level]
        for record in rung.details.get("entries") or []:
            if record.get("name") == name:
                return _judged(claimed, *_record(record))
    blocked = next((r for r in seen.rungs.values() if r.verdict == BLOCKED), None)
    return unknown(f"it was not run: {blocked.reason}" if blocked else "it was not run")


def _record(record: dict[str, Any]) -> tuple[str, str, str]:
    return str(record["verdict"]), str(record.get("cause") or ""), str(record.get("reason") or "")


def module(name: str, claimed: str, seen: Seen) -> Verdict:
    """A compiled module, which loads or does not."""
    loaded = seen.modules.get(name)
    if loaded is None:
        return unknown("it was not imported")
    if loaded:
        return Verdict(PASS, CONFIRMED if claimed == PASS else UNDERCLAIM)
    return Verdict(FAIL, OVERCLAIM if claimed == PASS else CONFIRMED)


def _processes(claimed: str, seen: Seen) -> Verdict:
    """A collective over fewer processes than claimed says nothing of more."""
    rung = seen.rungs["c4"]
    if rung.verdict != PASS:
        return _judged(
            PASS, rung.verdict, rung.cause, rung.reason, impossible=seen.accelerator == "none"
        )
    ranks = len(rung.details.get("ranks") or []) or 2
    ran = max(ranks, seen.processes)
    if int(claimed) <= ran:
        return Verdict(str(ran), CONFIRMED)
    return unknown(f"no run here had more than {ran} processes", str(ran))


def _backend(claimed: str, seen: Seen) -> Verdict:
    rung = seen.rungs["c4"]
    if rung.verdict == PASS:
        return Verdict(_BACKEND, CONFIRMED if claimed == _BACKEND else MISMATCH)
    if claimed != _BACKEND:
        return unknown(f"C4 runs over {_BACKEND} alone")
    return _judged(
        PASS, rung.verdict, rung.cause, rung.reason, impossible=seen.accelerator == "none"
    )


JUDGES: dict[str, Judge] = {
    "c0_missing": _missing,
    **{name: partial(_rung, name) for name in PARTS},
    "c4_processes": _processes,
    "c4_backend": _backend,
}
