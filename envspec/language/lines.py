"""Text and its tree → the lines that its layout has, and which of them have a blank line before.

The tree has every value and its place but no comment, and braces only as nesting. What lies between
two values is blanks, newlines, braces and comments and nothing else, so those are read there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from envspec.language.syntax import Statement, Value

# What lies between two values of the tree: blanks, and these.
_MARK = re.compile(r"#[^\n]*|[{}\n]")


class Line:
    """One line of the result: a statement or the head of one, a closing brace, or a comment.

    ``blank`` says that a blank line was before it. ``values`` are as written. ``opens`` and
    ``closes`` are the braces; a block that holds nothing has both.
    """

    __slots__ = ("blank", "closes", "comment", "depth", "opens", "texts", "values")

    def __init__(self, depth: int, *, blank: bool, comment: str = "", closes: bool = False) -> None:
        self.depth = depth
        self.blank = blank
        self.comment = comment
        self.closes = closes
        self.opens = False
        self.values: list[Value] = []
        self.texts: list[str] = []

    @property
    def plain(self) -> bool:
        """A statement without a block: the only lines that have columns."""
        return bool(self.values) and not self.opens

    @property
    def remark(self) -> bool:
        """A comment on a line of its own."""
        return not self.values and not self.closes

    @property
    def text(self) -> str:
        """The line without columns, indentation and comment."""
        braces = ["{" * self.opens + "}" * self.closes] if self.opens or self.closes else []
        return " ".join([*self.texts, *braces])


def lines(text: str, statements: tuple[Statement, ...]) -> list[Line]:
    """The lines of the layout, in order."""
    found: list[Line] = []
    depth = 0
    newlines = 1  # since the last thing that is not a blank
    complete = True  # whether the next value begins a line
    for mark in _marks(text, statements):
        if isinstance(mark, Value):
            if complete:
                found.append(Line(depth, blank=newlines > 1))
            found[-1].values.append(mark)
            found[-1].texts.append(text[mark.span.start : mark.span.end])
            complete = False
            newlines = 0
        elif mark == "\n":
            newlines += 1
            complete = True
        elif mark == "{":
            found[-1].opens = True
            depth += 1
            complete = True
            newlines = 0
        elif mark == "}":
            depth -= 1
            last = found[-1]
            if last.opens and not last.closes and not last.comment:
                last.closes = True
            else:
                found.append(Line(depth, blank=False, closes=True))
            complete = True
            newlines = 0
        elif newlines:
            found.append(Line(depth, blank=newlines > 1, comment=_trimmed(mark)))
            newlines = 0
        else:
            found[-1].comment = _trimmed(mark)
    _space(found)
    return found


def _space(lines: list[Line]) -> None:
    """Settle the blank lines."""
    lead = 0  # the first line of what leads up to the next statement: its comments, or itself
    for number, line in enumerate(lines):
        before = lines[number - 1] if number else None
        if before is None or (before.opens and not before.closes):
            line.blank = False
        elif line.depth == 0 and before.depth == 0 and before.closes:
            line.blank = True
        if line.blank or before is None or not before.remark:
            lead = number
        if line.opens and line.depth == 0 and lead:
            lines[lead].blank = True


def order(text: str, statements: tuple[Statement, ...]) -> list[str]:
    """Values, braces and comments in the order written. A comment has a blank before it where it
    follows something on its line."""
    found = []
    follows = False
    for mark in _marks(text, statements):
        if isinstance(mark, Value) or mark in {"{", "}"}:
            found.append("value" if isinstance(mark, Value) else mark)
            follows = True
        elif mark == "\n":
            follows = False
        else:
            found.append(" " + _trimmed(mark) if follows else _trimmed(mark))
    return found


def _marks(text: str, statements: tuple[Statement, ...]) -> Iterator[Value | str]:
    """Every value of the text, and between them each brace, newline and comment."""
    at = 0
    for value in _values(statements):
        for match in _MARK.finditer(text, at, value.span.start):
            yield match.group()
        yield value
        at = value.span.end
    for match in _MARK.finditer(text, at):
        yield match.group()


def _values(statements: Iterable[Statement]) -> Iterator[Value]:
    for statement in statements:
        yield from statement.values
        if statement.block:
            yield from _values(statement.block)


def _trimmed(comment: str) -> str:
    return comment.rstrip(" \t\r")
