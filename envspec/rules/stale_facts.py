"""W0348: facts that the spec is judged by are due for review.

It needs to know what day it is, so it is not among the rules of `rules.check`: the command line
asks for it with the day.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from envspec.diagnostics import WARNING, Diagnostic, Label
from envspec.facts import tables
from envspec.facts.builds import COMPANIONS
from envspec.facts.rows import Extension
from envspec.rules.view import View
from envspec.wording import ticked

if TYPE_CHECKING:
    from datetime import date

CODE = "W0348"
_CUDA = ("cuda_arch", "cuda_branch", "cuda_driver", "cuda_toolkit")


def check(view: View, today: date) -> Iterator[Diagnostic]:
    """At most one finding, which names every table."""
    found = tables.stale(today, depends_on(view))
    if not found:
        return
    lines = []
    for name, group in groupby(found, key=lambda row: row.table):
        rows = list(group)
        oldest = max(rows, key=lambda row: row.age_days)
        lines.append(
            f"`{name}`: {_count(len(rows))} of {oldest.as_of} or later, "
            f"to be looked at after {oldest.review_days} days"
        )
    names = sorted({row.table for row in found})
    oldest = max(found, key=lambda row: row.age_days)
    yield Diagnostic(
        CODE,
        f"facts that this spec is judged by are due for review, the oldest {oldest.age_days} "
        "days old",
        view.source,
        (Label(view.home, f"judged by {ticked(names)}"),),
        cause="; ".join(lines),
        hint="install a newer envspec; `envspec facts --stale` lists the rows",
        severity=WARNING,
    )


def depends_on(view: View) -> frozenset[str]:
    """Names of the tables that answer questions about this spec."""
    names = {*view.stated, *view.locked}
    found = {"distribution"}
    if view.cuda:
        found.update(_CUDA)
    if "nvidia/cuda" in view.spec.platform.base or "nvidia/cuda" in view.spec.platform.devel:
        found.add("cuda_images")
    if "torch" in names:
        found.add("torch")
        if names.intersection(COMPANIONS):
            found.add("torch_pairing")
    if "jax" in names:
        found.add("jax")
    if "tensorflow" in names:
        found.add("tensorflow")
    if view.spec.extensions:
        found.add("host_compiler")
    if view.spec.extensions or names.intersection(row.name for row in tables.rows(Extension)):
        found.update(("extensions", "extension_wheels"))
    return frozenset(found)


def _count(rows: int) -> str:
    return f"{rows} row" if rows == 1 else f"{rows} rows"
