"""The solver: the newest consistent set of CUDA, torch and companions that the facts allow.

`solve` answers; `check` says as findings what a spec leaves open and how it could be settled.
Both are pure. What costs time is imported when something is open, and not before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from envspec.diagnostics import Diagnostic
from envspec.model import Spec
from envspec.source import SourceFile

if TYPE_CHECKING:
    from envspec.solve.values import Conflict, Solution


def solve(spec: Spec, source: SourceFile) -> Solution | Conflict:
    """The newest set that meets everything that a spec with `accelerator cuda` states, or the
    statements that cannot be met together.

    Newest means: a build of the stated toolkit's X.Y, if there is one; a build that is not
    experimental; the newest torch release; its default build; the newest CUDA build.
    """
    from envspec.solve.answer import answer  # noqa: PLC0415 - the tables and resolvelib

    return answer(spec, source)


def check(
    spec: Spec, source: SourceFile, locked: Mapping[str, str] | None = None
) -> Iterator[Diagnostic]:
    """W0350 where `accelerator cuda` leaves the toolkit, torch or a companion open, with the
    solution as its fix; E0353 where nothing fits what is stated.

    ``locked`` are the versions of the lock: what it holds is not open.
    """
    if spec.accelerator.kind != "cuda":
        return
    from envspec.solve.open import left_open, pinned  # noqa: PLC0415

    settled = pinned(spec, locked or {})
    if any(name != "driver" for name in left_open(settled)):
        from envspec.solve.answer import finding  # noqa: PLC0415

        yield finding(settled, source)
