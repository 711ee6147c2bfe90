"""Text of a log → lines, each without what tools put in front of it. Pure, bounded, linear.

A log is hostile: it may be endless, one endless line, or steer a terminal. At most `MOST_BYTES` and
`MOST_LINES` are looked at, its beginning and its end, and of a line its first `WIDEST` characters.
What is shown of it goes through `envspec.render.visible`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MOST_BYTES = 1 << 20
MOST_LINES = 40_000
WIDEST = 1000
_HEAD = 256 << 10  # of a log that is too long, so much of its beginning; the rest is its end

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-9;:?]{0,40}[ -/]{0,4}[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[@-Z\\-_])"
)
_LEVELS = (
    "CRITICAL|FATAL|ERROR|WARNING|WARN|INFO|DEBUG|NOTICE|TRACE|Error|error|Warning|warning|fatal"
)
_PREFIX = re.compile(
    rf"""
      \#\d{{1,4}}(?:\ \d{{1,5}}\.\d{{1,4}})?\s{{1,8}}                       # BuildKit
    | \d{{1,5}}\.\d{{1,4}}\s{{1,12}}(?=\S)                                  # its plain progress
    | [\[(]?\d{{4}}-\d\d-\d\d[T\ _]\d\d:\d\d:\d\d(?:[.,]\d{{1,9}})?(?:Z|[+-]\d\d:?\d\d)?[\])]?:?
    | \d\d[-/]\d\d\ \d\d:\d\d:\d\d(?:[.,]\d{{1,9}})?
    | \[?\d\d:\d\d:\d\d(?:[.,-]\d{{1,9}})?\]?(?=\s)
    | (?P<glog>[EWIF])\d{{4}}\ \d\d:\d\d:\d\d\.\d{{1,9}}\s{{1,4}}\d{{1,9}}\ \S{{1,120}}:\d{{1,6}}\]
    | (?P<tensorflow>[EWIF])\ \S{{1,160}}:\d{{1,6}}\]
    | \[?[Rr]ank\s?\d{{1,5}}\]?:?(?=\s|$)
    | \[\d{{1,4}}\]:?(?=\s)
    | \[\d{{1,3}},\d{{1,5}}\]<std(?:out|err)>:
    | \((?:[\w.]{{1,40}}\ )?(?:pid|rank)=\d{{1,9}}(?:,\ ip=[\d.]{{1,15}})?\)
    | [\w.-]{{1,40}}\s{{0,20}}\|(?=\s)                                      # compose
    | \#\#\[error\] | ::error[^:]{{0,200}}::
    | \[?(?P<level>{_LEVELS})\]?
      (?::|\s{{0,20}}[|\]]|(?=\s{{1,8}}(?:\d\d-\d\d|\S{{0,40}}\d\d:\d\d))|(?=\ {{1,8}}\[))
    | \[[\w./-]{{1,80}}:\d{{1,6}}\]
    | (?P<pytest>E)(?:\s{{2,12}}|:\ )(?=\S)
    | [│┃║╭╰─▶×❱|]{{1,6}}
    """,
    re.VERBOSE,
)
_WARNED = re.compile(
    r"(?:\S{1,400}:\d{1,7}: )?(?:[A-Za-z_]\w{0,60}\.){0,6}([A-Z]\w{0,60}Warning):(?= |$)"
)
_EXCEPTION = re.compile(
    r"(?:[A-Za-z_]\w{0,60}\.){0,8}(?P<name>_?[A-Z]\w{0,60}(?:Error|Exception|Exit|Interrupt|Expired"
    r"|Failure|Failed|Conflict|NotFound|Missing|Enabled|Timeout|Unavailable|Killed|Invalid)"
    r"|gaierror|KeyboardInterrupt)(?::(?: |$)|$)"
)
_WARNING, _INFO, _ERROR = "warning", "info", "error"
_NAMES = {
    "CRITICAL": _ERROR, "FATAL": _ERROR, "ERROR": _ERROR, "Error": _ERROR, "error": _ERROR,
    "fatal": _ERROR, "E": _ERROR, "F": _ERROR,
    "WARNING": _WARNING, "WARN": _WARNING, "Warning": _WARNING, "warning": _WARNING, "W": _WARNING,
    "INFO": _INFO, "DEBUG": _INFO, "NOTICE": _INFO, "TRACE": _INFO, "I": _INFO,
}  # fmt: skip


class Line(NamedTuple):
    """One line. ``number`` counts from 1 in the whole log; ``raw`` is the line as it was, cut;
    ``body`` is it without prefixes, ``message`` also without the names of exceptions, which are
    ``exceptions``, outermost first. ``level`` is ``error``, ``warning``, ``info`` or empty."""

    number: int
    raw: str
    body: str
    message: str
    exceptions: tuple[str, ...]
    level: str

    @property
    def survived(self) -> bool:
        """Whether the line says of itself that the program goes on."""
        return self.level in {_WARNING, _INFO}


class Log(NamedTuple):
    """A log: ``name`` is what it is called where it is shown, ``left_out`` how many lines in its
    middle were not looked at. ``innermost`` is whose code raised the last exception, where
    somebody has looked (``repository`` or ``library``), else empty."""

    name: str
    lines: tuple[Line, ...]
    left_out: int = 0
    innermost: str = ""


def read(name: str, data: bytes, innermost: str = "") -> Log:
    """A log from its bytes, of which any number may be given."""
    head, rest, skipped = data, b"", 0
    if len(data) > MOST_BYTES:
        head, rest = data[:_HEAD], data[len(data) - (MOST_BYTES - _HEAD) :]
        # Whole lines only, so that numbers stay right.
        head = head[: head.rfind(b"\n") + 1] or head
        at = rest.find(b"\n")
        rest = rest[at + 1 :] if at >= 0 else rest
        skipped = data.count(b"\n", len(head), len(data) - len(rest))
    parts = _parts(head, 1)
    if rest:
        parts += _parts(rest, 1 + head.count(b"\n") + skipped)
    if len(parts) > MOST_LINES:
        skipped += len(parts) - MOST_LINES
        parts = parts[: MOST_LINES // 4] + parts[-(MOST_LINES - MOST_LINES // 4) :]
    return Log(name, tuple(line(number, part) for number, part in parts), skipped, innermost)


def _parts(data: bytes, first: int) -> list[tuple[int, str]]:
    text = data.decode("utf-8", "replace")
    found = []
    for number, whole in enumerate(text.split("\n"), first):
        # A bar of progress is written over itself: each state of it is a line to look at.
        for part in whole.split("\r")[-4:] if "\r" in whole else (whole,):
            if part and not part.isspace():
                found.append((number, part))
    return found


def line(number: int, raw: str) -> Line:
    """One line, taken apart."""
    raw = raw[: 4 * WIDEST]
    plain = (_ESCAPES.sub("", raw) if "\x1b" in raw else raw)[:WIDEST]
    body, level = plain.strip(), ""
    for _ in range(8):
        match = _PREFIX.match(body)
        if match is None or match.end() == 0:
            break
        named = match["glog"] or match["tensorflow"] or match["level"] or match["pytest"]
        level = _NAMES.get(named, level) if named else level
        body = body[match.end() :].lstrip(" \t:")
    if match := _WARNED.match(body):
        return Line(number, plain, body, body[match.end() :].strip(), (match[1],), _WARNING)
    message, exceptions = body, []
    for _ in range(3):
        raised = _EXCEPTION.match(message)
        if raised is None:
            break
        exceptions.append(raised["name"])
        message = message[raised.end() :].strip()
    return Line(number, plain, body, message, tuple(exceptions), level)
