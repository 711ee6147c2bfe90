"""What `doctor` found: as plain data of schema 1, and as text of a given width. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import wrap
from typing import Any, NamedTuple

from envspec import __version__

SCHEMA = 1
GOOD, NOTE, BROKEN, UNKNOWN = "good", "note", "broken", "unknown"
"""In order, nothing to do, something that only some need, something to mend, not checked."""

_MARKS = {GOOD: "ok", NOTE: "note", BROKEN: "BROKEN", UNKNOWN: "not checked"}
_COLOURS = {GOOD: "\x1b[32m", NOTE: "\x1b[2m", BROKEN: "\x1b[1;31m", UNKNOWN: "\x1b[33m"}
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"
_WIDEST_NAME = 28


class Finding(NamedTuple):
    """``said`` is a clause about ``name``; ``hint`` is what mends it, where something must be."""

    section: str
    name: str
    state: str
    said: str
    hint: str = ""


def document(findings: Iterable[Finding]) -> dict[str, Any]:
    """Plain data for `--format json`."""
    listed = [finding._asdict() for finding in findings]
    states = [entry["state"] for entry in listed]
    return {
        "schema": SCHEMA,
        "envspec": __version__,
        "counts": {state: states.count(state) for state in _MARKS},
        "findings": listed,
    }


def text(findings: Sequence[Finding], width: int, *, colour: bool) -> str:
    """A line a finding, by section, hints below; a summary at the end."""
    lines: list[str] = []
    name_width = min(max((len(f.name) for f in findings), default=0), _WIDEST_NAME)
    mark_width = max(len(mark) for mark in _MARKS.values())
    for section in dict.fromkeys(f.section for f in findings):
        lines += (
            ["", _styled(section, _BOLD, colour)] if lines else [_styled(section, _BOLD, colour)]
        )
        for f in (f for f in findings if f.section == section):
            mark = _styled(_MARKS[f.state].ljust(mark_width), _COLOURS[f.state], colour)
            indent = " " * (2 + mark_width + 2)
            inner = indent + " " * (name_width + 2)
            room = max(width - len(inner), 30)
            said = wrap(f.said, room, break_on_hyphens=False) or [""]
            lines.append(f"  {mark}  {f.name.ljust(name_width)}  {said[0]}".rstrip())
            lines += [inner + line for line in said[1:]]
            if f.hint:
                lines += [inner + line for line in wrap(f"→ {f.hint}", room)]
    return "\n".join([*lines, "", _summary(findings)])


def _summary(findings: Sequence[Finding]) -> str:
    states = [f.state for f in findings]
    broken, unknown = states.count(BROKEN), states.count(UNKNOWN)
    parts = [f"{broken} broken" if broken else "nothing is broken"]
    if unknown:
        parts.append(f"{unknown} could not be checked")
    return ", ".join(parts)


def _styled(line: str, style: str, colour: bool) -> str:
    return f"{style}{line}{_PLAIN}" if colour and style else line
