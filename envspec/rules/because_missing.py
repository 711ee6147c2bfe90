"""W0347: a pin that departs from the facts, and no `because` says why.

A departure is not a fault: there are machines and bugs that ask for one. Without its reason nobody
dares to undo it later. Not looked at here: cuDNN and NCCL (W0320), and a glibc floor, which is a
fault where the base has less and no departure where it has as much.
"""

from __future__ import annotations

from collections.abc import Iterator

from envspec.diagnostics import WARNING, Diagnostic, Label
from envspec.facts import lookup
from envspec.facts.device_code import arch, binary_runs_on, torch_runs_on
from envspec.facts.rows import ToolkitDriver, TorchBuild
from envspec.facts.tables import rows
from envspec.facts.versions import at_least, version
from envspec.rules.view import View
from envspec.source import Span

CODE = "W0347"
_HINT = 'add `because "…"` with the reason, or '


def check(view: View) -> Iterator[Diagnostic]:
    """Findings about the driver, the build of torch, and Python."""
    yield from _driver(view)
    yield from _build(view)
    yield from _python(view)


def _finding(view: View, title: str, span: Span, cause: str, instead: str) -> Diagnostic:
    label = Label(span, "no reason is given")
    return Diagnostic(CODE, title, view.source, (label,), cause, _HINT + instead, severity=WARNING)


# --- the driver ---------------------------------------------------------------------------


def _driver(view: View) -> Iterator[Diagnostic]:
    stated = view.spec.accelerator.driver
    if not view.cuda or not stated or "driver" in dict(view.spec.accelerator.because):
        return
    wanted = [cuda for cuda in {view.spec.accelerator.toolkit, view.torch_cuda} if version(cuda)]
    # A GPU that came with a later toolkit needs the driver of that one.
    first = (row.first_toolkit for row in map(arch, view.spec.accelerator.gpus) if row)
    wanted += [cuda for cuda in first if cuda]
    toolkits = [row for cuda in wanted for row in _of_minor(cuda)]
    floors = [floor.linux for floor in map(lookup.driver_floor, wanted) if floor]
    if not view.toolkit or not toolkits or not floors or version(stated) is None:
        return
    floor = max(floors, key=lambda v: version(v) or ())
    own = max(toolkits, key=lambda row: version(row.linux) or ())
    span = view.spec.accelerator.driver_span
    if not at_least(own.linux, stated):
        cause = (
            f"CUDA {view.toolkit} runs from driver {floor} on, and even code that the driver "
            f"compiles itself needs no more than {own.linux}, which came with {own.label}"
        )
        title = f"`driver >={stated}` is more than anything here needs"
    elif not at_least(floor, stated) and not _same_branch(stated, toolkits) and _is_native(view):
        cause = (
            f"CUDA {view.toolkit} runs from driver {floor} on, and every GPU of `gpus` has native "
            f"code in torch, so nothing is left for the driver to compile"
        )
        title = f"`driver >={stated}` is above the floor of CUDA {view.toolkit}"
    else:
        return
    instead = "leave the line out: the floor is computed from the toolkit"
    yield _finding(view, title, span, cause, instead)


def _of_minor(cuda: str) -> list[ToolkitDriver]:
    asked = (version(cuda) or ())[:2]
    return [row for row in rows(ToolkitDriver) if (version(row.toolkit) or ())[:2] == asked]


def _same_branch(stated: str, toolkits: list[ToolkitDriver]) -> bool:
    """The branch that a toolkit came with is the safe choice that NVIDIA itself names."""
    return stated.partition(".")[0] in {row.linux.partition(".")[0] for row in toolkits}


def _is_native(view: View) -> bool:
    """Whether it is certain that no GPU of the spec relies on PTX of torch, the one package whose
    code the tables know."""
    row, gpus = view.torch_build, view.spec.accelerator.gpus
    if row is None or row.architectures is None or not gpus or view.spec.extensions:
        return False
    return all(binary_runs_on(row.architectures, (), gpu) is True for gpu in gpus)


# --- the build of torch -------------------------------------------------------------------


def _build(view: View) -> Iterator[Diagnostic]:
    torch, row = view.torch, view.torch_build
    stated = view.stated.get("torch")
    if torch is None or row is None or stated is None or stated.because or row.build == "cpu":
        return
    default = lookup.torch_build(torch.public, None, view.machine)
    # A release may call the build experimental that the default index serves: that is no departure.
    # A GPU that the default build has no code for is a reason.
    gpus = view.spec.accelerator.gpus
    served = default and not any(torch_runs_on(default, gpu) is False for gpu in gpus)
    if row.experimental and served and default and default.build != row.build:
        cause = f"torch {row.release} was released with this build as experimental"
        title = f"torch {torch.public} is taken in its experimental build `{row.build}`"
    elif default and default.build != row.build and view.cuda and not _needed(view, default):
        cause = (
            f"torch {torch.public} comes as {default.build} by default, and that build fits the "
            "driver and the GPUs of this spec as well"
        )
        title = f"torch {torch.public} is taken in build `{row.build}`, which is not its default"
    else:
        return
    instead = f"take the default build, {default.build}" if default else "take another build"
    yield _finding(view, title, stated.span, cause, instead)


def _needed(view: View, default: TorchBuild) -> bool:
    """Whether anything in the spec could be the reason for a build: that is reason enough."""
    accelerator = view.spec.accelerator
    # A toolkit that equals the build is the reason; one that does not is E0317's to find.
    if accelerator.toolkit:
        return True
    for gpu in accelerator.gpus:
        if torch_runs_on(default, gpu) is not True:
            return True
    floor = lookup.driver_floor(default.cuda or "")
    if accelerator.driver and (floor is None or not at_least(accelerator.driver, floor.linux)):
        return True
    # A package that is built for one CUDA release may ask for it: which one, nobody knows here.
    cuda = {"jax", "tensorflow", "vllm", "xformers", "cupy", "onnxruntime-gpu"}
    names = {*view.stated, *view.locked}
    others = (name for name in names if name != "triton" and name.partition("-")[0] != "nvidia")
    return bool(view.spec.extensions) or any(
        name in cuda or name.startswith("cupy-") or lookup.extension(name) for name in others
    )


# --- Python -------------------------------------------------------------------------------


def _python(view: View) -> Iterator[Diagnostic]:
    platform, row = view.spec.platform, view.torch_build
    stated = view.stated.get("torch")
    if row is None or not row.python_experimental or row.python_experimental != platform.python:
        return
    if "python" in dict(platform.because) or (stated and stated.because):
        return
    cause = (
        f"torch {row.release} was released for Python {row.python_min} to {row.python_max}, and "
        f"{platform.python} as experimental"
    )
    title = f"Python {platform.python} is experimental for torch {row.release}"
    yield _finding(view, title, platform.python_span, cause, f"write `python {row.python_max}`")
