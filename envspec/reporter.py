"""Where long work tells how far it is: a protocol, so that no room depends on who draws it."""

from __future__ import annotations

from typing import Protocol


class Reporter(Protocol):
    """Told by long work, drawn by `envspec.report.progress`; silence is a reporter too."""

    def stage(self, title: str) -> None:
        """A new piece of work begins."""

    def advance(self, done: int, total: int, unit: str = "") -> None:
        """Amount done of a known total."""

    def line(self, text: str) -> None:
        """One line of the work's own output."""
