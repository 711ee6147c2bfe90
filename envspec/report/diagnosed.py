"""Diagnoses as text for people and as data for machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from envspec.diagnose.cases import Case, Told
from envspec.diagnose.categories import CATEGORIES
from envspec.diagnose.engine import Diagnosis
from envspec.render import visible

SCHEMA = 1
_LINE = 240  # characters of a line of evidence that are shown


def document(cases: Sequence[Case]) -> dict[str, Any]:
    """The diagnoses as plain data; lines count from 1."""
    return {"schema": SCHEMA, "diagnoses": [_data(case) for case in cases]}


def text(cases: Sequence[Case]) -> str:
    """The diagnoses one after the other, each ending with an empty line."""
    shown: set[tuple[str, str]] = set()
    return "".join(_drawn(case, shown) + "\n" for case in cases)


def _data(case: Case) -> dict[str, Any]:
    failure, outcome = case.failure, case.failure.outcome
    return {
        "rung": failure.rung or None,
        "entry": failure.entry or None,
        "seen": failure.seen or None,
        "diagnosis": _told(outcome.found) if outcome.found else None,
        "candidates": [_told(c) for c in outcome.candidates],
        "why_not": outcome.why or None,
        "mends": [_mend(m, tried=case.tried) for m in case.mends],
    }


def _told(found: Diagnosis) -> dict[str, Any]:
    evidence = found.evidence
    return {
        "category": found.category,
        "title": CATEGORIES[found.category].title,
        "cause": found.cause,
        "sign": found.sign.name,
        "because": visible(found.because),
        "evidence": evidence._replace(text=visible(evidence.text))._asdict() if evidence else None,
    }


def _mend(told: Told, *, tried: bool) -> dict[str, Any]:
    change = told.mend.change
    return {
        "text": visible(told.mend.text),
        "certain": told.mend.certain and (told.after is not None or not tried),
        "statement": [visible(line) for line in change.lines] if change else None,
        "diff": told.difference or None,
    }


def _drawn(case: Case, shown: set[tuple[str, str]]) -> str:
    outcome = case.failure.outcome
    where = " ".join(filter(None, (case.failure.rung, case.failure.seen)))
    lines = [visible(where)] if where else []
    if outcome.found is None:
        lines.append("uncertain: " + (visible(outcome.why) or "no sign of any known failure"))
        for candidate in outcome.candidates:
            lines.append(f"  perhaps {_head(candidate)}")
            lines += _line(candidate)
        return "\n".join(lines) + "\n"
    lines.append(_head(outcome.found))
    lines += _line(outcome.found)
    lines.append(f"  cause: {outcome.found.cause}")
    for told in case.mends:
        key = (told.mend.text, told.difference)
        again = key in shown
        shown.add(key)
        lines.append(f"  mend: {visible(told.mend.text)}" + (", as above" if again else ""))
        lines += () if again else _change(told, tried=case.tried)
    return "\n".join(lines) + "\n"


def _change(told: Told, *, tried: bool) -> list[str]:
    """The change as a diff of the spec, or as a spec would have it where there is none."""
    if told.difference:
        return [f"    {visible(line)}" for line in told.difference.splitlines()]
    if told.mend.change is not None and not tried:
        return [f"    {visible(line)}" for line in told.mend.change.lines]
    return []


def _head(found: Diagnosis) -> str:
    return f"{CATEGORIES[found.category].title}: {visible(found.because)}"


def _line(found: Diagnosis) -> list[str]:
    if found.evidence is None:
        return []
    log, number, said = found.evidence
    return [f"  {visible(log)}:{number}", f"  | {visible(said[:_LINE])}"]
