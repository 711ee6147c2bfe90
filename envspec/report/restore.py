"""A report that was read → the values it was written from. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envspec.build.protocol import Difference, Rebuilt
from envspec.verify.claims.model import Judgement, Provenance, Seen
from envspec.verify.pyramid import Outcome
from envspec.verify.session import Evidence
from envspec.verify.verdicts import Rung


def outcome(report: Mapping[str, Any]) -> Outcome:
    """What the verification found. ``report`` has passed `envspec.report.reader`."""
    rungs = {name: _rung(name, rung) for name, rung in report["rungs"].items()}
    about = {**report["seen"]}
    about["modules"] = {m["name"]: m["loaded"] for m in about["modules"]}
    origin = Provenance(**report["seen"]["provenance"])
    return Outcome(
        rungs,
        [Judgement(**claim) for claim in report["claims"]],
        [_evidence(record) for record in report["evidence"]],
        tuple(report["source_changed"]),
        Seen(rungs=rungs, identity=report["identity"] or {}, **{**about, "provenance": origin}),
    )


def rebuilt(report: Mapping[str, Any]) -> Rebuilt | None:
    """Two builds and how they compare; None where nobody asked. Only the differences that the
    report names are there."""
    found = report["rebuild"]
    if found is None:
        return None
    first, second = found["digests"]
    return Rebuilt(
        (first, second), tuple(Difference(**d) for d in found["differences"]), found["seconds"]
    )


def _rung(name: str, rung: Mapping[str, Any]) -> Rung:
    evidence, details = tuple(rung["evidence"]), rung["details"] or {}
    return Rung(name, rung["verdict"], rung["cause"] or "", rung["reason"], evidence, details)


def _evidence(record: Mapping[str, Any]) -> Evidence:
    lists = {key: tuple(record[key]) for key in ("argv", "environment")}
    return Evidence(**{**record, **lists})
