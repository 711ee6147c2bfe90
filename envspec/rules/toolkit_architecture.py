"""E0337: nvcc cannot compile an extension for a GPU: its release is too old or too new for it."""

from __future__ import annotations

from collections.abc import Iterator

from envspec import toolchain
from envspec.diagnostics import Diagnostic, Label
from envspec.facts import device_code
from envspec.facts.versions import at_least, within
from envspec.model import Variable
from envspec.rules.shared import compiling
from envspec.rules.shared.compiling import Build
from envspec.rules.view import View
from envspec.source import Span
from envspec.toolchain import ARCH_LIST

CODE = "E0337"


def check(view: View) -> Iterator[Diagnostic]:
    """One finding a GPU of `gpus`, and one for each that an extension's own list adds."""
    nvcc = toolchain.nvcc(view.spec)
    if nvcc is None:
        return
    accelerator = view.spec.accelerator
    seen: set[tuple[str, Span]] = set()
    for build in compiling.builds(view):
        own = _own_list(view, build)
        asked = _listed(own.value) if own else accelerator.gpus
        at = own.span if own else accelerator.gpus_span
        for gpu in asked:
            why, which = _refused(gpu, nvcc.release)
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
                hint=f"take {which}, with a torch built for it, or drop `{gpu}`",
            )


def _own_list(view: View, build: Build) -> Variable | None:
    names = {build.facts.arch_variable or ARCH_LIST, ARCH_LIST}
    both = (*view.spec.environment, *build.extension.environment)
    found = [v for v in both if v.name in names and v.value.strip()]
    return found[-1] if found else None


def _listed(written: str) -> tuple[str, ...]:
    """The SMs of ``8.0;9.0+PTX`` or ``80;90``; names of generations (``Ampere``) are left out."""
    words = (word.partition("+")[0] for word in toolchain.architectures_in(written))
    return tuple(word for word in words if device_code.parse_sm(word))


def _refused(gpu: str, release: str) -> tuple[str, str]:
    """Why an nvcc cannot compile for a GPU, and which could; nothing where it can."""
    row = device_code.arch(gpu)
    if row is None:
        return "", ""
    first, last, what = row.first_toolkit, row.last_toolkit, f"{row.sm} ({row.generation})"
    if first and at_least(release, first) is False:
        return f"CUDA {first} was the first to know {what}", f"CUDA {first} or newer"
    if not within(release, "0", last):
        return f"CUDA {last} was the last to compile for {what}", f"CUDA {last} or older"
    return "", ""
