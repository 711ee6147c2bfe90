"""How large a spec may be and which characters it may hold, whatever form it comes in."""

from __future__ import annotations

import re

from envspec.diagnostics import DiagnosticError
from envspec.source import UNSEEN, SourceFile, Span

MAX_BYTES = 1 << 20
MAX_STATEMENTS = 10_000

# Control characters other than tab and newline, characters that show nothing (they can hide data,
# or make a line read as something else), and every blank that is neither space, tab nor newline.
FORBIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\xa0\xad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f"
    "\u205f-\u206f\u3000\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff"
    f"{UNSEEN}]|\r(?!\n)"
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
