"""Applying machine-applicable fixes to a text. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from envspec.diagnostics import Edit, Fix


def choose(fixes: Iterable[Fix]) -> tuple[Fix, ...]:
    """The fixes that can be applied together, first come first served.

    A fix whose edits touch what an earlier one has changed is left for another round: its spans
    no longer mean what they meant. Two that say the same count once.
    """
    taken: list[Edit] = []
    chosen: list[Fix] = []
    for fix in dict.fromkeys(fixes):
        if any(_touch(edit, other) for edit in fix.edits for other in taken):
            continue
        taken.extend(fix.edits)
        chosen.append(fix)
    return tuple(chosen)


def apply(text: str, fixes: Iterable[Fix]) -> tuple[str, int]:
    """The text after the fixes that `choose` lets through, and how many those are."""
    chosen = choose(fixes)
    for edit in sorted((e for fix in chosen for e in fix.edits), reverse=True):
        text = text[: edit.span.start] + edit.replacement + text[edit.span.end :]
    return text, len(chosen)


def _touch(a: Edit, b: Edit) -> bool:
    return a.span.start <= b.span.end and b.span.start <= a.span.end
