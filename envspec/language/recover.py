"""What can be read of a text that has errors of shape, so that the rest is told as well. Pure.

Of a line with such an error only its first word and its brace are kept, and what that line says
counts as unknown. Nothing is reported that the unknown part could make untrue.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from envspec.diagnostics import Diagnostic, DiagnosticError
from envspec.language.parse import parse
from envspec.language.syntax import Statement
from envspec.source import SourceFile

_IN_A_LINE = frozenset({"E0101", "E0102", "E0103"})
_UNDECLARED = "E0205"
_DECLARING = frozenset({"index", "mirror", "secret", "service", "asset"})
_WORD = re.compile(r"[ \t]*[A-Za-z_][\w-]*(?=\s|$)", re.ASCII)


def readable(
    source: SourceFile, findings: Sequence[Diagnostic]
) -> tuple[tuple[Statement, ...], frozenset[str]] | None:
    """The statements of a text in which ``findings`` were found, and the words of those (at the
    top level) that were read in part; None where too little is left to say anything."""
    if not all(d.code in _IN_A_LINE for d in findings):
        return None
    lines = sorted({source.position(d.span.start).line for d in findings})
    for keep_brace in (True, False):
        text = _without(source, lines, keep_brace=keep_brace)
        try:
            statements = parse(SourceFile(source.name, text))
        except DiagnosticError:
            continue
        comments = (n for n in lines if source.line(n).lstrip(" \t").startswith("#"))
        said = sorted(set(lines).difference(comments))
        unread = [_around(source, statements, line) for line in said]
        return None if None in unread else (statements, frozenset(w for w in unread if w))
    return None


def certain(
    statements: Iterable[Statement], findings: Iterable[Diagnostic], unread: frozenset[str]
) -> tuple[Diagnostic, ...]:
    """The findings of meaning that hold whatever the lines say that could not be read."""
    return tuple(
        d
        for d in findings
        if (at := top_word(statements, d.span.start)) and at not in unread
        if not (d.code == _UNDECLARED and unread & _DECLARING)
    )


def top_word(statements: Iterable[Statement], offset: int) -> str:
    """The word of the statement at the top level that covers an offset, ``""`` for none."""
    covering = (s for s in statements if s.span.start <= offset <= s.span.end)
    return next((s.keyword.text for s in covering), "")


def _around(source: SourceFile, statements: Iterable[Statement], line: int) -> str | None:
    start = source.line_start(line)
    end = start + len(source.line(line))
    touching = (s for s in statements if s.span.start < end and start < s.span.end)
    return next((s.keyword.text for s in touching), None)


def _without(source: SourceFile, lines: Iterable[int], *, keep_brace: bool) -> str:
    """The text with as many characters and lines, and little left of some of the lines."""
    text = source.text
    for number in lines:
        line = source.line(number)
        word = _WORD.match(line)
        kept = (word[0] if word else "").ljust(len(line))
        if keep_brace and "{" in line and "}" not in line:
            kept = kept[:-1].ljust(len(line) - 1) + "{"
        start = source.line_start(number)
        text = text[:start] + kept + text[start + len(line) :]
    return text
