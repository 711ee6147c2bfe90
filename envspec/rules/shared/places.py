"""Where a line or a value stands inside a statement, for values that the model keeps no span of.

Everything here looks at the text of a statement that has already been read, and finds nothing
where the text is another one (a spec that came as JSON): then there is no fix, and the finding
points at the whole statement.
"""

from __future__ import annotations

import re

from envspec.diagnostics import Edit, Fix
from envspec.model import Package
from envspec.placing import within
from envspec.source import SourceFile, Span

_COVERED = re.compile(r'"(?:\\.|[^"\\\n])*"|#[^\n]*')


def value_of(source: SourceFile, block: Span, word: str) -> Span | None:
    """Span of the value in the line ``word VALUE`` of a block; None where there is no such line."""
    match = _line(source, block, word)
    return Span(block.start + match.start(1), block.start + match.end(1)) if match else None


def line_of(source: SourceFile, block: Span, word: str) -> Span:
    """Span of the line ``word VALUE`` of a block, without its indent; else the whole block."""
    match = _line(source, block, word)
    if match is None:
        return block
    end = block.start + match.end(1)
    return Span(end - len(match[0].lstrip("{ \t\n")), end)


def add_after(source: SourceFile, block: Span, word: str, line: str) -> Edit | None:
    """Put a line behind the line ``word VALUE`` of a block."""
    at = value_of(source, block, word)
    if at is None:
        return None
    begin = source.text.rfind("\n", block.start, at.start) + 1
    indent = re.match(r"[ \t]*", source.text[begin : at.start]) if begin else None
    return Edit(Span(at.end, at.end), f"\n{indent[0] if indent else '  '}{line}")


def add_line(source: SourceFile, block: Span, line: str) -> Edit | None:
    """Put a line at the end of a block."""
    text = _bare(source, block)
    if "{" not in text or not text.endswith("}"):
        return None
    begin = text.rfind("\n") + 1
    indent = text[begin:-1]
    if begin and not indent.strip():
        at = block.start + begin
        return Edit(Span(at, at), f"{indent}  {line}\n")
    at = block.end - 1
    return Edit(Span(at, at), f"\n  {line}\n")


def add_block(source: SourceFile, after: Span, block: str) -> Edit | None:
    """Put a statement behind another one, with an empty line between them."""
    if after.end <= after.start or after.end > len(source.text):
        return None
    return Edit(Span(after.end, after.end), f"\n\n{block}")


def string_of(source: SourceFile, inside: Span, value: str) -> Span | None:
    """Span of a string with this content, without its quotes; None where there is none."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    at = source.text.find(f'"{escaped}"', inside.start, inside.end)
    return Span(at + 1, at + 1 + len(escaped)) if at >= 0 else None


def replace(source: SourceFile, span: Span, old: str, new: str, description: str) -> Fix | None:
    """A fix that writes ``new`` for the one ``old`` inside a span; None where the text is
    another one, as it is for a spec that came as JSON."""
    at = within(source, span, old)
    return Fix.replace(at, new, description) if at else None


def request(source: SourceFile, package: Package, specifier: str, index: str) -> tuple[Edit, ...]:
    """Edits that ask for a package by another specifier, from another index (``""``: the same);
    none where its line is not the one in the text."""
    text, span = source.text, package.specifier_span
    written = "".join(text[span.start : span.end].split())
    if span.end == 0 or written.replace(",", "") != package.specifier.replace(",", ""):
        return ()
    specifier = specifier or text[span.start : span.end]
    blank = " " if not written and specifier else ""
    at = package.index_span
    if not index:
        return (Edit(span, f"{blank}{specifier}"),)
    if at.end == 0:
        return (Edit(span, f"{blank}{specifier} from {index}"),)
    if text[at.start : at.end].split() != ["from", package.index]:
        return ()
    if not specifier:
        return (Edit(at, f"from {index}"),)
    return (Edit(span, f"{blank}{specifier}"), Edit(at, f"from {index}"))


def _line(source: SourceFile, block: Span, word: str) -> re.Match[str] | None:
    pattern = rf"[\n{{][ \t]*{re.escape(word)}[ \t]+([^\s{{}}]+)"
    return re.search(pattern, _bare(source, block))


def _bare(source: SourceFile, span: Span) -> str:
    """The text with strings and comments blanked, so that every offset stays what it was."""
    text = source.text[span.start : span.end]
    return _COVERED.sub(lambda m: " " * len(m[0]), text)
