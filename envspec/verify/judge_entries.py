"""Entries that were run → C1, and the last step of C3 and C4. Pure: evidence in, verdicts out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from envspec.plan.model import Entry
from envspec.verify import verdicts
from envspec.verify.attribute import attribute
from envspec.verify.results import Observation
from envspec.verify.verdicts import Rung


class Ran(NamedTuple):
    """An entry and what the probe saw of it; ``evidence`` names the run, ``cwd`` is where it
    was started."""

    entry: Entry
    observation: Observation
    evidence: str
    cwd: str


def entries(name: str, runs: Iterable[Ran], own: frozenset[str]) -> Rung:
    """A rung whose entries were run: all of them must end well. ``own`` are the top-level
    packages of the repository."""
    ran = list(runs)
    evidence = tuple(r.evidence for r in ran)
    for run in ran:
        if not run.observation.usable:
            reason = f"entry `{run.entry.name}`: {run.observation.error}"
            return verdicts.broken(name, reason, evidence)
        start = run.observation.observed.get("start_error") or {}
        if start and run.cwd in str(start.get("message")):
            reason = f"entry `{run.entry.name}`: its folder cannot be entered: {start['message']}"
            return verdicts.broken(name, reason[:400], evidence)
    details = {"entries": [_entry(r) for r in ran]}
    for run in ran:
        seen = run.observation.observed
        wanted = run.entry.expect.status
        ended = seen.get("exit_code") == wanted and not seen.get("signal")
        if not ended or seen.get("timed_out") or seen.get("start_error"):
            cause, why = _ending(seen, wanted, own)
            reason = f"entry `{run.entry.name}`: {why}"
            return Rung(name, verdicts.FAIL, cause, reason, evidence, details)
    for run in ran:
        lacking = _lacking(run)
        if lacking:
            reason = f"entry `{run.entry.name}`: {lacking}"
            return verdicts.failed(name, verdicts.ENVIRONMENT, reason, evidence, **details)
    said = ", ".join(f"`{r.entry.name}` ended with status {r.entry.expect.status}" for r in ran)
    expected = sum(len(r.entry.expect.files) + len(r.entry.expect.output) for r in ran)
    said += f", and showed what is expected ({expected})" if expected else ""
    return verdicts.passed(name, said, evidence, **details)


def _ending(seen: dict[str, Any], wanted: int, own: frozenset[str]) -> tuple[str, str]:
    """Why an entry did not end as expected: a status of 0 has no fault in it to attribute."""
    if seen.get("exit_code") == 0 and not seen.get("timed_out"):
        return verdicts.ENVIRONMENT, f"it ended with status 0, and {wanted} is expected"
    cause, why = attribute(seen, own)
    return cause, why


def _lacking(run: Ran) -> str:
    """What an entry should have shown and did not. Not looked at is not shown."""
    files, output = (run.observation.observed.get(k) or {} for k in ("files", "output"))
    for path in run.entry.expect.files:
        if files.get(path) is not True:
            return f"it left no file `/tmp/{path}`"
    for pattern in run.entry.expect.output:
        if output.get(pattern) is not True:
            return f"its output does not match `{pattern[:100]}`"
    return ""


def _entry(run: Ran) -> dict[str, Any]:
    seen = run.observation.observed
    kept = ("exit_code", "signal", "timed_out", "seconds", "peak_rss_kb", "exception")
    return {"name": run.entry.name, "line": run.entry.line, **{k: seen.get(k) for k in kept}}
