"""E0352: `expect output` with a pattern that is none, or that may take for ever."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator

from envspec.diagnostics import Diagnostic, Label
from envspec.model import Entry
from envspec.rules.shared import patterns
from envspec.rules.shared.places import string_of
from envspec.rules.view import View

CODE = "E0352"
MAX_PATTERN = 1000
"""Characters of a pattern: longer ones are programs, and nobody reads them."""


def check(view: View) -> Iterator[Diagnostic]:
    """One finding a pattern."""
    for entry in view.spec.entries:
        for pattern in entry.expect.output:
            wrong = judge(pattern)
            if wrong:
                yield _finding(view, entry, pattern, *wrong)


def judge(pattern: str) -> tuple[str, str, str] | None:
    """What is wrong with a pattern (the end of a sentence), why, and what to do; else None."""
    if len(pattern) > MAX_PATTERN:
        return (
            f"has {len(pattern)} characters, and {MAX_PATTERN} are the most",
            "a long pattern is hard to check, and can be slow in ways that nobody sees",
            "look for a short line that the program prints at its end",
        )
    reading = patterns.read(pattern)
    if reading.newer:
        return (
            "is not one for every Python",
            f"it has {reading.newer}, which not every Python from 3.10 on takes",
            "write it without",
        )
    if not _compiles(pattern):
        return (
            "is not a regular expression",
            "brackets that are not closed, a quantifier with nothing before it, or an escape that "
            "means nothing",
            "put `\\\\` before a character that stands for itself: `\\\\(`, `\\\\[`, `\\\\+`",
        )
    if reading.nested:
        return (
            "may take for ever",
            f"`{_short(reading.nested)}` repeats a repeat: there are exponentially many ways to "
            "split a text that does not match",
            "keep one of the two quantifiers, or end each round with a character that it cannot "
            "hold otherwise",
        )
    return None


def _compiles(pattern: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            re.compile(pattern)
        except (re.error, OverflowError, RecursionError, ValueError, MemoryError):
            return False
    return True


def _finding(
    view: View, entry: Entry, pattern: str, title: str, cause: str, hint: str
) -> Diagnostic:
    at = string_of(view.source, entry.span, pattern) or entry.span
    return Diagnostic(
        CODE,
        f"the pattern of `expect output` in entry `{entry.name}` {title}",
        view.source,
        (Label(at, "this pattern"),),
        cause,
        hint,
    )


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"
