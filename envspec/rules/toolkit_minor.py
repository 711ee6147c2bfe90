"""W0355: the stated toolkit is of another CUDA minor than torch was built with."""

from __future__ import annotations

from collections.abc import Iterator

from envspec.diagnostics import Diagnostic
from envspec.rules.toolkit_mismatch import compared
from envspec.rules.view import View

CODE = "W0355"


def check(view: View) -> Iterator[Diagnostic]:
    """One finding, unless the line of the accelerator or of torch says why."""
    yield from compared(view, CODE)
