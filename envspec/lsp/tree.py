"""The statements of a text that may be broken, and where in them a cursor stands. Pure.

Somebody who types has a broken file most of the time: `envspec.language.parse` is strict and
gives nothing then. This reading takes the same tokens and always gives a tree. What is missing
is closed where the indentation says so, and nothing here is ever reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from envspec.language.limits import MAX_BYTES
from envspec.language.statements import words_in
from envspec.language.syntax import ASSIGNMENT, STRING, WORD, Statement, Value
from envspec.source import Span

DEEPEST = 2
MAX_TOKENS = 100_000
"""Ten for each statement that a spec may have; what follows is not looked at."""

# The terminals of grammar/envspec.lark, for strings with or without their closing quote.
_TOKEN = re.compile(
    r"(?P<newline>\r\n|\r|\n)|(?P<comment>\#[^\n\r]*)|(?P<open>\{)|(?P<close>\})"
    r'|(?P<assignment>[A-Za-z_][A-Za-z0-9_]*="(?:\\.|[^"\\\n\r])*"?)'
    r'|(?P<string>"(?:\\.|[^"\\\n\r])*"?)|(?P<word>[^\s"{}\#]+)'
)
_VALUES = frozenset({"assignment", "string", "word"})
_ESCAPE = re.compile(r"\\(.)")


class _Token(NamedTuple):
    kind: str
    start: int
    end: int


class _Frame:
    """A statement whose block is open, or the file."""

    def __init__(self, values: list[Value], start: int) -> None:
        self.values = values
        self.start = start
        self.inside: list[Statement] = []


class Cursor(NamedTuple):
    """Where a cursor stands.

    ``blocks`` are the heads of the blocks around it, the outermost first; ``values`` what stands
    before it in its own statement. ``typed`` covers the token under it (empty between tokens),
    ``before`` is the part of that token that is left of it, and ``kind`` says what it is:
    ``word``, ``string``, ``assignment`` or ``comment``. ``alone`` says that the statement has
    nothing behind the cursor.
    """

    blocks: tuple[tuple[Value, ...], ...]
    values: tuple[Value, ...]
    typed: Span
    before: str
    kind: str
    alone: bool

    @property
    def block(self) -> str:
        """The word of the innermost block, ``""`` at the top level."""
        return self.blocks[-1][0].text if self.blocks and self.blocks[-1] else ""


class Tree:
    """The statements of a text."""

    def __init__(self, text: str) -> None:
        # What is too large to be a spec is not read: its one finding says so.
        self.text = text if len(text) <= MAX_BYTES else ""

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """The statements at the top level, with their blocks."""
        walk = _Walk(self.text, mend=not self._closed)
        for token in self._tokens:
            walk.take(token)
        return walk.end(len(self.text))

    def all(self) -> Iterator[tuple[Statement, tuple[Statement, ...]]]:
        """Every statement, each with the statements around it."""
        stack: list[tuple[Statement, tuple[Statement, ...]]] = [
            (s, ()) for s in reversed(self.statements)
        ]
        while stack:
            statement, around = stack.pop()
            yield statement, around
            inner = (*around, statement)
            stack.extend((s, inner) for s in reversed(statement.block or ()))

    def cursor(self, offset: int) -> Cursor:
        """What stands around an offset."""
        offset = min(offset, len(self.text))
        walk = _Walk(self.text, mend=not self._closed)
        under: _Token | None = None
        behind = False
        for token in self._tokens:
            touches = token.start < offset <= token.end
            if touches and (token.kind in _VALUES or token.kind == "comment"):
                under = token
            elif token.end <= offset:
                walk.take(token)
            else:
                behind = token.kind in {*_VALUES, "open"}
                break
        blocks = tuple(tuple(frame.values) for frame in walk.frames[1:])
        typed = Span(under.start, under.end) if under else Span(offset, offset)
        before = self.text[typed.start : offset]
        kind = under.kind if under else WORD
        if kind == STRING and len(before) > 1 and offset == typed.end and _whole(before):
            kind, before, typed = WORD, "", Span(offset, offset)
        return Cursor(blocks, tuple(walk.line), typed, before, kind, not behind)

    def at(self, offset: int) -> tuple[Statement, tuple[Statement, ...], Value | None] | None:
        """The innermost statement at an offset, those around it, and the value there."""
        found = None
        for statement, around in self.all():
            first, last = statement.span.start, statement.values[-1].span.end
            if first <= offset <= last:
                value = next((v for v in statement.values if _holds(v.span, offset)), None)
                found = statement, around, value
        return found

    @cached_property
    def _tokens(self) -> list[_Token]:
        found = islice(_TOKEN.finditer(self.text), MAX_TOKENS)
        return [_Token(m.lastgroup or "", *m.span()) for m in found]

    @cached_property
    def _closed(self) -> bool:
        """Whether every block that is opened is closed."""
        depth = 0
        for token in self._tokens:
            depth += (token.kind == "open") - (token.kind == "close")
            if depth < 0:
                return False
        return depth == 0


class _Walk:
    """Builds statements from tokens. ``frames`` are the blocks that are open, the file first;
    ``line`` is the statement that is being read."""

    def __init__(self, text: str, *, mend: bool) -> None:
        self.text = text
        self.mend = mend
        self.frames = [_Frame([], 0)]
        self.line: list[Value] = []
        self.too_deep = 0

    def take(self, token: _Token) -> None:
        """Go on by one token."""
        if token.kind == "newline":
            self._finish()
        elif token.kind == "open":
            if len(self.frames) > DEEPEST or self.too_deep:
                self.too_deep += 1
                return
            head = self.line or [Value(WORD, "", Span(token.start, token.start))]
            self.line = []
            self.frames.append(_Frame(head, head[0].span.start))
        elif token.kind == "close":
            self._finish()
            if self.too_deep:
                self.too_deep -= 1
            elif len(self.frames) > 1:
                self._close(token.end)
        elif token.kind in _VALUES:
            value = _value(self.text, token)
            if self.mend and not self.line:
                self._dedent(value)
            self.line.append(value)

    def end(self, offset: int) -> tuple[Statement, ...]:
        """The statements, where the text ends here."""
        self._finish()
        while len(self.frames) > 1:
            self._close(offset)
        return tuple(self.frames[0].inside)

    def _finish(self) -> None:
        if self.line:
            values, self.line = tuple(self.line), []
            span = Span(values[0].span.start, values[-1].span.end)
            self.frames[-1].inside.append(Statement(values, None, span))

    def _close(self, offset: int) -> None:
        frame = self.frames.pop()
        statement = Statement(tuple(frame.values), tuple(frame.inside), Span(frame.start, offset))
        self.frames[-1].inside.append(statement)

    def _dedent(self, value: Value) -> None:
        """A word of the top level at the left edge ends the blocks that nobody closed."""
        start = value.span.start
        edge = start == 0 or self.text[start - 1] in "\r\n"
        inner = self.frames[-1].values
        if (
            edge
            and inner
            and value.text in words_in("")
            and value.text not in words_in(inner[0].text)
        ):
            self.too_deep = 0
            while len(self.frames) > 1:
                self._close(start)


def _value(text: str, token: _Token) -> Value:
    written = text[token.start : token.end]
    span = Span(token.start, token.end)
    if token.kind == "word":
        return Value(WORD, written, span)
    name, _, quoted = written.partition('"')
    content = quoted[:-1] if _whole('"' + quoted) else quoted
    content = _ESCAPE.sub(r"\1", content)
    if token.kind == "assignment":
        return Value(ASSIGNMENT, content, span, name[:-1])
    return Value(STRING, content, span)


def _whole(string: str) -> bool:
    """Whether a string as written has its closing quote."""
    body = string[1:]
    return body.endswith('"') and (len(body) - len(body[:-1].rstrip("\\")) - 1) % 2 == 0


def _holds(span: Span, offset: int) -> bool:
    return span.start <= offset <= span.end
