"""E0319: packages of two CUDA majors in one environment.

Nothing in their metadata contradicts, so a resolver lets them in: torch 2.11 from the default
index is built for CUDA 13 and stands beside `jax[cuda12]` without a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from envspec.diagnostics import Diagnostic, Edit, Fix, Label
from envspec.facts import lookup
from envspec.facts.versions import version
from envspec.model import Package
from envspec.placing import within
from envspec.rules.shared import pytorch
from envspec.rules.view import View
from envspec.source import Span
from envspec.wording import either, listed

CODE = "E0319"
_BY_NAME = re.compile(
    r"(?:nvidia-[a-z0-9-]+|cupy|faiss-gpu|spconv|cumm|cudf|cuml|cugraph|cuvs|rmm|pylibraft|raft-dask"
    r"|tensorrt|jax)-cu(?:da)?(1\d)\d?x?(?:-plugin|-pjrt)?",
    re.ASCII,
)
_BY_EXTRA = re.compile(r"cuda(1\d)(?:[-_].*)?", re.ASCII)
_BY_LOCAL = re.compile(r"(?:pt\d+)?cu(1\d)\d?(?:torch.*)?", re.ASCII)
# Wheels without a suffix whose own number is that of CUDA; cuFFT and others count apart.
_BY_VERSION = frozenset(
    {
        "cuda-toolkit", "nvidia-cublas", "nvidia-cuda-cupti", "nvidia-cuda-nvcc",
        "nvidia-cuda-nvrtc", "nvidia-cuda-runtime", "nvidia-nvjitlink", "nvidia-nvtx",
    }
)  # fmt: skip


class _Evidence(NamedTuple):
    """A package that belongs to a CUDA major."""

    major: str
    shown: str
    span: Span
    extra: str = ""
    library: str = ""


def check(view: View) -> Iterator[Diagnostic]:
    """At most one finding, at the package that is not torch."""
    by_major: dict[str, list[_Evidence]] = {}
    for evidence in _all(view):
        by_major.setdefault(evidence.major, []).append(evidence)
    if len(by_major) < 2:
        return
    first = [found[0] for found in by_major.values()]
    majors = sorted(by_major)
    newest = lookup.driver_floor(majors[-1])
    driver = f"; the driver has to suit the newer one, {newest.linux}" if newest else ""
    hint, fix = _mend(view, first)
    names = listed(e.shown for e in first)
    yield Diagnostic(
        CODE,
        f"CUDA {listed(majors)} in one environment, by {names}",
        view.source,
        tuple(Label(e.span, f"{e.shown} is for CUDA {e.major}") for e in reversed(first)),
        cause="no metadata forbids it, so it resolves, and one process then loads the libraries of "
        f"each{driver}",
        hint=hint,
        fix=fix,
    )


def _all(view: View) -> Iterator[_Evidence]:
    """Evidence in the order of weight: torch, what the spec asks for, what the lock brings."""
    if view.torch_cuda:
        major = view.torch_cuda.partition(".")[0]
        yield _Evidence(major, pytorch.shown(view), pytorch.place(view))
    for package in view.spec.packages:
        yield from _by_extras(view, package)
    for name, stated in view.stated.items():
        match = _BY_NAME.fullmatch(name)
        # A library that is listed with its reason is known to be there.
        if match and not (stated.because and name.startswith("nvidia-")):
            yield _Evidence(match[1], f"`{name}`", stated.span, library=_library(name))
    for name, settled in view.settled.items():
        if name in {"torch", "torchvision"}:
            continue  # the first is above, and E0318 is about the second
        reasoned = name in view.stated and bool(view.stated[name].because)
        if name not in view.stated and (match := _BY_NAME.fullmatch(name)):
            said = f"`{name}` of the lock"
            yield _Evidence(match[1], said, settled.span, library=_library(name))
        elif settled.local and (match := _BY_LOCAL.fullmatch(settled.local)):
            yield _Evidence(match[1], f"{name} {settled.version}", settled.span)
        elif name in _BY_VERSION and not reasoned:
            major = str((version(settled.public) or (0,))[0])
            if major in {"11", "12", "13"}:
                yield _Evidence(major, f"`{name}` {settled.public}", settled.span)


def _library(name: str) -> str:
    """A library of NVIDIA that something else may have brought, ``""`` for any other package."""
    return name if name.startswith("nvidia-") else ""


def _by_extras(view: View, package: Package) -> Iterator[_Evidence]:
    if package.name in {"jax", "jaxlib"}:
        for extra in package.extras:
            match = _BY_EXTRA.fullmatch(extra)
            if match:
                yield _Evidence(match[1], f"`{package.name}[{extra}]`", package.span, extra)
    settled = view.settled.get(package.name)
    if package.name == "tensorflow" and "and-cuda" in package.extras and settled:
        row = lookup.tensorflow_release(settled.public)
        if row:
            major = row.cuda.partition(".")[0]
            yield _Evidence(major, f"`tensorflow[and-cuda]` {settled.public}", package.span)


def _mend(view: View, first: list[_Evidence]) -> tuple[str, Fix | None]:
    torch, other = first[0], first[1]
    if not view.torch_cuda or view.torch is None:
        return "take all packages for one CUDA major", None
    builds = [
        r.build
        for r in pytorch.cuda_builds(view)
        if (r.cuda or "").partition(".")[0] == other.major and pytorch.is_official(view)
    ]
    choices = []
    fix = None
    if other.extra and torch.major in {"12", "13"}:
        extra = other.extra.replace(other.major, torch.major, 1)
        choices.append(f"take the extra `{extra}` instead of `{other.extra}`")
        at = within(view.source, other.span, other.extra)
        if at and not builds and len(first) == 2:
            fix = Fix(f"take the CUDA {torch.major} plugin", (Edit(at, extra),))
    if builds:
        named = either(builds)
        choices.append(f"take torch {view.torch.public} in build {named}")
    if other.library in view.stated:
        choices.append("say with `because` on its line why it may stay")
    elif other.library:
        choices.append(f"list `{other.library}` in `packages`, with a `because`")
    return ", or ".join(choices) or f"take {other.shown} for CUDA {torch.major}", fix
