r"""The text of an open document, and its places as the protocol counts them. Pure.

A line of the protocol ends with ``\n``, ``\r\n`` or ``\r`` and with nothing else, whatever
`str.splitlines` thinks of form feeds and line separators: a client that counts otherwise would
edit another line than the one it shows.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from typing import NamedTuple

from envspec.source import Span

UTF8, UTF16, UTF32 = "utf-8", "utf-16", "utf-32"

_BREAK = re.compile(r"\r\n|\r|\n")
_BYTES = {UTF8: ("utf-8", 1), UTF16: ("utf-16-le", 2), UTF32: ("utf-32-le", 4)}


class Place(NamedTuple):
    """Line and column, both counted from 0, the column in units of the encoding."""

    line: int
    column: int


class Text:
    """One version of a document. ``encoding`` says in which units its client counts columns."""

    def __init__(self, text: str, encoding: str = UTF16) -> None:
        self.text = text
        self.encoding = encoding

    @cached_property
    def _lines(self) -> tuple[list[int], list[int]]:
        """Where each line starts, and where it ends without its line break."""
        starts, ends = [0], []
        for match in _BREAK.finditer(self.text):
            ends.append(match.start())
            starts.append(match.end())
        ends.append(len(self.text))
        return starts, ends

    def place(self, offset: int) -> Place:
        """Where an offset is; past the end means the end."""
        starts, ends = self._lines
        offset = max(0, min(offset, len(self.text)))
        line = bisect_right(starts, offset) - 1
        before = self.text[starts[line] : min(offset, ends[line])]
        return Place(line, units(before, self.encoding))

    def offset(self, place: Place) -> int:
        """The offset of a place. A column past the end of its line means the end of the line, a
        line past the last one the end of the text."""
        starts, ends = self._lines
        if place.line < 0:
            return 0
        if place.line >= len(starts):
            return len(self.text)
        start, end = starts[place.line], ends[place.line]
        line = self.text[start:end]
        if line.isascii() or self.encoding == UTF32:
            return start + max(0, min(place.column, len(line)))
        counted = 0
        for i, char in enumerate(line):
            if counted >= place.column:
                return start + i
            counted += units(char, self.encoding)
        return end

    def changed(self, start: Place, end: Place, replacement: str) -> Text:
        """The text with what stands between two places replaced."""
        first, last = self.offset(start), self.offset(end)
        head, tail = self.text[:first], self.text[max(first, last) :]
        return Text(f"{head}{replacement}{tail}", self.encoding)

    def line_of(self, offset: int) -> Span:
        """The line an offset is on, without its break."""
        starts, ends = self._lines
        line = bisect_right(starts, max(0, min(offset, len(self.text)))) - 1
        return Span(starts[line], ends[line])


def units(text: str, encoding: str) -> int:
    """How long a text is in the units of an encoding."""
    if text.isascii() or encoding == UTF32:
        return len(text)
    codec, size = _BYTES.get(encoding, _BYTES[UTF16])
    return len(text.encode(codec, "surrogatepass")) // size
