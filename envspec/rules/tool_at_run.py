"""W0346: a package that compiles while it runs, on a base without that compiler.

torch brings triton always and needs its compiler for `torch.compile` only, so triton is looked at
only where the spec names it itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from envspec.diagnostics import WARNING, Diagnostic, Label
from envspec.facts import images
from envspec.facts.rows import Extension
from envspec.facts.tables import rows
from envspec.rules.view import View
from envspec.toolchain import is_nvcc_package

CODE = "W0346"
_CC = re.compile(r"(?:gcc|g\+\+|clang|tcc)(?:-\d+(?:\.\d+)?)?|build-essential|cc", re.ASCII)
_OFF = {"", "0"}


class _Tool(NamedTuple):
    what: str
    cause: str
    hint: str


_TOOLS = {
    "nvcc": _Tool(
        "takes NVIDIA's compiler (`nvcc`)",
        "operations that were not compiled before are compiled when they are first used, with "
        "NVIDIA's compiler",
        'compile them before (`env DS_BUILD_OPS="1"` in its `extension`), or take an `nvidia/cuda` '
        "base of flavour `devel`",
    ),
    "cc": _Tool(
        "takes a C compiler",
        "a launcher for each kernel is compiled when it first runs, with a C compiler",
        "add `runtime gcc libc6-dev` to `system`, or take a base that has a compiler",
    ),
}


def check(view: View) -> Iterator[Diagnostic]:
    """One finding a package that the spec names."""
    platform = view.spec.platform
    for row in rows(Extension) if view.cuda else ():
        stated, tool = view.stated.get(row.name), row.tool_at_run or ""
        needed = _TOOLS.get(tool)
        if needed is None or stated is None or _has(view, tool) is not False:
            continue
        if tool == "nvcc" and _prebuilt(view):
            continue
        yield Diagnostic(
            CODE,
            f"`{row.name}` compiles while it runs, and the base has no compiler",
            view.source,
            (Label(stated.span, needed.what), Label(platform.base_span, "the base")),
            cause=f"{needed.cause}; `{platform.base}` has none",
            hint=needed.hint,
            severity=WARNING,
        )


def _has(view: View, tool: str) -> bool | None:
    """Whether the tool is there at run time, None where nothing tells."""
    spec = view.spec
    names = {v.name for v in spec.environment}
    runtime = [p.name for p in spec.system if p.stage == "runtime"]
    if tool == "nvcc":
        brought = {*view.stated, *view.locked}
        extras = {e for p in spec.packages if p.name == "cuda-toolkit" for e in p.extras}
        if any(n.startswith("nvidia-cuda-nvcc") for n in brought) or extras & {"nvcc", "all"}:
            return True
        if any(map(is_nvcc_package, runtime)):
            return True
        return None if "CUDA_HOME" in names else images.has_nvcc(spec.platform.base)
    if any(_CC.fullmatch(n) for n in runtime):
        return True
    return None if "CC" in names else images.has_cc(spec.platform.base)


def _prebuilt(view: View) -> bool:
    """True where some build is told to compile DeepSpeed's operations."""
    spec = view.spec
    variables = (
        *spec.environment,
        *(v for e in spec.extensions for v in e.environment),
        *(v for s in spec.steps for v in s.environment),
    )
    return any(v.name.startswith("DS_BUILD_") and v.value not in _OFF for v in variables)
