"""C5: what the spec claims against what the probes saw. Pure.

Only stated claims are judged. Overclaim and mismatch are hallucinations, nothing else is; what
could not be checked is inconclusive and never confirmed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from envspec.plan.model import INTERPRETER, Claim
from envspec.verify.verdicts import (
    BLOCKED,
    ENVIRONMENT,
    FAIL,
    NOT_APPLICABLE,
    PASS,
    REPOSITORY,
    Rung,
)

CONFIRMED = "confirmed"
OVERCLAIM = "overclaim"
MISMATCH = "mismatch"
UNDERCLAIM = "underclaim"
INCONCLUSIVE = "inconclusive"
UNSTATED = "unstated"
HALLUCINATIONS = (OVERCLAIM, MISMATCH)

_RUNGS = {
    "c0": ("c0_static", "c0_live"),
    "c1": ("c1",),
    "c2": ("c2_static", "c2_live"),
    "c3": ("c3",),
    "c4": ("c4",),
}
# The three classes in which ResearchEnvBench counts contradictions.
CLASSES = {
    "python_path": "path",
    "python_version": "version",
    "torch_version": "version",
}


_NEED_TORCH = ("torch_version", "cuda_available", "gpu_count")


class Judgement(NamedTuple):
    """One claim, what was seen, and the verdict. ``note`` is a sentence, perhaps empty."""

    name: str
    claimed: str
    observed: str
    verdict: str
    note: str
    line: int


class Seen(NamedTuple):
    """What claims are held against.

    ``identity`` is the observation of the identity probe (empty where it could not look),
    ``interpreter`` whether the claimed interpreter path is this environment's, None where
    that was not tried.
    """

    rungs: Mapping[str, Rung]
    identity: Mapping[str, Any]
    interpreter: bool | None
    gpu_present: bool
    accelerator: str


def judge(claims: tuple[Claim, ...], seen: Seen, claimable: tuple[str, ...]) -> list[Judgement]:
    """A judgement for every claimable name, in that order."""
    stated = {c.name: c for c in claims}
    result = []
    for name in claimable:
        claim = stated.get(name)
        if claim is None or claim.value == UNSTATED:
            line = claim.line if claim else 0
            result.append(Judgement(name, "", _observed(name, seen), UNSTATED, "", line))
            continue
        observed, verdict, note = _judge(claim, seen)
        result.append(Judgement(name, claim.value, observed, verdict, note, claim.line))
    return result


def scores(judgements: list[Judgement]) -> dict[str, Any]:
    """Counts and rates, beside them ResearchEnvBench's three classes."""
    count = {
        verdict: sum(j.verdict == verdict for j in judgements)
        for verdict in (CONFIRMED, OVERCLAIM, MISMATCH, UNDERCLAIM, INCONCLUSIVE, UNSTATED)
    }
    stated = len(judgements) - count[UNSTATED]
    wrong = [j for j in judgements if j.verdict in HALLUCINATIONS]
    classes = dict.fromkeys(("path", "version", "capability"), 0)
    for judgement in wrong:
        classes[CLASSES.get(judgement.name, "capability")] += 1
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
        "researchenvbench": classes,
    }


def _judge(claim: Claim, seen: Seen) -> tuple[str, str, str]:
    """(observed, verdict, note) of a stated claim."""
    if claim.name in _RUNGS:
        return _rung(claim, seen)
    if claim.name == "c0_missing":
        return _missing(claim, seen)
    if not seen.identity:
        return "", INCONCLUSIVE, "the identity of the environment could not be read"
    if claim.name in _NEED_TORCH and _timed_out(seen):
        return "", INCONCLUSIVE, "torch did not load in the time that the probe has"
    if claim.name == "python_path":
        return _python_path(claim, seen)
    if claim.name == "python_version":
        return _python_version(claim, seen)
    if claim.name == "torch_version":
        return _torch_version(claim, seen)
    if claim.name == "cuda_available":
        return _cuda(claim, seen)
    return _gpu_count(claim, seen)


def _observed(name: str, seen: Seen) -> str:
    """What was seen for a claim that is not stated: shown, never judged."""
    rungs = _RUNGS.get(name)
    return _combined([seen.rungs[r] for r in rungs]).verdict if rungs else ""


def _combined(rungs: list[Rung]) -> Rung:
    """The worst of several rungs; what does not apply is left out where anything does."""
    order = ("error", FAIL, BLOCKED, PASS)
    applicable = [r for r in rungs if r.verdict != NOT_APPLICABLE]
    if not applicable:
        return rungs[0]
    return min(applicable, key=lambda r: order.index(r.verdict))


def _rung(claim: Claim, seen: Seen) -> tuple[str, str, str]:
    rung = _combined([seen.rungs[name] for name in _RUNGS[claim.name]])
    hopeful = claim.value == PASS
    if rung.verdict == PASS:
        return PASS, CONFIRMED if hopeful else UNDERCLAIM, ""
    if rung.verdict == FAIL and rung.cause in {ENVIRONMENT, REPOSITORY}:
        return FAIL, OVERCLAIM if hopeful else CONFIRMED, rung.reason
    if rung.verdict == NOT_APPLICABLE and hopeful and _impossible(claim.name, seen):
        return NOT_APPLICABLE, OVERCLAIM, "the spec itself says `accelerator none`"
    return rung.verdict, INCONCLUSIVE, rung.reason


def _impossible(name: str, seen: Seen) -> bool:
    return name in {"c3", "c4"} and seen.accelerator == "none"


def _missing(claim: Claim, seen: Seen) -> tuple[str, str, str]:
    rung = seen.rungs["c0_static"]
    number = rung.details.get("missing")
    if not isinstance(number, int):
        return "", INCONCLUSIVE, rung.reason
    claimed = int(claim.value)
    if rung.verdict == BLOCKED and number <= claimed:
        return f"at least {number}", INCONCLUSIVE, rung.reason
    names = ", ".join(rung.details.get("missing_names", [])[:10])
    if number == claimed:
        return str(number), CONFIRMED, ""
    return str(number), OVERCLAIM if number > claimed else UNDERCLAIM, names


def _python_path(claim: Claim, seen: Seen) -> tuple[str, str, str]:
    if seen.interpreter is None:
        return "", INCONCLUSIVE, "the claimed interpreter was not tried"
    if seen.interpreter:
        return claim.value, CONFIRMED, ""
    return INTERPRETER, MISMATCH, "the claimed path is not this environment's interpreter"


def _python_version(claim: Claim, seen: Seen) -> tuple[str, str, str]:
    observed = str(seen.identity.get("python_version") or "")
    claimed = claim.value.split(".")
    same = observed.split(".")[: len(claimed)] == claimed
    return observed, CONFIRMED if same else MISMATCH, ""


def _framework(seen: Seen) -> Mapping[str, Any] | None:
    torch = seen.identity.get("torch")
    return torch if isinstance(torch, dict) else None


def _timed_out(seen: Seen) -> bool:
    """A slow machine is no evidence against a claim."""
    error = (_framework(seen) or {}).get("error")
    return isinstance(error, dict) and error.get("type") == "Timeout"


def _torch_version(claim: Claim, seen: Seen) -> tuple[str, str, str]:
    torch = _framework(seen)
    if torch is None:
        return "absent", MISMATCH, "torch is not installed"
    if torch.get("error") or not torch.get("version"):
        return "broken", MISMATCH, "torch is installed and does not import"
    return _compare_versions(claim.value, str(torch["version"]))


def _compare_versions(claimed: str, observed: str) -> tuple[str, str, str]:
    """Public releases decide; a local tag counts only where the claim states one."""
    from packaging.version import InvalidVersion, Version  # noqa: PLC0415 - verify only

    try:
        wanted, got = Version(claimed), Version(observed)
    except InvalidVersion:
        return observed, CONFIRMED if claimed == observed else MISMATCH, ""
    if Version(wanted.public) != Version(got.public):
        return observed, MISMATCH, ""
    if wanted.local and wanted.local != got.local:
        return observed, MISMATCH, "same release, another build"
    note = f"the build `{got.local}` was not stated" if got.local and not wanted.local else ""
    return observed, CONFIRMED, note


def _cuda(claim: Claim, seen: Seen) -> tuple[str, str, str]:
    torch = _framework(seen)
    available = bool(torch and torch.get("cuda_available"))
    observed = "true" if available else "false"
    if claim.value == observed:
        return observed, CONFIRMED, ""
    if available:
        return observed, UNDERCLAIM, ""
    if torch and torch.get("cuda") and not seen.gpu_present:
        return observed, INCONCLUSIVE, "torch is a CUDA build, and this machine has no GPU"
    return observed, OVERCLAIM, "torch is a CPU build" if torch else "torch is not installed"


def _gpu_count(claim: Claim, seen: Seen) -> tuple[str, str, str]:
    torch = _framework(seen)
    count = int((torch or {}).get("device_count") or 0)
    claimed = int(claim.value)
    if claimed == count:
        return str(count), CONFIRMED, ""
    if count > claimed:
        return str(count), UNDERCLAIM, ""
    if torch and torch.get("cuda") and not seen.gpu_present:
        return str(count), INCONCLUSIVE, "this machine has no GPU"
    return str(count), OVERCLAIM, ""
