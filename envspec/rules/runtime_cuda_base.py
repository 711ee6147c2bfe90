"""W0342: a base image with NVIDIA's libraries, under wheels that bring the same libraries.

torch's wheels carry or pull cuBLAS, cuDNN, NCCL and the rest, so the image holds gigabytes twice.
It is a waste and no fault, hence silent wherever something might use the libraries of the image.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from envspec.diagnostics import WARNING, Diagnostic, Fix, Label
from envspec.facts import images, lookup
from envspec.rules.view import View
from envspec.source import Span

CODE = "W0342"
# Packages that look for CUDA's libraries on the machine, as their documentation says.
_USERS = re.compile(
    r"cupy(-.*)?|onnxruntime-gpu|tensorrt(-.*)?|ctranslate2|faster-whisper|paddlepaddle-gpu|mxnet.*"
    r"|numba(-cuda)?|pycuda|llama-cpp-python|nvidia-dali.*|opencv-.*cuda.*|faiss-gpu.*",
    re.ASCII,
)


def check(view: View) -> Iterator[Diagnostic]:
    """One finding, about the base."""
    platform = view.spec.platform
    if images.cuda_flavour(platform.base) != "runtime" or "base" in dict(platform.because):
        return
    torch = view.torch
    if torch is None or not view.torch_cuda or _somebody_uses_it(view):
        return
    tag = images.read_cuda_tag(images.cuda_tag(platform.base) or "")
    smaller = tag._replace(flavour="base", cudnn="")
    yield Diagnostic(
        CODE,
        f"the base brings the CUDA libraries that torch {torch.public} brings too",
        view.source,
        (Label(platform.base_span, "a runtime image"), Label(torch.span, "brings its own")),
        cause=f"a `runtime` image holds {'cuDNN, ' if tag.cudnn else ''}cuBLAS, NCCL and more, "
        f"and torch loads those of its own wheels (CUDA {view.torch_cuda}): gigabytes twice",
        hint=f"take tag `{smaller.text}` or a plain image such as "
        f"`python:{platform.python}-slim-bookworm`, or say what needs this one: `because`",
        fix=_fix(view, smaller.text),
        severity=WARNING,
    )


def _somebody_uses_it(view: View) -> bool:
    names = {*view.stated, *view.locked}
    if any(_USERS.fullmatch(name) for name in names):
        return True
    tools = (lookup.extension(name) for name in names)
    if any(row is not None and row.tool_at_run == "nvcc" for row in tools):
        return True
    return any(
        (p.name == "tensorflow" and "and-cuda" not in p.extras)
        or (p.name == "jax" and any(e.endswith("-local") for e in p.extras))
        for p in view.spec.packages
    )


def _fix(view: View, tag: str) -> Fix | None:
    platform = view.spec.platform
    old = images.cuda_tag(platform.base) or ""
    at = view.source.text.find(f":{old}", *platform.base_span) + 1
    if not at or platform.base_digest:
        return None
    return Fix.replace(Span(at, at + len(old)), tag, f"write `{tag}`")
