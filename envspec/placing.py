"""Giving places to findings: where something is written, and the statement that it was for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from envspec.diagnostics import DiagnosticError, Label
from envspec.source import SourceFile, Span


@contextmanager
def placed(source: SourceFile, span: Span, label: str = "") -> Iterator[None]:
    """Within, findings without a file get this one: the statement that the work was for."""
    try:
        yield
    except DiagnosticError as error:
        raise DiagnosticError(
            d if d.source is not None else d._replace(source=source, labels=(Label(span, label),))
            for d in error.diagnostics
        ) from None


def within(source: SourceFile, span: Span, word: str) -> Span | None:
    """Where a whole word stands inside a span, if it stands there once."""
    text = source.text[span.start : span.end]
    found = list(re.finditer(rf"(?<![\w.=]){re.escape(word)}(?![\w.])", text))
    if len(found) != 1:
        return None
    return Span(span.start + found[0].start(), span.start + found[0].end())


def line_span(source: SourceFile, number: int) -> Span:
    """The text of a line (from 1) without its indentation; the start of the file for 0."""
    line = source.line(number)
    if number < 1 or not line.strip():
        return Span(0, 0)
    start = source.line_start(number) + len(line) - len(line.lstrip())
    return Span(start, start + len(line.strip()))
