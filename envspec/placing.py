"""Giving a place to findings that were made where the spec's text is not known."""

from __future__ import annotations

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


def line_span(source: SourceFile, number: int) -> Span:
    """The text of a line (from 1) without its indentation; the start of the file for 0."""
    line = source.line(number)
    if number < 1 or not line.strip():
        return Span(0, 0)
    start = _line_start(source, number) + len(line) - len(line.lstrip())
    return Span(start, start + len(line.strip()))


def _line_start(source: SourceFile, number: int) -> int:
    start = 0
    for _ in range(number - 1):
        start = source.text.index("\n", start) + 1
    return start
