"""What the rules about torch share: which build it is, what there is beside it, and the edits
that take a spec to another build of the same release.

Only torch from the default index or a `pytorch-…` index is judged by the tables: an index of the
user's own may hold a build of the user's own.
"""

from __future__ import annotations

import re

from envspec.diagnostics import Edit, Fix, Label
from envspec.facts import lookup
from envspec.facts.device_code import torch_runs_on
from envspec.facts.rows import TorchBuild
from envspec.facts.versions import older, version
from envspec.model import TORCH_INDEX, Package
from envspec.placing import within
from envspec.rules.shared import places
from envspec.rules.view import View
from envspec.source import Span
from envspec.stated import build_of_index, exact, from_default_index

_GPU_NAMES = re.compile(
    r"nvidia-.*|cupy.*|pycuda|tensorrt.*|numba.*|onnxruntime-gpu|warp-lang|taichi"
    r"|.*-cuda\d*x?(?:-.*)?|.*-cu\d{2,3}|.*-gpu",
    re.ASCII,
)


def is_official(view: View, name: str = "torch") -> bool:
    """Whether a package comes from where the tables describe it."""
    stated = view.stated.get(name)
    return stated is None or from_default_index(stated) or stated.index.startswith(TORCH_INDEX)


def build(view: View) -> str:
    """The build of torch (``cpu``, ``cu128``), also where only its index tells; ``""`` unknown."""
    if view.torch is not None:
        return view.torch_build_name
    stated = view.stated.get("torch")
    if stated is None or from_default_index(stated):
        return ""
    return build_of_index(view.spec, stated.index)


def shown(view: View) -> str:
    """Torch as a message names it: ``torch 2.9.1+cu128``, as far as it is known."""
    local = f"+{build(view)}" if build(view) else ""
    return f"torch {view.torch.public}{local}" if view.torch else "torch"


def place(view: View, name: str = "torch") -> Span:
    """The statement that brings a package; the spec's home where only the lock has it."""
    stated = view.stated.get(name)
    return stated.span if stated else view.home


def because(view: View, *names: str) -> bool:
    """Whether a line gives its reason: a package's, or one of the accelerator's (``driver``)."""
    reasoned = {word for word, _ in view.spec.accelerator.because}
    return any(name in reasoned or _package_because(view, name) for name in names)


def _package_because(view: View, name: str) -> bool:
    stated = view.stated.get(name)
    return bool(stated and stated.because)


def cuda_builds(view: View) -> tuple[TorchBuild, ...]:
    """The known CUDA builds of the release of torch, oldest CUDA first."""
    if view.torch is None:
        return ()
    found = lookup.torch_builds(view.torch.public, view.machine)
    return tuple(sorted((r for r in found if r.cuda), key=lambda r: version(r.cuda or "") or ()))


def other_gpu_users(view: View) -> list[str]:
    """Packages of the spec or its lock, torch's own apart, that may use a GPU without torch."""
    found = [
        p.name
        for p in view.spec.packages
        if p.name == "tensorflow"
        or any(lookup.jax_plugin_of(e) for e in p.extras if e.startswith("cuda"))
    ]
    return found + [n for n in (*view.stated, *view.locked) if _GPU_NAMES.fullmatch(n)]


def labels(view: View, at: Span, text: str, torch: str) -> tuple[Label, ...]:
    """A place, then that of torch; once where only the lock has torch and both are one."""
    other = place(view)
    return (Label(at, text),) if at == other else (Label(at, text), Label(other, torch))


def rebuilt(view: View, row: TorchBuild) -> Fix | None:
    """A fix that takes the spec to another build of its torch: torch, the torchvision and the
    torchaudio beside it, and the toolkit. None where torch is not pinned to one version, where
    its index is the user's own, or where the driver or a GPU is too old for that build."""
    torch, accelerator = view.stated.get("torch"), view.spec.accelerator
    if not isinstance(torch, Package) or not exact(torch.specifier) or not is_official(view):
        return None
    floor = lookup.driver_floor(row.cuda or "")
    if floor is None or older(accelerator.driver, floor.linux):
        return None
    if any(torch_runs_on(row, gpu) is False for gpu in accelerator.gpus):
        return None
    edits: list[Edit] = []
    for name in ("torch", "torchvision", "torchaudio"):
        package = view.stated.get(name)
        if not isinstance(package, Package) or not is_official(view, name):
            continue
        public = exact(package.specifier).partition("+")[0]
        if name == "torchaudio" and version(public) and not older(public, "2.11"):
            continue  # one wheel for every torch from there on
        wanted = f"=={public}+{row.build}" if public else package.specifier
        asked = places.request(view.source, package, wanted, f"{TORCH_INDEX}{row.build}")
        if not asked:
            return None
        edits += asked
    cuda = row.cuda or ""
    if accelerator.toolkit and version(accelerator.toolkit) != version(cuda):
        at = within(view.source, accelerator.toolkit_span, accelerator.toolkit)
        if at is None:
            return None
        edits.append(Edit(at, cuda))
    return Fix(f"take the `{row.build}` build of torch", tuple(edits))
