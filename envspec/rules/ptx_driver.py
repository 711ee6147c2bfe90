"""E0312: a GPU runs some code through PTX alone, and the driver is older than that PTX.

Native code needs the floor of the CUDA major only. PTX is compiled by the driver, and an older
driver cannot read the PTX of a newer toolkit, so it needs the driver that shipped with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from envspec.diagnostics import Diagnostic, Label
from envspec.facts import lookup
from envspec.facts.device_code import binary_runs_on
from envspec.facts.versions import older
from envspec.model import Extension
from envspec.rules.shared import places, pytorch
from envspec.rules.view import View
from envspec.source import Span
from envspec.stated import forward_compatible
from envspec.toolchain import ARCH_LIST, architectures_in
from envspec.wording import ticked

CODE = "E0312"


class _Code(NamedTuple):
    """Device code of one package, and the CUDA release whose compiler made it."""

    name: str
    sass: tuple[str, ...]
    ptx: tuple[str, ...]
    cuda: str
    span: Span


def check(view: View) -> Iterator[Diagnostic]:
    """One finding for each package with such code, at the driver."""
    accelerator = view.spec.accelerator
    if not (view.cuda and accelerator.driver and accelerator.gpus):
        return
    for code in _codes(view):
        gpus = [g for g in accelerator.gpus if _through_ptx_alone(code, g)]
        row = lookup.toolkit_driver(code.cuda)
        floor = lookup.driver_floor(code.cuda)
        if not gpus or row is None or floor is None or not older(accelerator.driver, row.linux):
            continue
        if forward_compatible(view.spec):
            return
        which = ticked(gpus)
        yield Diagnostic(
            CODE,
            f"{code.name} runs on {which} through PTX alone, and driver {accelerator.driver} is "
            f"older than the PTX of CUDA {code.cuda}",
            view.source,
            (
                Label(accelerator.driver_span, "the oldest driver that is allowed"),
                Label(code.span, f"native for {' '.join(code.sass)}, PTX of {' '.join(code.ptx)}"),
            ),
            cause=f"native code of CUDA {code.cuda} runs on driver {floor.linux}; its PTX is "
            f"compiled by the driver, which takes {row.linux}, the one of that toolkit",
            hint=f"write `driver >={row.linux}`, or take code that is native for {which}",
            fix=places.replace(
                view.source,
                accelerator.driver_span,
                f">={accelerator.driver}",
                f">={row.linux}",
                f"ask for driver {row.linux}",
            ),
        )


def _codes(view: View) -> Iterator[_Code]:
    row = view.torch_build
    if row is not None and row.cuda and row.architectures is not None and row.ptx:
        at = pytorch.place(view)
        yield _Code(pytorch.shown(view), row.architectures, row.ptx, row.cuda, at)
    for extension in view.spec.extensions:
        listed = _listed(view, extension)
        if listed and view.toolkit:
            yield _Code(extension.name, *listed, view.toolkit, extension.span)


def _listed(view: View, extension: Extension) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Native and PTX architectures that an extension is compiled for; None where the list is
    not stated. A name in it (`Hopper`) decides nothing."""
    variables = (*view.spec.environment, *extension.environment)
    value = next((v.value for v in reversed(variables) if v.name == ARCH_LIST), "")
    words = architectures_in(value)
    plain = tuple(w.removesuffix("+PTX") for w in words)
    if not words:
        return None
    return plain, tuple(w.removesuffix("+PTX") for w in words if w.endswith("+PTX"))


def _through_ptx_alone(code: _Code, gpu: str) -> bool:
    natively = binary_runs_on(code.sass, (), gpu)
    return natively is False and binary_runs_on((), code.ptx, gpu) is True
