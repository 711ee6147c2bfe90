"""E0335: a native package asks for newer GPUs, a newer CUDA or a newer C library than there are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from envspec import toolchain
from envspec.diagnostics import Diagnostic, Label
from envspec.facts import lookup
from envspec.facts import rows as kinds
from envspec.facts.device_code import capability, parse_sm, sm_name
from envspec.facts.versions import at_least
from envspec.model import Extension
from envspec.rules.shared import compiling
from envspec.rules.view import View
from envspec.source import Span
from envspec.wording import ticked

CODE = "E0335"


class _Asking(NamedTuple):
    name: str
    row: kinds.Extension
    span: Span
    compiled: bool


def check(view: View) -> Iterator[Diagnostic]:
    """One finding a package and a thing that is too old."""
    for asking in _packages(view):
        if view.cuda:
            yield from _gpus(view, asking)
            yield from _cuda(view, asking)
        yield from _glibc(view, asking)


def _packages(view: View) -> Iterator[_Asking]:
    for name in (*view.stated, *(n for n in view.locked if n not in view.stated)):
        row = compiling.facts(view, name)
        if row is None:
            continue
        stated = view.stated.get(name)
        compiled = isinstance(stated, Extension)
        if isinstance(stated, Extension):
            span = compiling.head(stated, view.source.text)
        else:
            span = stated.span if stated else view.settled[name].span
        yield _Asking(name, row, span, compiled)


def _finding(
    view: View, asking: _Asking, title: str, other: Label, cause: str, hint: str
) -> Diagnostic:
    mine = Label(asking.span, "asks for it" if asking.name in view.stated else "brings it")
    return Diagnostic(CODE, title, view.source, (mine, other), cause=cause, hint=hint)


def _gpus(view: View, asking: _Asking) -> Iterator[Diagnostic]:
    least = asking.row.sm_min
    accelerator = view.spec.accelerator
    asked = parse_sm(least) if least else None
    old = [g for g in accelerator.gpus if asked and (sm := parse_sm(g)) and sm[:2] < asked[:2]]
    if old and least:
        names = ticked(old)
        yield _finding(
            view, asking,
            f"`{asking.name}` needs GPUs from {sm_name(least)} on, not {names}",
            Label(accelerator.gpus_span, "older"),
            f"it has no code for compute capability {', '.join(map(capability, old))}",
            f"drop {names} from `gpus`, or do without `{asking.name}`",
        )  # fmt: skip


def _cuda(view: View, asking: _Asking) -> Iterator[Diagnostic]:
    least = asking.row.cuda_min
    if not least or not asking.compiled:
        return
    nvcc = toolchain.nvcc(view.spec)
    if nvcc is not None and at_least(nvcc.release, least) is False:
        yield _finding(
            view, asking,
            f"`{asking.name}` needs CUDA {least} and newer, and {nvcc.said} is {nvcc.release}",
            Label(nvcc.span, f"CUDA {nvcc.release}"),
            "its setup.py refuses an older nvcc",
            f"take a `devel` image of CUDA {least} or newer, and a torch built with it",
        )  # fmt: skip


def _glibc(view: View, asking: _Asking) -> Iterator[Diagnostic]:
    least, platform = asking.row.glibc_min, view.spec.platform
    found = lookup.glibc_of(platform.base) if least else None
    if least and found and at_least(found, least) is False:
        yield _finding(
            view, asking,
            f"`{asking.name}` needs glibc {least} and newer, and the base has {found}",
            Label(platform.base_span, f"glibc {found}"),
            f"its libraries use symbols of glibc {least}",
            "take a newer base image",
        )  # fmt: skip
