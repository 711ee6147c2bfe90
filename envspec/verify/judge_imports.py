"""Observations → C0, static and live. Pure: evidence in, verdicts out."""

from __future__ import annotations

from typing import Any

from envspec.verify import verdicts
from envspec.verify.results import Observation
from envspec.verify.verdicts import Rung

# How an import may be missing without being required.
_EXCUSED = ("optional", "guarded", "type_checking", "platform", "first_party")


def c0_static(observation: Observation, evidence: tuple[str, ...]) -> Rung:
    """Whether every import is there. No file analysed, or another interpreter, is an error."""
    name = "c0_static"
    if not observation.usable:
        return verdicts.broken(name, observation.error, evidence)
    seen = observation.observed
    if not seen.get("files_analyzed"):
        return verdicts.broken(name, "no file was analysed", evidence)
    if not seen.get("bound"):
        return verdicts.broken(name, "pyright used another interpreter", evidence)
    if "missing" in (seen.get("cut") or []):
        return verdicts.broken(name, "more is missing than a result can hold", evidence)
    missing: dict[str, list[str]] = {}
    for item in seen.get("missing") or []:
        missing.setdefault(str(item.get("classification")), []).append(str(item.get("top")))
    required = sorted(set(missing.get("required", [])))
    details: dict[str, Any] = {
        "missing": len(required),
        "missing_names": required,
        **{kind: sorted(set(missing.get(kind, []))) for kind in _EXCUSED},
        "files": seen.get("files_analyzed"),
        "distinct_top_level": seen.get("distinct_top_level"),
        "researchenvbench_missing": seen.get("missing_top_level"),
        "envbench_diagnostics": seen.get("diagnostic_count"),
        "missing_source": seen.get("missing_source_top_level"),
        "syntax_errors": seen.get("syntax_errors"),
        "skipped": seen.get("skipped"),
        "pyright": seen.get("pyright_version"),
    }
    if required:
        reason = f"{len(required)} missing: {', '.join(required[:8])}"
        return verdicts.failed(name, verdicts.ENVIRONMENT, reason, evidence, **details)
    unread = [str(s.get("file")) for s in seen.get("skipped") or []]
    if unread:
        # An import in a file that nobody read may be missing: that is no pass.
        reason = f"{len(unread)} Python files could not be read: {', '.join(unread[:4])}"
        return Rung(name, verdicts.BLOCKED, verdicts.HARNESS, reason, evidence, details)
    apart = [f"{len(details[k])} {k}" for k in ("guarded", "optional") if details[k]]
    reason = f"{seen['files_analyzed']} files, nothing missing"
    reason += f" ({', '.join(apart)})" if apart else ""
    return verdicts.passed(name, reason, evidence, **details)


def c0_live(observation: Observation, evidence: tuple[str, ...], names: list[str]) -> Rung:
    """Whether every one of ``names`` loads. A name without a record is not loaded."""
    name = "c0_live"
    if not observation.usable:
        return verdicts.broken(name, observation.error, evidence)
    results = {str(r.get("name")): r for r in observation.observed.get("results") or []}
    absent = [n for n in names if n not in results]
    if absent:
        return verdicts.broken(name, f"no record of: {', '.join(absent[:5])}", evidence)
    wrong = [results[n] for n in names if results[n].get("outcome") != "ok"]
    details = {"imports": names, "failed": wrong}
    if wrong:
        reason = "; ".join(_import_failure(i) for i in wrong[:4])
        return verdicts.failed(name, verdicts.ENVIRONMENT, reason, evidence, **details)
    if not names:
        return verdicts.passed(
            name, "the source imports nothing but the standard library", evidence
        )
    return verdicts.passed(name, f"{len(names)} imports load", evidence, **details)


def _import_failure(item: dict[str, Any]) -> str:
    name, outcome = item.get("name"), item.get("outcome")
    if outcome == "missing":
        return f"`{name}` is not installed"
    if outcome == "missing_dependency":
        return f"`{name}` needs `{item.get('missing')}`, which is not installed"
    if outcome == "timeout":
        return f"`{name}` did not load in time"
    if outcome == "crash":
        return f"`{name}` crashed with signal {item.get('signal')}"
    if outcome == "exit":
        return f"`{name}` ends the program when imported"
    return f"`{name}`: {item.get('type')}: {str(item.get('message'))[:200]}"
