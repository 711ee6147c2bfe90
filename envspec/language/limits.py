"""How large a spec may be and which characters it may hold, whatever form it comes in."""

from __future__ import annotations

import re
from itertools import islice

from envspec.diagnostics import DiagnosticError
from envspec.source import UNSEEN, SourceFile, Span

MAX_BYTES = 1 << 20
MAX_STATEMENTS = 10_000
MAX_LINES = 50_000
MAX_VALUES = 50_000
"""Half a million words on one line are one statement, and take seconds to read."""

# Control characters other than tab and newline, characters that show nothing (they can hide data,
# or make a line read as something else), and every blank that is neither space, tab nor newline.
FORBIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\xa0\xad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f"
    "\u205f-\u206f\u3000\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff"
    f"{UNSEEN}]|\r(?!\n)"
)

# Comments are matched too, and count: they are as much work.
_VALUE = re.compile(
    r'#[^\n]*|(?:[A-Za-z_][A-Za-z0-9_]*=)?"[^"\\\n]*(?:\\.[^"\\\n]*)*"?|[^\s"{}#]+|[{}]'
)


def forbidden_in_string(text: str) -> str:
    """The first character that no string of a spec may hold, ``""`` where there is none."""
    match = FORBIDDEN.search(text)
    if match:
        return match.group()[0]
    return next((char for char in text if char in "\r\n"), "")


def check_count(source: SourceFile, count: int) -> None:
    """Refuse more statements than a spec may have.

    Raises:
        DiagnosticError: E0105.
    """
    if count > MAX_STATEMENTS:
        raise DiagnosticError.of(
            "E0105",
            f"the spec has {count:,} statements, the limit is {MAX_STATEMENTS:,}",
            source=source,
            span=Span(0, 0),
            hint="one spec describes one environment; split the project",
        )


def check_shape(source: SourceFile) -> None:
    """Refuse more lines or more values than can be read within a second.

    Raises:
        DiagnosticError: E0105, with no more of the text than its beginning.
    """
    wrong = _too_much(source.text)
    if wrong:
        raise DiagnosticError.of(
            "E0105",
            f"the spec has more than {wrong}",
            source=SourceFile(source.name, source.text[:200]),
            span=Span(0, 0),
            hint="a spec names files, it does not contain them",
        )


def fits_shape(text: str) -> bool:
    """Whether a text has no more lines and values than a spec may have."""
    return not _too_much(text)


def _too_much(text: str) -> str:
    if text.count("\n") > MAX_LINES:
        return f"{MAX_LINES:,} lines"
    # Counting blanks, quotes and braces is quick and counts too many: strings hold them as well.
    most = len(text.split(None, MAX_VALUES)) + sum(map(text.count, '{}"'))
    if most <= MAX_VALUES:
        return ""
    found = sum(1 for _ in islice(_VALUE.finditer(text), MAX_VALUES + 1))
    return f"{MAX_VALUES:,} values" if found > MAX_VALUES else ""


def check_size(source: SourceFile) -> None:
    """Refuse a text that is larger than a spec may be.

    Raises:
        DiagnosticError: E0105, with no more of the text than its beginning.
    """
    size = len(source.text)
    if size > MAX_BYTES or (not source.text.isascii() and _bytes(source.text) > MAX_BYTES):
        raise DiagnosticError.of(
            "E0105",
            f"the spec is larger than {MAX_BYTES:,} bytes",
            source=SourceFile(source.name, source.text[:200]),
            span=Span(0, 0),
            hint="a spec names files, it does not contain them",
        )


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
