"""The report as SARIF 2.1.0, the format that code scanning reads. Pure.

What failed is a result of level `error` at the line of the spec that states it. What could not be
checked is a result of kind `open`, as SARIF calls what nobody could decide; what passed is none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from envspec.report.plain import plain
from envspec.report.rungs import words
from envspec.sarif import SCHEMA, artefact, message
from envspec.verify.claims.model import HALLUCINATIONS, INCONCLUSIVE, UNDERCLAIM
from envspec.verify.verdicts import BLOCKED, ERROR, FAIL

_FINGERPRINT = "envspecReport/v1"
_LONGEST = 2000
_RULES = {
    "c5/overclaim": "The spec claims what is not so",
    "c5/mismatch": "The spec claims another value than the one that was seen",
    "c5/underclaim": "The spec claims less than what was seen",
    "c5/inconclusive": "A claim that could not be checked",
    "source-changed": "A run changed the source or the set of packages",
    "rebuild": "Two clean builds differ",
}


class _Found(NamedTuple):
    """``line`` is that of the spec, 0 for the whole of it; ``undecided`` is what could not be
    checked. ``key`` tells it from its like, whatever line it is on."""

    rule: str
    text: str
    line: int
    key: str
    level: str = "error"
    undecided: bool = False


def sarif(report: Mapping[str, Any]) -> dict[str, Any]:
    """The document as plain data."""
    found = list(_found(report))
    order = sorted({one.rule for one in found})
    spec = plain(report["spec"]["spec"])
    driver = {
        "name": "envspec verify",
        "version": report["envspec"],
        "rules": [
            {"id": rule, "shortDescription": {"text": message(_title(rule, report))}}
            for rule in order
        ],
    }
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "results": [_result(one, order.index(one.rule), spec) for one in found],
                "properties": {
                    "verdict": report["verdict"],
                    "environment": report["engine"]["digest"],
                    "spec_sha256": report["spec"]["spec_sha256"],
                    "lock_sha256": report["spec"]["lock_sha256"],
                },
            }
        ],
    }


def _title(rule: str, report: Mapping[str, Any]) -> str:
    if rule in _RULES:
        return _RULES[rule]
    for finding in report["findings"]:
        if finding["code"] == rule:
            return plain(finding["title"])
    name = words(rule.removeprefix("rung/"))
    return f"{name.title}: {name.holds}"


def _found(report: Mapping[str, Any]) -> Iterator[_Found]:
    for name, rung in report["rungs"].items():
        if rung["verdict"] in {FAIL, ERROR, BLOCKED}:
            text = f"{words(name).title} {rung['verdict']} ({rung['cause']}): {rung['reason']}"
            undecided = rung["verdict"] == BLOCKED
            yield _Found(f"rung/{name}", text, _line(rung), name, undecided=undecided)
    for claim in report["claims"]:
        verdict = claim["verdict"]
        if verdict in {*HALLUCINATIONS, UNDERCLAIM, INCONCLUSIVE}:
            observed = claim["observed"] or "nothing"
            text = f"{claim['name']}: claimed {claim['claimed']}, observed {observed}"
            text += f"; {claim['note']}" if claim["note"] else ""
            level = "warning" if verdict == UNDERCLAIM else "error"
            undecided = verdict == INCONCLUSIVE
            yield _Found(f"c5/{verdict}", text, claim["line"], claim["name"], level, undecided)
    for changed in report["source_changed"]:
        yield _Found("source-changed", f"changed by a run: {changed}", 0, changed)
    if report["rebuild"] and report["rebuild"]["verdict"] == FAIL:
        differences = report["rebuild"]["differences"]
        for one in differences:
            yield _Found(
                "rebuild", f"{one['file']} differs: {one['what']}", one["line"], one["file"]
            )
        if not differences:
            yield _Found("rebuild", "two clean builds are not the same bytes", 0, "")
    for finding in report["findings"]:
        parts = (finding["title"], finding["cause"], finding["hint"])
        line = finding["labels"][0]["line"] if finding["labels"] else 0
        text = ". ".join(part for part in parts if part)
        yield _Found(finding["code"], text, line, finding["title"], finding["severity"])


def _line(rung: Mapping[str, Any]) -> int:
    """The line of the entry that did not end well, where the rung names one."""
    entries = (rung["details"] or {}).get("entries")
    for entry in entries if isinstance(entries, list) else ():
        line = entry.get("line") if isinstance(entry, dict) else None
        name = entry.get("name") if isinstance(entry, dict) else None
        if isinstance(line, int) and line > 0 and f"`{name}`" in rung["reason"]:
            return line
    return 0


def _result(one: _Found, index: int, spec: str) -> dict[str, Any]:
    key = f"{one.rule}\n{one.key}".encode("utf-8", "backslashreplace")
    place: dict[str, Any] = {"artifactLocation": artefact(spec)}
    if one.line:
        place["region"] = {"startLine": one.line}
    return {
        "ruleId": one.rule,
        "ruleIndex": index,
        "kind": "open" if one.undecided else "fail",
        # A result that is no failure has no level.
        "level": "none" if one.undecided else one.level,
        "message": {"text": message(plain(one.text)[:_LONGEST]) or "–"},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {_FINGERPRINT: hashlib.sha256(key).hexdigest()},
    }
