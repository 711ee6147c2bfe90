"""Solutions and conflicts as findings."""

from __future__ import annotations

from envspec.diagnostics import ERROR, WARNING, Diagnostic, Label
from envspec.model import Spec
from envspec.solve.values import Conflict, Solution
from envspec.source import SourceFile
from envspec.stated import home
from envspec.wording import listed

OPEN, CONFLICT = "W0350", "E0353"


def unsettled(spec: Spec, source: SourceFile, found: Solution) -> Diagnostic:
    """W0350: something is open, and there is a set that settles it."""
    names = [name for name in found.open if name != "driver"]
    what = f"the {listed(names)}" if names[0] == "toolkit" else listed(names)
    described = found.fix.description.removeprefix("fill in ") if found.fix else found.name
    return Diagnostic(
        OPEN,
        f"`accelerator cuda` leaves {what} open",
        source,
        (Label(home(spec), "the newest set that the facts know is not written down"),),
        cause="what is left open is decided by whoever resolves the spec next; the lines above say "
        f"why {found.name} fits",
        hint=f"write {described}, or run `envspec check --fix`; `envspec solve` names the sources",
        excerpt=tuple(link.text for link in found.chain),
        fix=found.fix,
        severity=WARNING,
    )


def contradiction(spec: Spec, source: SourceFile, found: Conflict) -> Diagnostic:
    """E0353, or W0350 where the facts do not tell whether the statements conflict."""
    said = [f"`{demand.statement.said}`" for demand in found.demands]
    together = f"{listed(said)} together" if len(said) > 1 else "".join(said)
    labels = tuple(Label(d.statement.span, d.text) for d in found.demands)
    labels = labels or (Label(home(spec)),)
    hint = "; or ".join(found.relaxations)
    if not found.known:
        return Diagnostic(
            OPEN,
            f"`accelerator cuda` cannot be settled: the facts know no set for {together}",
            source,
            labels,
            cause="a set may exist, but no row of the tables says that it fits",
            hint="; or ".join(["state the toolkit and the versions", *found.relaxations]),
            severity=WARNING,
        )  # fmt: skip
    return Diagnostic(
        CONFLICT,
        f"no set of CUDA, torch and companions meets {together}",
        source,
        labels,
        cause="any one of these could be left out and the rest be met" if len(said) > 1 else "",
        hint=hint or "no single change is enough: other statements conflict as well",
        severity=ERROR,
    )
