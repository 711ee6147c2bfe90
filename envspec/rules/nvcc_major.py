"""E0338: an extension is compiled with an nvcc that torch, or its own setup.py, refuses."""

from __future__ import annotations

from collections.abc import Iterator

from envspec import toolchain
from envspec.diagnostics import ERROR, WARNING, Diagnostic, Fix, Label
from envspec.facts import images
from envspec.rules.shared import compiling, places
from envspec.rules.view import View
from envspec.toolchain import Nvcc

CODE = "E0338"


def check(view: View) -> Iterator[Diagnostic]:
    """One finding: another major, or another minor where an extension refuses that too."""
    yield from compared(view, CODE)


def compared(view: View, code: str) -> Iterator[Diagnostic]:
    """What nvcc's release gives: E0338 where the build stops, W0391 where torch warns."""
    nvcc, torch, ours = toolchain.nvcc(view.spec), view.torch, view.torch_cuda
    built = list(compiling.builds(view))
    if nvcc is None or torch is None or not ours or nvcc.release == ours or not built:
        return
    strict = next((b for b in built if b.facts.same_minor), None)
    majors = nvcc.release.partition(".")[0] != ours.partition(".")[0]
    if code != (CODE if majors or strict else "W0391"):
        return
    if majors:
        cause = "torch compares the two majors before it compiles an extension, and stops"
    elif strict:
        cause = f"the setup.py of `{strict.extension.name}` stops unless major and minor are equal"
    else:
        cause = (
            "the major is the same, so torch warns and goes on; what the newer toolkit added may "
            "be missing when it runs"
        )
    same = images.devel_of(nvcc.image, ours)
    image = same or images.newest_devel(ours)
    labels = [Label(nvcc.span, f"nvcc {nvcc.release}")]
    if torch.span != nvcc.span:
        labels.append(Label(torch.span, f"torch {torch.version}, CUDA {ours}"))
    yield Diagnostic(
        code,
        f"nvcc is {nvcc.release} ({nvcc.said}), and torch is built with CUDA {ours}",
        view.source,
        tuple(labels),
        cause=cause,
        hint=f'write `devel "{image}"`' if nvcc.image and image else f"take CUDA {ours} for both",
        fix=_fix(view, nvcc, same),
        severity=ERROR if code == CODE else WARNING,
    )


def _fix(view: View, nvcc: Nvcc, image: str) -> Fix | None:
    platform = view.spec.platform
    # Without `devel`, the base itself would change; behind a digest, no tag is found to change.
    if not image or nvcc.image != platform.devel:
        return None
    at = places.string_of(view.source, nvcc.span, nvcc.image)
    return Fix.replace(at, image, f"compile with {image}") if at else None
