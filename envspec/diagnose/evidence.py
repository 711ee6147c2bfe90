"""A report → what failed in it. The only place that knows how `report.json` is made.

A report is hostile: it is read with a bound on its size and depth, and whatever in it is not of the
shape that it should have is passed over.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from envspec.diagnose import log
from envspec.diagnose.engine import Outcome, diagnose, state
from envspec.diagnose.entry import missing, of_entry
from envspec.facts.failures import sign

MOST_BYTES = 32 << 20
DEPTH = 40
_FAILED = ("fail", "error")
_MOST = 40  # diagnoses of one report
_CHECKS = {
    "tags": "wheel-tags",
    "glibc": "base-glibc",
    "one CUDA major": "two-cuda-majors",
    "torch build": "cpu-build",
    "driver": "driver-floor",
}


class Unreadable(Exception):  # noqa: N818 - reads as what it is, and is never shown
    """Bytes that are no report; the message says why."""


class Failure(NamedTuple):
    """One thing that failed: its rung, the entry (empty: none), what was seen, what it says."""

    rung: str
    entry: str
    seen: str
    outcome: Outcome


def parse(data: bytes) -> dict[str, Any]:
    """A report from its bytes.

    Raises:
        Unreadable: it is too large, no JSON, nested too deep, or no report.
    """
    if len(data) > MOST_BYTES:
        raise Unreadable(f"it is larger than {MOST_BYTES >> 20} MiB")
    found = _json(data)
    if not isinstance(found, dict) or not isinstance(found.get("rungs"), dict):
        raise Unreadable("it has no `rungs`: it is not a report of `envspec verify`")
    if found.get("schema") != 1:
        raise Unreadable("its schema is not 1, the one that this version reads")
    return found


def _json(data: bytes) -> Any:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        raise Unreadable("it is not JSON, or nested too deep") from None
    level = [found]
    for _ in range(DEPTH):
        level = [
            inner
            for item in level
            if isinstance(item, dict | list)
            for inner in (item.values() if isinstance(item, dict) else item)
        ]
        if not level:
            return found
    raise Unreadable(f"it is nested deeper than {DEPTH}")


def logs(report: Mapping[str, Any]) -> dict[str, str]:
    """The logs that a report names: the name of a run → the name of its file, a plain one."""
    found: dict[str, str] = {}
    for item in _list(report.get("evidence")):
        name, file = item.get("id"), item.get("log")
        if not isinstance(name, str) or not isinstance(file, str) or not file.isprintable():
            continue
        if not set(file) & set("/\\") and file not in {"", ".", ".."} and len(file) < 200:
            found[name] = file
    return dict(list(found.items())[:_MOST])


def failures(report: Mapping[str, Any], texts: Mapping[str, bytes]) -> list[Failure]:
    """What failed, in the order of the rungs. ``texts`` are the logs, by the name of their run."""
    seen = {name: _observed(data) for name, data in texts.items()}
    own = _own(seen.get("c0_static", {}))
    found: list[Failure] = []
    for name, rung in _mapping(report.get("rungs")).items():
        if isinstance(rung, dict) and rung.get("verdict") in _FAILED:
            found += _rung(str(name)[:40], rung, seen, own)
    return found[:_MOST]


def _rung(
    name: str, rung: Mapping[str, Any], seen: Mapping[str, Any], own: Collection[str]
) -> Iterator[Failure]:
    reason = str(rung.get("reason") or "")
    details = _mapping(rung.get("details"))
    if rung.get("verdict") == "error":
        memory = "ran out of memory" in reason
        told = "sandbox-memory" if memory else "probe-silent"
        yield Failure(name, "", reason, Outcome(state(sign(told), {"why": reason[:200]})))
        return
    made = [
        *_imports(name, details, own),
        *_checks(name, details),
        *_entries(name, details, seen, own),
    ]
    if not made:
        texts = [reason, *_errors(details)]
        text = "\n".join(texts).encode("utf-8", "replace")
        made = [Failure(name, "", reason, diagnose(log.read(f"{name}: what was seen", text)))]
    yield from made


def _imports(name: str, details: Mapping[str, Any], own: Collection[str]) -> Iterator[Failure]:
    for module in _words(details.get("missing_names")):
        yield Failure(name, "", f"`{module}` is missing", Outcome(missing(module, own)))
    for item in _list(details.get("failed")):
        module, outcome = str(item.get("name")), item.get("outcome")
        shown = f"`{module}` does not load"
        if outcome in {"missing", "missing_dependency"}:
            absent = str(item.get("missing") or module)
            yield Failure(name, "", shown, Outcome(missing(absent, own)))
        elif outcome == "timeout":
            yield Failure(name, "", shown, Outcome(state(sign("import-slow"), {"module": module})))
        else:
            kind, message = item.get("type") or "", item.get("message") or ""
            error = f"{kind}: {message}\n{item.get('stderr') or ''}".encode("utf-8", "replace")
            yield Failure(name, "", shown, diagnose(log.read(f"import of {module}", error)))


def _checks(name: str, details: Mapping[str, Any]) -> Iterator[Failure]:
    for item in _list(details.get("checks")):
        if item.get("fits") is False:
            check, text = str(item.get("name")), str(item.get("text"))[:300]
            told = "gpu-without-code" if check.startswith("gpu ") else _CHECKS.get(check)
            values = {"why": text, "sm": check.removeprefix("gpu sm_")}
            outcome = Outcome(state(sign(told), values)) if told else Outcome(None)
            yield Failure(name, "", text, outcome)


def _entries(
    name: str, details: Mapping[str, Any], seen: Mapping[str, Any], own: Collection[str]
) -> Iterator[Failure]:
    for item in _list(details.get("entries")):
        entry = str(item.get("name"))[:80]
        observed = {**item, **_mapping(seen.get(f"{name}-{entry}"))}
        bad = observed.get("exit_code") != 0 or observed.get("timed_out") or observed.get("signal")
        if bad:
            shown = f"entry `{entry}`"
            yield Failure(name, entry, shown, of_entry(observed, own, f"{name}-{entry}, stderr"))


def _errors(details: Mapping[str, Any]) -> Iterator[str]:
    stages = _mapping(details.get("stages")).values()
    for item in (
        *stages,
        *_list(details.get("ranks")),
        *_mapping(details.get("frameworks")).values(),
    ):
        error = item.get("error") if isinstance(item, dict) else None
        if isinstance(error, dict):
            yield f"{error.get('type')}: {error.get('message')}"
        elif isinstance(error, str):
            yield error


def _observed(data: bytes) -> Mapping[str, Any]:
    try:
        whole = _json(data[: MOST_BYTES + 1])
    except Unreadable:
        return {}
    return _mapping(_mapping(whole).get("observed"))


def _own(static: Mapping[str, Any]) -> frozenset[str]:
    imports = _list(static.get("imports"))
    return frozenset(str(i.get("top")) for i in imports if i.get("origin") == "first_party")


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _words(value: Any) -> list[str]:
    return (
        [item[:120] for item in value if isinstance(item, str)] if isinstance(value, list) else []
    )
