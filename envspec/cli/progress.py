"""Progress for verbs: nothing is imported unless somebody is looking."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from envspec.cli import common

if TYPE_CHECKING:
    from envspec.reporter import Reporter


class _Silent:
    def stage(self, title: str) -> None:
        """Say nothing."""

    def advance(self, done: int, total: int, unit: str = "") -> None:
        """Say nothing."""

    def line(self, text: str) -> None:
        """Say nothing."""


@contextmanager
def reporting(*, quiet: bool) -> Iterator[Reporter]:
    """A live line on stderr where that is a terminal; silence elsewhere or on request."""
    if quiet or not common.is_terminal(sys.stderr):
        yield _Silent()
        return
    from envspec.report.progress import Live

    with Live() as live:
        yield live
