"""The words of a judgement. Only `PASS` counts as a pass."""

from __future__ import annotations

from typing import Any, NamedTuple

PASS = "pass"  # noqa: S105 - a verdict, not a password
FAIL = "fail"
BLOCKED = "blocked"
NOT_APPLICABLE = "n/a"
ERROR = "error"

ENVIRONMENT = "environment"
REPOSITORY = "repository"
ASSET = "asset"
HARDWARE = "hardware"
NETWORK = "network"
HARNESS = "harness"

CAUSES = (ENVIRONMENT, REPOSITORY, ASSET, HARDWARE, NETWORK, HARNESS)

RUNGS = ("c0_static", "c0_live", "c1", "c2_static", "c2_live", "c3", "c4")


class Rung(NamedTuple):
    """One rung's verdict. ``cause`` is empty for a pass; ``reason`` is a sentence that says
    what was seen; ``evidence`` names the probe runs behind it; ``details`` is data for the
    report."""

    name: str
    verdict: str
    cause: str
    reason: str
    evidence: tuple[str, ...] = ()
    details: dict[str, Any] = {}  # noqa: RUF012 - never changed; a NamedTuple copies nothing


def passed(name: str, reason: str, evidence: tuple[str, ...], **details: Any) -> Rung:
    """A pass, with what was seen."""
    return Rung(name, PASS, "", reason, evidence, details)


def failed(name: str, cause: str, reason: str, evidence: tuple[str, ...], **details: Any) -> Rung:
    """A fail, with whose fault it is."""
    return Rung(name, FAIL, cause, reason, evidence, details)


def blocked(name: str, cause: str, reason: str) -> Rung:
    """Could not be checked here."""
    return Rung(name, BLOCKED, cause, reason)


def not_applicable(name: str, reason: str) -> Rung:
    """The spec says that the rung does not apply."""
    return Rung(name, NOT_APPLICABLE, "", reason)


def broken(name: str, reason: str, evidence: tuple[str, ...]) -> Rung:
    """The harness itself broke: neither pass nor fail."""
    return Rung(name, ERROR, HARNESS, reason, evidence)
