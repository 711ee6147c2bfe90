"""The end of a stream that may never end, and lines of it that are safe to show."""

from __future__ import annotations

import re

# Escape sequences that move a terminal's cursor or change its colours, then every other
# control character. A program under test must not be able to draw on the user's screen.
_SEQUENCES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
LONGEST_LINE = 2000


class Tail:
    """Keeps the last ``limit`` bytes of what is added, in at most twice that memory."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept = bytearray()
        self.total = 0

    def add(self, data: bytes) -> None:
        """Take the next bytes of the stream."""
        self.total += len(data)
        self._kept += data[-self._limit :] if self._limit else b""
        if len(self._kept) > 2 * self._limit:
            del self._kept[: -self._limit or None]

    @property
    def content(self) -> bytes:
        """The end of the stream."""
        return bytes(self._kept[-self._limit :]) if self._limit else b""

    @property
    def truncated(self) -> bool:
        """Whether there was more than is kept."""
        return self.total > self._limit


def printable(text: str) -> str:
    """One line without control characters, cut where it gets too long to read."""
    text = _CONTROLS.sub("", _SEQUENCES.sub("", text.rsplit("\r", 1)[-1] or text))
    return text if len(text) <= LONGEST_LINE else text[:LONGEST_LINE] + " …"
