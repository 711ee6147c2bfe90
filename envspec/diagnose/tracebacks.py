"""The tracebacks of Python in a log: where each begins and ends, and which belong together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from envspec.diagnose.log import Line

_HEADER = "Traceback (most recent call last)"
_LONGEST = 600  # lines of one traceback
_MESSAGE = 14  # lines of a message behind its first
_FRAME = re.compile(
    r'(?:File "(?P<file>[^"]{1,400})", line \d|File (?P<cell>\S{1,400}?):\d{1,7}(?:, in |$))'
)
_LINKS = (
    "During handling of the above exception, another exception occurred",
    "The above exception was the direct cause of the following exception",
)
_LIBRARY = re.compile(r"site-packages|dist-packages|[/\\]lib[/\\]python\d|<frozen|[/\\]pkgs[/\\]")
REPOSITORY, LIBRARY = "repository", "library"


class Traceback(NamedTuple):
    """``start`` and ``end`` are positions of lines: the header and the line that names the
    exception; ``last`` is the last line of its message. ``files`` are those of its frames,
    innermost last."""

    start: int
    end: int
    last: int
    files: tuple[str, ...]

    @property
    def innermost(self) -> str:
        """Whose code raised: ``repository``, ``library``, or empty where nothing tells."""
        if not self.files or self.files[-1].startswith("<"):
            return LIBRARY if self.files and self.files[-1].startswith("<frozen") else ""
        return LIBRARY if _LIBRARY.search(self.files[-1]) else REPOSITORY


def chains(lines: Sequence[Line]) -> list[list[Traceback]]:
    """Tracebacks in order, those that were raised because of each other in one list."""
    found: list[list[Traceback]] = []
    position = 0
    linked = False
    while position < len(lines):
        body = lines[position].body
        if any(body.startswith(link) for link in _LINKS):
            linked = True
        if _begins(lines, position):
            traceback = _read(lines, position)
            if linked and found:
                found[-1].append(traceback)
            else:
                found.append([traceback])
            linked = False
            position = max(traceback.end, position)
        position += 1
    return found


def _begins(lines: Sequence[Line], position: int) -> bool:
    body = lines[position].body
    if _HEADER in body:
        return True
    # The syntax error of the program itself has no header.
    if not _FRAME.match(body):
        return False
    return any("SyntaxError" in e or "Indentation" in e or "TabError" in e
               for line in lines[position + 1 : position + 5] for e in line.exceptions)  # fmt: skip


def _read(lines: Sequence[Line], start: int) -> Traceback:
    files: list[str] = []
    position = start if _FRAME.match(lines[start].body) else start + 1
    limit = min(len(lines), start + _LONGEST)
    while position < limit:
        line = lines[position]
        frame = _FRAME.match(line.body)
        if frame:
            files.append(frame["file"] or frame["cell"])
        elif _HEADER in line.body:
            return Traceback(start, position - 1, position - 1, tuple(files))
        elif line.exceptions and not line.survived and position > start:
            return Traceback(start, position, _message(lines, position), tuple(files))
        position += 1
    return Traceback(start, limit - 1, limit - 1, tuple(files))


def _message(lines: Sequence[Line], end: int) -> int:
    """The last line of the message that begins at ``end``."""
    position = end
    for position in range(end + 1, min(len(lines), end + 1 + _MESSAGE)):
        line = lines[position]
        gap = line.number - lines[position - 1].number
        if gap > 2 or _HEADER in line.body or any(line.body.startswith(x) for x in _LINKS):
            return position - 1
        if line.exceptions:
            return position - 1
    return position
