"""Applying machine-applicable fixes to a text. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from envspec.diagnostics import Edit, Fix


def apply(text: str, fixes: Iterable[Fix]) -> tuple[str, int]:
    """The text after the fixes, and how many were applied.

    A fix whose edits touch what an earlier one has changed is left for another round: its spans
    no longer mean what they meant. Two that say the same count once.
    """
    taken: list[Edit] = []
    applied = 0
    for fix in dict.fromkeys(fixes):
        if any(_touch(edit, other) for edit in fix.edits for other in taken):
            continue
        taken.extend(fix.edits)
        applied += 1
    for edit in sorted(taken, reverse=True):
        text = text[: edit.span.start] + edit.replacement + text[edit.span.end :]
    return text, applied


def _touch(a: Edit, b: Edit) -> bool:
    return a.span.start <= b.span.end and b.span.start <= a.span.end
