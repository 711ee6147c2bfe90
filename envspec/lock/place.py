"""Where a value stands in JSON text: the standard reader forgets, so a second look finds it.

Only ever used after something was found wrong, so it may be slow.
"""

from __future__ import annotations

import re
from json import JSONDecoder
from json.decoder import scanstring  # type: ignore[attr-defined]

from envspec.source import Span

Step = str | int

_SPACE = re.compile(r"[ \t\n\r]*")


def place(text: str, path: tuple[Step, ...]) -> Span:
    """Span of the value at ``path`` (keys and positions) in valid JSON ``text``.

    Where the path leaves the document (a missing key), the place of the last value that exists.
    A repeated key means its last occurrence, the one that counts for every reader.
    """
    start = _skip(text, 0)
    for step in path:
        found = _member(text, start, step)
        if found is None:
            break
        start = found
    end = _end(text, start)
    # A whole block is no place to look at: its first line says enough.
    newline = text.find("\n", start, end)
    return Span(start, end if newline < 0 else newline)


def _member(text: str, at: int, step: Step) -> int | None:
    """Offset of the member ``step`` of the container that starts at ``at``."""
    opening = text[at]
    if opening not in "{[" or (opening == "{") != isinstance(step, str):
        return None
    found: int | None = None
    at = _skip(text, at + 1)
    position = 0
    while text[at] not in "}]":
        key: Step = position
        if opening == "{":
            key, at = scanstring(text, at + 1, True)
            at = _skip(text, _skip(text, at) + 1)  # past the colon
        if key == step:
            found = at
        at = _skip(text, _end(text, at))
        if text[at] == ",":
            at = _skip(text, at + 1)
        position += 1
    return found


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _end(text: str, at: int) -> int:
    return JSONDecoder().raw_decode(text, at)[1]
