"""E0356: the base image does not hold the Python that the spec asks for.

The environment is made by the base's own `pythonX.Y`. Looked at are images whose names tell what
is inside: the official ones of Python, and those of Debian, Ubuntu and CUDA, which have none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from envspec.diagnostics import Diagnostic, Label
from envspec.facts import images
from envspec.rules.view import View

CODE = "E0356"
_BARE = ("debian", "ubuntu")
# Whatever brings a Python under a name of its own is taken to bring the right one.
_PYTHON = re.compile(r"python.*|libpython.*|pypy.*|.*conda.*", re.ASCII)


def check(view: View) -> Iterator[Diagnostic]:
    """One finding, at the base."""
    platform = view.spec.platform
    python, base = platform.python, platform.base
    if any(_PYTHON.fullmatch(p.name) for p in view.spec.system if p.stage == "runtime"):
        return
    instead = f"`python:{python}-slim-bookworm`"
    held = images.python_of(base)
    if held and held != python:
        title = f"`{base}` holds Python {held}, and the spec asks for {python}"
        cause = f"the environment is made by `python{python}` of the base, which it does not have"
        label, hint = f"Python {held}", f"write `python {held}`, or take {instead}"
    elif images.parts(base).official in _BARE or images.cuda_flavour(base):
        title = f"`{base}` has no Python, and the spec asks for {python}"
        cause = (
            f"the environment is made by `python{python}` of the base; this image holds the "
            f"distribution{' and CUDA' if images.cuda_flavour(base) else ''} alone"
        )
        label = "no Python"
        hint = f"take {instead}, or install `python{python}` by `runtime` in `system`"
        if images.cuda_flavour(base) == "devel" and not platform.devel and view.spec.extensions:
            hint = f"write this image as `devel`, and take {instead} as `base`"
        elif images.cuda_flavour(base):
            hint += "; wheels bring the libraries of CUDA"
    else:
        return
    labels = (Label(platform.base_span, label), Label(platform.python_span, "asked for here"))
    yield Diagnostic(CODE, title, view.source, labels, cause=cause, hint=hint)
