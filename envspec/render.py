"""Findings → text or JSON: the only place that draws them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from envspec.credentials import masked
from envspec.diagnostics import ERROR, WARNING, Diagnostic, Label
from envspec.source import UNSEEN, SourceFile, Span

SCHEMA = 1
_RED, _YELLOW, _BLUE, _BOLD, _RESET = "\x1b[31m", "\x1b[33m", "\x1b[34m", "\x1b[1m", "\x1b[0m"
_TONES = {ERROR: _RED, WARNING: _YELLOW}
_UNSEEN = re.compile(f"[{UNSEEN}]")
_WIDEST = 160  # columns of a source line that are shown; a spec may hold one huge line


def text(diagnostics: Iterable[Diagnostic], *, colour: bool = False) -> str:
    """Findings drawn one after the other, each ending with an empty line."""
    return "".join(_draw(d, _Pen(colour)) + "\n" for d in _without_secrets(diagnostics))


def _without_secrets(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The same findings over sources in which no finding's hidden value can be read."""
    found = list(diagnostics)
    hidden: dict[SourceFile, list[Span]] = {}
    for d in found:
        for label in d.labels:
            if label.hidden and d.source is not None:
                hidden.setdefault(d.source, []).append(label.span)
    covered = {source: _covered(source, spans) for source, spans in hidden.items()}
    return [d._replace(source=covered[d.source]) if d.source in covered else d for d in found]


def _covered(source: SourceFile, spans: list[Span]) -> SourceFile:
    text = source.text
    for start, end in spans:
        words = text[start:end]
        quote = words.find('"') + 1  # 0: no quote, so all of it is the value
        stars = re.sub(r"[^\n\"]", "*", words[quote:])
        text = text[: start + quote] + stars + text[end:]
    return SourceFile(source.name, text)


def document(diagnostics: Sequence[Diagnostic]) -> dict[str, Any]:
    """Findings as plain data, for machines. Lines and columns count from 1."""
    return {"schema": SCHEMA, "diagnostics": [_data(d) for d in diagnostics]}


def summary(diagnostics: Sequence[Diagnostic]) -> str:
    """`2 errors, 1 warning`."""
    counts = []
    for severity in (ERROR, WARNING):
        number = sum(d.severity == severity for d in diagnostics)
        if number:
            counts.append(f"{number} {severity}{'s' if number > 1 else ''}")
    return ", ".join(counts)


class _Pen:
    """Colours, or none of them."""

    def __init__(self, colour: bool) -> None:
        self._colour = colour

    def __call__(self, tone: str, words: str) -> str:
        return f"{tone}{words}{_RESET}" if self._colour and words else words


def _draw(d: Diagnostic, pen: _Pen) -> str:
    tone = _TONES.get(d.severity, _BLUE)
    lines = [pen(tone + _BOLD, f"{d.severity}[{d.code}]") + pen(_BOLD, f": {visible(d.title)}")]
    numbers = [d.source.position(label.span.start).line for label in d.labels] if d.source else []
    width = max((len(str(n)) for n in numbers), default=1)
    bar = pen(_BLUE, f"{' ' * width} |")
    if d.source is not None:
        at = d.source.position(d.span.start)
        arrow = pen(_BLUE, f"{' ' * width}-->")
        lines.append(f"{arrow} {visible(d.source.name)}:{at.line}:{at.column}")
        for label in d.labels:
            lines.extend((bar, *_excerpt(d.source, label, width, tone, pen)))
    if d.excerpt:
        lines.append(bar)
        lines.extend(f"{bar}   {visible(line)[:400]}" for line in d.excerpt)
    notes = [("cause", d.cause), ("hint", d.hint)]
    if d.source is not None and any(v for _, v in notes):
        lines.append(bar)
    equals = pen(_BLUE, f"{' ' * width} =")
    lines.extend(f"{equals} {pen(_BOLD, name)}: {visible(v)}" for name, v in notes if v)
    return "\n".join(lines) + "\n"


def _excerpt(source: SourceFile, label: Label, width: int, tone: str, pen: _Pen) -> list[str]:
    at = source.position(label.span.start)
    line = source.line(at.line)
    if not line and not label.text:
        return []
    first = at.column - 1
    shift = max(0, at.column - _WIDEST // 2) if len(line) > _WIDEST else 0
    last = min(first + label.span.end - label.span.start, len(line), shift + _WIDEST)
    shown = visible(line[shift : shift + _WIDEST].replace("\t", " "))
    marks = pen(tone, "^" * max(1, _columns(line[first:last])))
    under = " " * _columns(line[shift:first]) + marks
    number = pen(_BLUE, f"{at.line:>{width}} |")
    bar = pen(_BLUE, f"{' ' * width} |")
    return [
        f"{number} {shown}".rstrip(),
        f"{bar} {under} {pen(tone, visible(label.text))}".rstrip(),
    ]


def _columns(words: str) -> int:
    """Columns of a terminal that a part of a source line takes, so that marks stand below it."""
    words = visible(words.replace("\t", " "))
    if words.isascii():
        return len(words)
    from unicodedata import category, east_asian_width  # noqa: PLC0415 - rarely needed

    narrow = sum(category(c) not in {"Mn", "Me"} for c in words)
    return narrow + sum(east_asian_width(c) in "WF" for c in words)


def visible(words: str) -> str:
    """Text that cannot move the cursor, colour the terminal or tell a password."""
    words = masked(words)
    if words.isascii() and words.isprintable():
        return words
    shown = "".join(c if c.isprintable() else _escaped(c) for c in words)
    return _UNSEEN.sub(lambda match: _escaped(match.group()), shown)


def _escaped(char: str) -> str:
    return f"\\u{{{ord(char):x}}}"


def _data(d: Diagnostic) -> dict[str, Any]:
    labels = [_place(d.source, label) for label in d.labels] if d.source else []
    result: dict[str, Any] = {
        "code": d.code,
        "severity": d.severity,
        "title": masked(d.title),
        "file": d.source.name if d.source else None,
        "labels": labels,
        "cause": masked(d.cause),
        "hint": masked(d.hint),
        "excerpt": [masked(line) for line in d.excerpt],
        "fix": None,
    }
    if d.fix is not None and d.source is not None:
        source = d.source
        result["fix"] = {
            "description": d.fix.description,
            "edits": [
                {**_place(source, Label(e.span)), "replacement": e.replacement} for e in d.fix.edits
            ],
        }
    return result


def _place(source: SourceFile, label: Label) -> dict[str, Any]:
    start, end = source.position(label.span.start), source.position(label.span.end)
    return {
        "line": start.line,
        "column": start.column,
        "end_line": end.line,
        "end_column": end.column,
        "text": masked(label.text),
    }
