"""E0337: nvcc cannot compile an extension for a GPU: its release is too old or too new for it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from envspec.diagnostics import Diagnostic, Label
from envspec.facts import device_code
from envspec.facts.versions import within
from envspec.model import Variable
from envspec.rules import compiling
from envspec.rules.compiling import ARCH_LIST, Build
from envspec.rules.view import View
from envspec.source import Span

CODE = "E0337"


def check(view: View) -> Iterator[Diagnostic]:
    """One finding a GPU of `gpus`, and one for each that an extension's own list adds."""
    nvcc = compiling.nvcc(view)
    if nvcc is None:
        return
    accelerator = view.spec.accelerator
    span = accelerator.gpus_span if accelerator.gpus_span.end else view.home
    seen: set[tuple[str, Span]] = set()
    for build in compiling.builds(view):
        own = _own_list(view, build)
        asked = _listed(own.value) if own else accelerator.gpus
        at = own.span if own else span
        for gpu in asked:
            why = _refused(gpu, nvcc.release)
            if not why or (gpu, at) in seen:
                continue
            seen.add((gpu, at))
            mine = Label(at, "compiled for these")
            other = Label(nvcc.span, f"nvcc {nvcc.release}")
            yield Diagnostic(
                CODE,
                f"nvcc {nvcc.release} cannot compile for `{gpu}`",
                view.source,
                (mine, other),
                cause=f"{why}; extension `{build.extension.name}` is compiled for every GPU listed",
                hint=_hint(gpu, nvcc.release),
            )


def _own_list(view: View, build: Build) -> Variable | None:
    names = {build.facts.arch_variable or ARCH_LIST, ARCH_LIST}
    both = (*view.spec.environment, *build.extension.environment)
    found = [v for v in both if v.name in names and v.value.strip()]
    return found[-1] if found else None


def _listed(written: str) -> tuple[str, ...]:
    """The SMs of ``8.0;9.0+PTX`` or ``80;90``; names of generations (``Ampere``) are left out."""
    words = (word.partition("+")[0] for word in re.split(r"[;,\s]+", written))
    return tuple(word for word in words if device_code.parse_sm(word))


def _refused(gpu: str, release: str) -> str:
    row = device_code.arch(gpu)
    if row is None:
        return ""
    if row.first_toolkit and compiling.older(release, row.first_toolkit):
        return f"CUDA {row.first_toolkit} was the first to know {row.sm} ({row.generation})"
    if row.last_toolkit and not within(release, "0", row.last_toolkit):
        return f"CUDA {row.last_toolkit} was the last to compile for {row.sm} ({row.generation})"
    return ""


def _hint(gpu: str, release: str) -> str:
    row = device_code.arch(gpu)
    first, last = (row.first_toolkit, row.last_toolkit) if row else (None, None)
    if first and compiling.older(release, first):
        return f"take CUDA {first} or newer, with a torch built for it, or drop `{gpu}`"
    return f"take CUDA {last} or older, with a torch built for it, or drop `{gpu}`"
