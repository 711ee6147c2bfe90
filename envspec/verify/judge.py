"""Observations → rungs C0, C1, C2 live, C3 and C4. Pure: evidence in, verdicts out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from envspec.plan.model import Entry
from envspec.verify import verdicts
from envspec.verify.attribute import attribute
from envspec.verify.results import Observation
from envspec.verify.verdicts import Rung

# How an import may be missing without being required.
FRAMEWORKS = ("torch", "jax", "tensorflow")
_EXCUSED = ("optional", "guarded", "type_checking", "platform", "first_party")


class Ran(NamedTuple):
    """An entry and what the probe saw of it; ``evidence`` names the run, ``cwd`` is where it
    was started."""

    entry: Entry
    observation: Observation
    evidence: str
    cwd: str


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


def c2_live(observation: Observation, evidence: tuple[str, ...]) -> Rung:
    """Whether every framework sees the GPU."""
    name = "c2_live"
    if not observation.usable:
        return verdicts.broken(name, observation.error, evidence)
    seen = observation.observed
    frameworks = {k: seen[k] for k in FRAMEWORKS if seen.get(k)}
    counts = {k: int(v.get("device_count") or 0) for k, v in frameworks.items()}
    details = {"driver": seen.get("driver"), "frameworks": frameworks}
    if not frameworks:
        reason = "no framework is installed that could see a GPU"
        return verdicts.failed(name, verdicts.ENVIRONMENT, reason, evidence, **details)
    blind = [k for k, count in counts.items() if count == 0]
    if blind:
        reason = f"{', '.join(blind)} sees no GPU"
        return verdicts.failed(name, verdicts.ENVIRONMENT, reason, evidence, **details)
    reason = ", ".join(f"{k} sees {count}" for k, count in counts.items())
    return verdicts.passed(name, reason, evidence, **details)


def c3(
    observation: Observation, evidence: tuple[str, ...], runs: list[Ran], own: frozenset[str]
) -> Rung:
    """Whether a kernel runs on one GPU, and then the entry. A failure names its layer."""
    name = "c3"
    if not observation.usable:
        return verdicts.broken(name, observation.error, evidence)
    stages = observation.observed.get("stages")
    if not isinstance(stages, dict) or not stages:
        return verdicts.broken(name, "the probe named no stage", evidence)
    for stage, result in stages.items():
        if not result.get("ok"):
            reason = f"{stage}: {str(result.get('error'))[:300]}"
            return verdicts.failed(name, verdicts.ENVIRONMENT, reason, evidence, stages=stages)
    if not runs:
        return verdicts.passed(
            name, "a kernel ran; the spec has no c3 entry", evidence, stages=stages
        )
    return entries(name, runs, own)


def c4(
    observation: Observation, evidence: tuple[str, ...], runs: list[Ran], own: frozenset[str]
) -> Rung:
    """Whether a collective runs over the GPUs, then the entry. Names the rank that did not."""
    name = "c4"
    if not observation.usable:
        return verdicts.broken(name, observation.error, evidence)
    ranks = observation.observed.get("ranks")
    if not isinstance(ranks, list) or len(ranks) < 2:
        return verdicts.broken(name, "fewer than two ranks reported", evidence)
    wrong = [r for r in ranks if not r.get("ok")]
    if wrong:
        reason = "; ".join(f"rank {r.get('rank')}: {str(r.get('error'))[:200]}" for r in wrong[:3])
        return verdicts.failed(name, verdicts.ENVIRONMENT, reason, evidence, ranks=ranks)
    if not runs:
        return verdicts.passed(
            name, "an all-reduce ran; the spec has no c4 entry", evidence, ranks=ranks
        )
    return entries(name, runs, own)
