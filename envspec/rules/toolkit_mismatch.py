"""E0317: the stated toolkit is of another CUDA major than torch was built with.

nvcc of one major refuses to compile against torch of the other. Another minor is W0355.
"""

from __future__ import annotations

from collections.abc import Iterator

from envspec.diagnostics import ERROR, WARNING, Diagnostic, Fix, Label
from envspec.facts.versions import differs
from envspec.model import TORCH_INDEX
from envspec.rules.shared import places, pytorch
from envspec.rules.view import View

CODE = "E0317"


def check(view: View) -> Iterator[Diagnostic]:
    """At most one finding, at the toolkit."""
    yield from compared(view, CODE)


def compared(view: View, code: str) -> Iterator[Diagnostic]:
    """What the stated release gives: E0317 for another major, W0355 for another minor that nothing
    gives a reason for."""
    accelerator, cuda = view.spec.accelerator, view.torch_cuda
    stated = accelerator.toolkit
    if not (view.cuda and stated and cuda):
        return
    wanted = ".".join(cuda.split(".")[:2])
    if not differs(".".join(stated.split(".")[:2]), wanted):
        return
    major = differs(stated.partition(".")[0], cuda.partition(".")[0])
    if code != (CODE if major else "W0355"):
        return
    if not major and pytorch.because(view, "torch", "accelerator", "cuda", "toolkit"):
        return
    cause = (
        "what nvcc of one major compiles cannot be linked with torch of another, and torch stops "
        "such a build"
        if major
        else "within a major both run together, but extensions are compiled by another release "
        "than torch was"
    )
    hint, fix = _mend(view, stated, wanted)
    yield Diagnostic(
        code,
        f"`accelerator cuda {stated}` is stated, and {pytorch.shown(view)} is built for CUDA "
        f"{wanted}",
        view.source,
        (
            Label(accelerator.toolkit_span, f"CUDA {stated}"),
            Label(pytorch.place(view), f"CUDA {wanted}"),
        ),
        cause=cause,
        hint=hint if major else f"{hint}, or say why with `because`",
        fix=fix,
        severity=ERROR if major else WARNING,
    )


def _mend(view: View, stated: str, wanted: str) -> tuple[str, Fix | None]:
    """Another toolkit; or another build of torch, where there is one for the stated toolkit."""
    toolkit = f"write `accelerator cuda {wanted}`"
    builds = [r for r in pytorch.cuda_builds(view) if not differs(stated, r.cuda or "")]
    if builds:
        build = builds[0].build
        return f"{toolkit}, or take torch in build `{build}` from `{TORCH_INDEX}{build}`", None
    span = view.spec.accelerator.toolkit_span
    fix = places.replace(
        view.source, span, stated, wanted, f"state CUDA {wanted}, which torch brings"
    )
    return toolkit, fix
