"""E0314: a Python release that torch or TensorFlow has no wheels for.

A Python that a release supports as an experiment has wheels, and is accepted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from envspec.diagnostics import Diagnostic, Label
from envspec.facts import lookup
from envspec.facts.versions import version
from envspec.rules import pytorch
from envspec.rules.view import Settled, View

CODE = "E0314"


class _Range(NamedTuple):
    first: str
    last: str
    experimental: str | None

    def holds(self, python: str) -> bool:
        asked, first, last = version(python), version(self.first), version(self.last)
        if asked is None or first is None or last is None:
            return True
        return first <= asked[:2] <= last or python == self.experimental


def check(view: View) -> Iterator[Diagnostic]:
    """One finding for each framework, at the Python release."""
    python = view.spec.platform.python
    for package in (view.torch, view.settled.get("tensorflow")):
        if package is None or not pytorch.is_official(view, package.name):
            continue
        wheels = _wheels(view, package.name, package.public)
        if wheels is None or wheels.holds(python):
            continue
        extra = f" ({wheels.experimental} as an experiment)" if wheels.experimental else ""
        yield Diagnostic(
            CODE,
            f"{package.name} {package.public} has no wheel for Python {python}",
            view.source,
            (
                Label(view.spec.platform.python_span, "asked for here"),
                Label(package.span, f"needs Python {wheels.first} to {wheels.last}"),
            ),
            cause=f"its wheels are for Python {wheels.first} to {wheels.last}{extra}, and there is "
            "no source archive to build one from",
            hint=_mend(view, package, wheels),
        )


def _wheels(view: View, name: str, release: str) -> _Range | None:
    if name == "tensorflow":
        row = lookup.tensorflow_release(release)
        return _Range(row.python_min, row.python_max, None) if row else None
    builds = lookup.torch_builds(release, view.machine)
    if not builds:
        return None
    # Python is the same for every build of a release; take the most exact row.
    best = max(builds, key=lambda r: len(r.release))
    return _Range(best.python_min, best.python_max, best.python_experimental)


def _mend(view: View, package: Settled, wheels: _Range) -> str:
    python = view.spec.platform.python
    above = (version(python) or ()) > (version(wheels.last) or ())
    nearest = wheels.last if above else wheels.first
    hint = f"write `python {nearest}`, with a base image that has it"
    if package.name == "tensorflow":
        return hint
    series = lookup.torch_series(view.machine)
    asked = (version(package.public) or ())[:2]
    others = [s for s in series if ((version(s) or ()) > asked) == above]
    for candidate in others if above else reversed(others):
        found = _wheels(view, "torch", candidate)
        if found and found.holds(python):
            return f"{hint}, or torch {candidate}, {'the first' if above else 'the last'} for it"
    return hint
