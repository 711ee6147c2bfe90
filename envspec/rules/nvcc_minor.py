"""W0391: an extension is compiled with another CUDA minor than torch's."""

from __future__ import annotations

from collections.abc import Iterator

from envspec.diagnostics import Diagnostic
from envspec.rules.nvcc_major import compared
from envspec.rules.view import View

CODE = "W0391"


def check(view: View) -> Iterator[Diagnostic]:
    """One finding: the majors agree and the minors do not."""
    yield from compared(view, CODE)
