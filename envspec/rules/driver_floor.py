"""E0311: the stated driver is below the floor of the CUDA major.

CUDA is compatible within a major from 11 on, so torch built for 12.8 runs on driver 550. What
ships its own user-mode driver (`cuda-compat`) is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from envspec.diagnostics import Diagnostic, Label
from envspec.facts import lookup
from envspec.facts.versions import older
from envspec.rules.shared import places, pytorch
from envspec.rules.view import View
from envspec.stated import forward_compatible
from envspec.wording import either

CODE = "E0311"


def check(view: View) -> Iterator[Diagnostic]:
    """At most one finding, at the driver."""
    accelerator = view.spec.accelerator
    if not view.cuda or not accelerator.driver:
        return
    cuda = view.torch_cuda or accelerator.toolkit
    floor = lookup.driver_floor(cuda)
    if floor is None or not older(accelerator.driver, floor.linux):
        return
    if forward_compatible(view.spec):
        return
    if view.torch_cuda:
        who, at, label = pytorch.shown(view), pytorch.place(view), f"built for CUDA {cuda}"
    else:
        who, at, label = "the accelerator", accelerator.toolkit_span, f"CUDA {cuda}"
    name = f"CUDA {cuda.partition('.')[0] if floor.minor_compatible else cuda}"
    yield Diagnostic(
        CODE,
        f"driver {accelerator.driver} is below the floor of {name}, {floor.linux}",
        view.source,
        (Label(accelerator.driver_span, "the oldest driver that is allowed"), Label(at, label)),
        cause=f"{who} asks for CUDA {cuda}, and {name} runs on driver {floor.linux} and newer",
        hint=f"write `driver >={floor.linux}`{_other(view)}",
        fix=places.replace(
            view.source,
            accelerator.driver_span,
            f">={accelerator.driver}",
            f">={floor.linux}",
            f"ask for driver {floor.linux}",
        ),
    )


def _other(view: View) -> str:
    """The builds of the same torch that the stated driver runs."""
    if view.torch is None or not pytorch.is_official(view):
        return ""
    driver = view.spec.accelerator.driver
    floors = [(r.build, lookup.driver_floor(r.cuda or "")) for r in pytorch.cuda_builds(view)]
    builds = [build for build, floor in floors if floor and not older(driver, floor.linux)]
    return f", or take torch {view.torch.public} in build {either(builds)}" * bool(builds)
