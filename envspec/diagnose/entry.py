"""What a probe saw of an entry → what went wrong. Pure; knows neither the language nor the lock."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from envspec.diagnose import log
from envspec.diagnose.engine import Diagnosis, Evidence, Outcome, diagnose, state
from envspec.facts.failures import sign

_SIGNALS = {4: "illegal-instruction", 7: "bus-error"}
_TAIL = 64 << 10


def of_entry(observed: Mapping[str, Any], own: Collection[str], name: str = "stderr") -> Outcome:
    """What ended an entry. ``observed`` is as in probes/README.md, ``own`` are the top-level
    packages of the repository; ``name`` is what its errors are called where they are shown."""
    stated = _stated(observed, own, name)
    if stated is not None:
        return Outcome(stated)
    text = said(observed)
    outcome = diagnose(log.read(name, text.encode("utf-8", "replace"), _whose(observed)))
    if outcome.found is None and observed.get("signal") in _SIGNALS:
        found = state(sign(_SIGNALS[observed["signal"]]), {})
        return Outcome(found, outcome.candidates)
    call = _call(observed)
    if call is not None and (outcome.found is None or outcome.found.sign.weight < 3):
        return Outcome(call, outcome.candidates)
    return outcome


def said(observed: Mapping[str, Any]) -> str:
    """What it wrote on standard error, with the exception that the probe found in it at its end
    where the text does not hold it (any more)."""
    text = str(observed.get("stderr") or "")[-_TAIL:]
    exception = _mapping(observed.get("exception"))
    kind, message = str(exception.get("type") or ""), str(exception.get("message") or "")
    if kind and f"{kind}: {message.partition(chr(10))[0]}".rstrip(": ") not in text:
        text += f"\nTraceback (most recent call last):\n{kind}: {message}\n"
    return text


def missing(module: str, own: Collection[str]) -> Diagnosis:
    """A module that was not found: the repository's own, or one that nobody declared."""
    if "." in module and module.split(".", 1)[0] in own:
        return state(sign("entry-own-module"), {"module": module})
    raised = f"ModuleNotFoundError: No module named '{module}'".encode()
    found = diagnose(log.read("", raised)).found
    if found is not None and (own or found.category != "repository"):
        return found._replace(evidence=None)
    return state(sign("import-missing"), {"module": module})


def _stated(observed: Mapping[str, Any], own: Collection[str], name: str) -> Diagnosis | None:
    """What the probe states by itself, before anything that the program wrote."""
    if observed.get("timed_out"):
        seconds = observed.get("seconds")
        shown = f"{seconds:.0f}" if isinstance(seconds, int | float) else "its"
        return state(sign("entry-timed-out"), {"seconds": shown})
    if observed.get("start_error"):
        why = str(_mapping(observed["start_error"]).get("message"))[:300]
        return state(sign("entry-not-started"), {"why": why})
    if observed.get("oom_kills"):
        return state(sign("entry-out-of-memory"), {})
    if observed.get("killed"):
        return state(sign("entry-killed"), {})
    module = observed.get("missing_module")
    if module and not observed.get("signal"):
        told = missing(str(module), own)
        return told._replace(evidence=_line_of(observed, str(module), name))
    return None


def _line_of(observed: Mapping[str, Any], word: str, name: str) -> Evidence | None:
    lines = said(observed).split("\n")
    for number in range(len(lines), 0, -1):
        if "No module named" in lines[number - 1] and word in lines[number - 1]:
            return Evidence(name, number, lines[number - 1].strip()[: log.WIDEST])
    return None


def _whose(observed: Mapping[str, Any]) -> str:
    innermost = str(observed.get("innermost") or "")
    return "library" if innermost in {"library", "stdlib"} else innermost.replace("unknown", "")


def _call(observed: Mapping[str, Any]) -> Diagnosis | None:
    """Who calls something wrongly is at fault where both sides are the repository's own; where
    the callee is a library's, its version does not fit."""
    call = _mapping(observed.get("call_error"))
    inside = call.get("callee_in_source")
    if inside is None:
        return None
    name = "entry-call" if inside else "entry-library-call"
    return state(sign(name), {"callee": str(call.get("callee") or "")[:120]})


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
