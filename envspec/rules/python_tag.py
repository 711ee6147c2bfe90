"""E0314: a Python release that torch, TensorFlow, JAX or a companion of torch has no wheels for.

A Python that a release supports as an experiment has wheels, and is accepted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from envspec.diagnostics import Diagnostic, Label
from envspec.facts import lookup
from envspec.facts.versions import version
from envspec.rules.shared import pytorch
from envspec.rules.view import Settled, View

CODE = "E0314"
# Those that have no source archive on the default index; that of jax is without its jaxlib.
_TENSORFLOW = ("tensorflow", "tensorflow-cpu", "tensorflow-gpu")  # for the same Pythons
_FRAMEWORKS = ("torch", *_TENSORFLOW, "jax")
_COMPANIONS = ("torchaudio", "torchvision")


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
    """One finding for each framework, at the Python release; for torchvision and torchaudio only
    where torch itself has a wheel."""
    python = view.spec.platform.python
    missed = False
    for name in (*_FRAMEWORKS, *_COMPANIONS):
        package = view.settled.get(name)
        if package is None or not pytorch.is_official(view, name):
            continue
        wheels = _wheels(view, name, package.public)
        if wheels is None or wheels.holds(python) or (missed and name in _COMPANIONS):
            continue
        missed = True
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
    """The Pythons of a framework's wheels: those of torch's own build where that is known, else
    the widest range that one of its builds has."""
    if name in _TENSORFLOW:
        row = lookup.tensorflow_release(release)
        return _Range(row.python_min, row.python_max, None) if row else None
    if name == "jax":
        jax = lookup.jax_release(release) if view.machine == "x86_64" else None
        return _Range(jax.python_min, jax.python_max, None) if jax else None
    if name in _COMPANIONS:
        pairs = lookup.companion(name, release)
        ranges = [_Range(r.python_min, r.python_max, None) for r in pairs
                  if r.python_min and r.python_max]  # fmt: skip
        return ranges[0] if ranges and view.machine == "x86_64" else None
    builds = lookup.torch_builds(release, view.machine)
    own = [r for r in builds if r.build == view.torch_build_name] or builds
    ranges = [_Range(r.python_min, r.python_max, r.python_experimental) for r in own]
    return next((r for r in ranges if r.holds(view.spec.platform.python)), None) or next(
        iter(ranges), None
    )


def _mend(view: View, package: Settled, wheels: _Range) -> str:
    python = view.spec.platform.python
    above = (version(python) or ()) > (version(wheels.last) or ())
    nearest = wheels.last if above else wheels.first
    hint = f"write `python {nearest}`, with a base image that has it"
    if package.name != "torch":
        return hint
    series = lookup.torch_series(view.machine)
    asked = (version(package.public) or ())[:2]
    others = [s for s in series if ((version(s) or ()) > asked) == above]
    for candidate in others if above else reversed(others):
        found = _wheels(view, "torch", candidate)
        if found and found.holds(python):
            return f"{hint}, or torch {candidate}, {'the first' if above else 'the last'} for it"
    return hint
