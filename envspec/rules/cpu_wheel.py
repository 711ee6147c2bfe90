"""E0310: a CUDA accelerator over a CPU build of torch.

A `because` on the line of torch says that torch is meant to stay on the CPU. So does another
package that may use the GPU, where the CPU build was chosen; some releases come so by default.
"""

from __future__ import annotations

from collections.abc import Iterator

from envspec.diagnostics import Diagnostic, Fix, Label
from envspec.facts.versions import differs
from envspec.model import TORCH_INDEX
from envspec.rules.shared import pytorch
from envspec.rules.view import View
from envspec.wording import either

CODE = "E0310"


def check(view: View) -> Iterator[Diagnostic]:
    """At most one finding, at torch."""
    if not view.cuda or pytorch.build(view) != "cpu":
        return
    if pytorch.because(view, "torch") or (_chosen(view) and pytorch.other_gpu_users(view)):
        return
    toolkit = view.spec.accelerator.toolkit
    hint, fix = _mend(view, toolkit)
    stated = view.stated.get("torch")
    yield Diagnostic(
        CODE,
        f"`accelerator cuda{' ' * bool(toolkit)}{toolkit}` needs a CUDA build of torch, and "
        f"{pytorch.shown(view)} is a CPU build",
        view.source,
        (
            *((Label(stated.span, "the CPU build"),) if stated else ()),
            Label(view.spec.accelerator.span, "CUDA is asked for here"),
        ),
        cause="a CPU build holds no CUDA code, so torch sees no GPU whatever the driver is",
        hint=hint,
        fix=fix,
    )


def _chosen(view: View) -> bool:
    """Whether the spec itself says `cpu`, by the version or by the index."""
    stated = view.stated.get("torch")
    return stated is not None and (stated.specifier.endswith("+cpu") or "cpu" in stated.index)


def _mend(view: View, toolkit: str) -> tuple[str, Fix | None]:
    keep = "or say with `because` on the line of torch why it stays on the CPU"
    known = pytorch.cuda_builds(view)
    same = [r for r in known if toolkit and not differs(toolkit, r.cuda or "")]
    if len(same) == 1 and view.torch:
        build = same[0].build
        hint = f"write `torch =={view.torch.public}+{build} from {TORCH_INDEX}{build}`, {keep}"
        return hint, pytorch.rebuilt(view, same[0])
    if known and view.torch:
        builds = either(r.build for r in known)
        return f"take torch {view.torch.public} in build {builds}, {keep}", None
    return f"take torch from the `pytorch-cu…` index of that CUDA, {keep}", None
