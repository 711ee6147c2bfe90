"""Text and places in it: the floor everything else stands on.

A place is two offsets. Lines and columns are worked out only when something is drawn, so a
stage never carries three numbers where one will do.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from typing import NamedTuple

# Characters that `str.isprintable` lets through and that show nothing: data can hide in them.
UNSEEN = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\ufe00-\ufe0e\uffa0"
    "\U000e0100-\U000e01ef"
)
"""A range for a regular expression's brackets. The selector of coloured emoji is not in it."""


class Span(NamedTuple):
    """Half-open range of character offsets into a source text."""

    start: int
    end: int


class Position(NamedTuple):
    """Line and column, both counted from 1, as editors show them."""

    line: int
    column: int


class SourceFile:
    """A named text. ``name`` is what the user typed, and is only ever shown."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        starts.extend(i + 1 for i, char in enumerate(self.text) if char == "\n")
        return starts

    def position(self, offset: int) -> Position:
        """Line and column of an offset; past the end means the end."""
        offset = max(0, min(offset, len(self.text)))
        index = bisect_right(self._line_starts, offset) - 1
        return Position(index + 1, offset - self._line_starts[index] + 1)

    def line_start(self, number: int) -> int:
        """Offset of the first character of a line (from 1) that is there."""
        return self._line_starts[number - 1]

    def line(self, number: int) -> str:
        """Text of a line (from 1), without its newline; empty past the end."""
        starts = self._line_starts
        if not 1 <= number <= len(starts):
            return ""
        end = starts[number] - 1 if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : end].rstrip("\r")
