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


class _Ended(NamedTuple):
    """What one entry's run is worth. ``verdict`` is pass, fail or error."""

    verdict: str
    cause: str = ""
    reason: str = ""


def entries(name: str, runs: Iterable[Ran], own: frozenset[str]) -> Rung:
    """A rung whose entries were run: all of them must end well. ``own`` are the top-level
    packages of the repository."""
    ran = list(runs)
    evidence = tuple(r.evidence for r in ran)
    ended = [_ended(run, own) for run in ran]
    for run, end in zip(ran, ended, strict=True):
        if end.verdict == verdicts.ERROR:
            return verdicts.broken(name, f"entry `{run.entry.name}`: {end.reason}", evidence)
    details = {"entries": records(ran, own)}
    for run, end in zip(ran, ended, strict=True):
        if end.verdict == verdicts.FAIL:
            reason = f"entry `{run.entry.name}`: {end.reason}"
            return verdicts.failed(name, end.cause, reason, evidence, **details)
    said = ", ".join(f"`{r.entry.name}` ended with status {r.entry.expect.status}" for r in ran)
    expected = sum(len(r.entry.expect.files) + len(r.entry.expect.output) for r in ran)
    said += f", and showed what is expected ({expected})" if expected else ""
    return verdicts.passed(name, said, evidence, **details)


def records(runs: Iterable[Ran], own: frozenset[str]) -> list[dict[str, Any]]:
    """What a report says of each entry."""
    return [_record(run, _ended(run, own)) for run in runs]


def _ended(run: Ran, own: frozenset[str]) -> _Ended:
    """Nothing that broke the probe is held against the entry."""
    if not run.observation.usable:
        return _Ended(verdicts.ERROR, verdicts.HARNESS, run.observation.error)
    seen = run.observation.observed
    start = seen.get("start_error") or {}
    if start and run.cwd in str(start.get("message")):
        reason = f"its folder cannot be entered: {start['message']}"[:380]
        return _Ended(verdicts.ERROR, verdicts.HARNESS, reason)
    wanted = run.entry.expect.status
    good = seen.get("exit_code") == wanted and not seen.get("signal")
    if not good or seen.get("timed_out") or start:
        return _Ended(verdicts.FAIL, *_ending(seen, wanted, own))
    lacking = _lacking(run)
    if lacking:
        return _Ended(verdicts.FAIL, verdicts.ENVIRONMENT, lacking)
    return _Ended(verdicts.PASS)


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


def _record(run: Ran, ended: _Ended) -> dict[str, Any]:
    seen = run.observation.observed
    kept = ("exit_code", "signal", "timed_out", "seconds", "peak_rss_kb", "exception")
    said = {"verdict": ended.verdict, "cause": ended.cause or None, "reason": ended.reason}
    about = {"name": run.entry.name, "line": run.entry.line}
    return {**about, **said, **{k: seen.get(k) for k in kept}}
