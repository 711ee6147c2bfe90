"""E0316: a build of a torch release that was never published, such as cu128 of 2.13.

Only where the builds of that release are known.
"""

from __future__ import annotations

from collections.abc import Iterator

from envspec.diagnostics import Diagnostic, Fix, Label
from envspec.facts import lookup
from envspec.facts.builds import cuda_of_build
from envspec.facts.rows import TorchBuild
from envspec.facts.versions import version
from envspec.rules.shared import pytorch
from envspec.rules.view import View
from envspec.wording import either, ticked

CODE = "E0316"


def check(view: View) -> Iterator[Diagnostic]:
    """At most one finding, at torch."""
    torch, build = view.torch, view.torch_build_name
    if torch is None or version(torch.public) is None or not build or not pytorch.is_official(view):
        return
    known = pytorch.cuda_builds(view)
    if build == "cpu" or any(row.build == build for row in known):
        return
    # One CUDA build alone is what the default index told: others may be there.
    if len(known) < 2 or view.machine != "x86_64" or lookup.is_unlisted(build):
        return
    names = [r.build for r in known]
    near = _nearest(build, known)
    hint = f"did you mean `{near.build}`?" if near else f"take {either(names)}"
    yield Diagnostic(
        CODE,
        f"torch {torch.public} was never published in build `{build}`",
        view.source,
        (Label(torch.span, "no such wheel"),),
        cause=f"the CUDA builds of torch {torch.public} are {ticked(names)}",
        hint=hint,
        fix=_fix(view, near),
    )


def _nearest(build: str, known: tuple[TorchBuild, ...]) -> TorchBuild | None:
    """The published build of the same CUDA major that is nearest; None without one."""
    cuda = version(cuda_of_build(build) or "")
    if cuda is None:
        return None
    same = [(v, r) for r in known if (v := version(r.cuda or "")) and v[0] == cuda[0]]
    return min(same, key=lambda pair: abs(pair[0][1] - cuda[1]))[1] if same else None


def _fix(view: View, near: TorchBuild | None) -> Fix | None:
    """Only where one build alone has the CUDA major that was asked for."""
    known = pytorch.cuda_builds(view)
    if near is None or not near.cuda:
        return None
    major = near.cuda.partition(".")[0]
    same = [r for r in known if (r.cuda or "").partition(".")[0] == major]
    return pytorch.rebuilt(view, near) if len(same) == 1 else None
