"""Progress of long work: a live line on the terminal that stderr is."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.markup import escape
from rich.status import Status


class Live:
    """A reporter that draws one live line: the stage, its time, how far it is.

    Use it as a context manager; the line is gone when the block ends, and each finished stage
    has left one line behind with the time it took.
    """

    def __init__(self) -> None:
        self._console = Console(stderr=True, highlight=False)
        self._status = Status("", console=self._console)
        self._title = ""
        self._began = 0.0

    def __enter__(self) -> Live:
        self._status.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._finish("stopped" if kind else "")
        self._status.stop()

    def stage(self, title: str) -> None:
        """Leave the finished stage behind and begin the next."""
        self._finish("")
        self._title, self._began = title, time.monotonic()
        self._status.update(title)

    def advance(self, done: int, total: int, unit: str = "") -> None:
        """Show an amount; ``unit`` ``B`` is shown in megabytes."""
        if unit == "B":
            amount = f"{done / 1e6:,.1f} of {total / 1e6:,.1f} MB"
        else:
            amount = f"{done} of {total} {unit}".rstrip()
        self._status.update(f"{self._title}  {amount}")

    def line(self, text: str) -> None:
        """Show the last line of the work's own output, cut to fit."""
        width = max(20, self._console.width - len(self._title) - 8)
        clean = "".join(c for c in text.strip() if c.isprintable())[:width]
        self._status.update(f"{self._title}  [dim]{escape(clean)}[/dim]")

    def _finish(self, how: str) -> None:
        if self._title:
            seconds = time.monotonic() - self._began
            self._console.print(f"[dim]{seconds:6.1f} s[/dim]  {self._title} {how}".rstrip())
        self._title = ""
