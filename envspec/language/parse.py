"""Text → syntax tree, or every syntax error of the text at once.

The only module that imports lark. Lark's own messages are never shown: their wording changes
with version and hash seed.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import Any

from lark import Lark, Token, Transformer, UnexpectedInput

from envspec import resources
from envspec.diagnostics import Diagnostic, DiagnosticError, Label, in_order
from envspec.language.limits import (
    FORBIDDEN,
    MAX_STATEMENTS,
    check_count,
    check_shape,
    check_size,
    fits_shape,
)
from envspec.language.syntax import (
    ASSIGNMENT,
    MAX_FINDINGS,
    STRING,
    WORD,
    Statement,
    Value,
)
from envspec.source import SourceFile, Span

_ESCAPE = re.compile(r"\\(.)")
# A line that begins with anything but a comment or a closing brace begins a statement.
_BEGINS = re.compile(r"^[ \t]*[^\s#}]", re.MULTILINE)


class _Build(Transformer[Token, Any]):
    """Called by the parser while it parses, so no lark tree is ever made."""

    def words(self, children: list[Token]) -> list[Token]:
        return children

    def leaf(self, children: list[Any]) -> tuple[list[Token], None]:
        return children[0], None

    def line(self, children: list[Any]) -> tuple[list[Token], Any]:
        return children[0], children[1] if len(children) > 1 else None

    def _items(self, children: list[Any]) -> list[Any]:
        return [c for c in children if not isinstance(c, Token)]

    lines = _items
    leaves = _items

    def block(self, children: list[Any]) -> tuple[list[Any], int]:
        inside = [c for c in children if not isinstance(c, Token)]
        return (inside[0] if inside else []), children[-1].end_pos

    inner = block

    def statement(self, children: list[Any]) -> tuple[list[Token], Any]:
        return children[0], None if isinstance(children[1], Token) else children[1]

    file = _items


@lru_cache(maxsize=1)
def _parser() -> Lark:
    grammar = (resources.folder("grammar") / "envspec.lark").read_text(encoding="utf-8")
    return Lark(grammar, start="file", parser="lalr", lexer="basic", transformer=_Build())


def parse(source: SourceFile) -> tuple[Statement, ...]:
    """Statements of a text, in the order written.

    Raises:
        DiagnosticError: E0101 (unexpected text), E0102 (forbidden character), E0103 (string not
            closed), E0104 (block not closed), E0105 (too large); all of them at once.
    """
    check_size(source)
    bad = [_forbidden(source, m) for m in islice(FORBIDDEN.finditer(source.text), MAX_FINDINGS)]
    # Parsing half a million lines would take a minute; counting them takes nothing.
    many = sum(1 for _ in _BEGINS.finditer(source.text))
    if bad:
        # What is wrong besides is told as well: a letter in place of each such character keeps
        # every place and the shape.
        readable = many <= MAX_STATEMENTS and fits_shape(source.text)
        plain = FORBIDDEN.sub("x", source.text) + "\n" if readable else ""
        raise DiagnosticError(in_order([*bad, *_explain_all(source, plain)])[:MAX_FINDINGS])
    check_count(source, many)
    check_shape(source)
    text = source.text if source.text.endswith("\n") else source.text + "\n"
    errors: list[Diagnostic] = []
    try:
        items: Any = _parser().parse(text)
    except UnexpectedInput as error:
        found = _explain_all(source, text) or [_unexplained(source, error)]
        raise DiagnosticError(in_order(found)) from None
    statements = tuple(_statement(item, source, errors) for item in items)
    if errors:
        raise DiagnosticError(in_order(errors)[:MAX_FINDINGS])
    check_count(source, sum(_count(s) for s in statements))
    return statements


def _count(statement: Statement) -> int:
    return 1 + sum(_count(s) for s in statement.block or ())


def _forbidden(source: SourceFile, match: re.Match[str]) -> Diagnostic:
    char = match.group()[0]
    return Diagnostic(
        "E0102",
        f"forbidden character U+{ord(char):04X}",
        source,
        (Label(Span(match.start(), match.start() + 1), "here"),),
        cause="control characters, invisible marks and unusual blanks can make a spec do "
        "something else than it shows",
        hint="remove it, or write a plain space",
    )


def _explain_all(source: SourceFile, text: str) -> list[Diagnostic]:
    """Every error of shape in the text, by one walk over its tokens.

    A parser's own recovery loses count of braces; this walk keeps it, so one slip gives one
    finding and the lines after it are still read as what they are.
    """
    errors: list[Diagnostic] = []
    opened: list[Token] = []
    previous = "NEWLINE"
    skip_line = False
    too_deep = 0

    def report(token: Token, title: str, hint: str) -> None:
        nonlocal skip_line
        if not skip_line:
            span = Span(token.start_pos or 0, token.end_pos or 0)
            label = Label(span, "not expected here")
            errors.append(Diagnostic("E0101", title, source, (label,), hint=hint))
        skip_line = True

    for token in _parser().lex(text):
        if len(errors) >= MAX_FINDINGS:
            return errors
        kind = token.type
        if kind == "NEWLINE":
            skip_line = False
        elif kind == "LBRACE":
            if too_deep or len(opened) == 2:
                too_deep += 1
                report(token, "blocks nest two deep at most", "move the inner block out")
            else:
                if previous in {"NEWLINE", "LBRACE"}:
                    report(token, "`{` without a statement before it", "write the word first")
                elif previous == "RBRACE":
                    report(token, "a second block", "a statement has one block; start a new line")
                opened.append(token)
        elif kind == "RBRACE":
            if too_deep:
                too_deep -= 1
            elif opened:
                opened.pop()
            else:
                report(token, "`}` closes no block", "remove it, or open the block with `{`")
        else:
            if previous == "RBRACE":
                report(
                    token, f"unexpected {_shown(token)} after a block", "start a new line after `}`"
                )
            _value(token, source, errors)
        previous = kind
    errors.extend(
        Diagnostic(
            "E0104",
            "the file ends inside a block",
            source,
            (Label(Span(token.start_pos or 0, token.end_pos or 0), "opened here"),),
            hint="close it with `}`",
        )
        for token in opened
    )
    return errors


def _unexplained(source: SourceFile, error: UnexpectedInput) -> Diagnostic:
    offset = error.pos_in_stream or 0
    label = Label(Span(offset, offset + 1), "not expected here")
    return Diagnostic("E0101", "unexpected text", source, (label,), hint="see grammar/README.md")


def _shown(token: Token) -> str:
    return f"`{token}`" if len(token) <= 40 else f"`{token[:37]}…`"


def _statement(item: Any, source: SourceFile, errors: list[Diagnostic]) -> Statement:
    tokens, block = item
    values = tuple(_value(t, source, errors) for t in tokens)
    start, end = values[0].span.start, values[-1].span.end
    if block is None:
        return Statement(values, None, Span(start, end))
    inside, closed = block
    return Statement(
        values, tuple(_statement(i, source, errors) for i in inside), Span(start, closed)
    )


def _value(token: Token, source: SourceFile, errors: list[Diagnostic]) -> Value:
    start = token.start_pos or 0
    span = Span(start, start + len(token))
    if token.type == "WORD":
        return Value(WORD, str(token), span)
    if token.type == "UNTERMINATED":
        errors.append(
            Diagnostic(
                "E0103",
                "the string is not closed on its line",
                source,
                (Label(span, "starts here"),),
                hint='end it with `"`; a `"` inside a string is written `\\"`',
            )
        )
        return Value(STRING, "", span)
    name, _, quoted = token.partition('"')
    text = quoted[:-1]
    if "\\" in text:
        offset = start + len(name) + 1
        for match in islice(_ESCAPE.finditer(text), MAX_FINDINGS):
            if match.group(1) not in '"\\':
                at = Span(offset + match.start(), offset + match.end())
                errors.append(
                    Diagnostic(
                        "E0101",
                        f"unknown escape `{match.group()}`",
                        source,
                        (Label(at, 'only `\\"` and `\\\\` are known'),),
                        hint="write `\\\\` for a backslash",
                    )
                )
        text = _ESCAPE.sub(r"\1", text)
    if token.type == "ASSIGNMENT":
        return Value(ASSIGNMENT, text, span, name[:-1])
    return Value(STRING, text, span)
