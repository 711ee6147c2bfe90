"""E0334: a prebuilt wheel names another torch, another CUDA or another C++ ABI than the spec's.

The local part of such a version says what the wheel was built for: ``+cu12torch2.8cxx11abiFALSE``
(flash-attn and its relatives), ``+pt28cu128`` (PyG), ``+cu128torch2.8`` (third parties).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from envspec.diagnostics import Diagnostic, Label
from envspec.facts.versions import version
from envspec.rules.shared import compiling
from envspec.rules.view import Settled, View

CODE = "E0334"

_CUDA = re.compile(r"(?:^|[^a-z])(?:cu|cuda)(\d{2})(\d?)(?!\d)", re.ASCII)
_TORCH = re.compile(r"(?<![a-z])(?:torch|pt)(\d{1,6}(?:\.\d{1,6}){0,2})", re.ASCII)
_SERIES = re.compile(r"\d+\.\d+", re.ASCII)
_ABI = re.compile(r"cxx11abi[._-]?(true|false|1|0)", re.ASCII)


def check(view: View) -> Iterator[Diagnostic]:
    """One finding for each thing that differs."""
    torch = view.torch
    if torch is None:
        return
    for settled in view.settled.values():
        local = settled.local.lower()
        # The local part of any version may hold anything: it counts where it names a torch, or
        # where the package is a known extension.
        if settled.name == "torch" or not (_TORCH.search(local) or _knows(view, settled)):
            continue
        for title, cause, hint in _differences(view, settled, local, torch):
            labels = [Label(settled.span, f"`{settled.version}`")]
            if torch.span != settled.span:
                labels.append(Label(torch.span, f"torch {torch.version}"))
            yield Diagnostic(CODE, title, view.source, tuple(labels), cause=cause, hint=hint)


def _knows(view: View, settled: Settled) -> bool:
    """Whether the table knows this package in this release as a native extension."""
    return compiling.facts(view, settled.name) is not None


def _differences(
    view: View, settled: Settled, local: str, torch: Settled
) -> Iterator[tuple[str, str, str]]:
    name = settled.name
    built = _TORCH.search(local)
    numbers = _SERIES.match(torch.public)
    series = numbers[0] if numbers else ""
    if built and not any(_same_series(each, series) for each in _readings(built[1])):
        meant = " or ".join(_readings(built[1]))
        yield (
            f"`{name}` {settled.version} is built for torch {meant}, not {series}",
            "compiled code uses torch's C++ classes, which change with every minor release: it "
            "stops at import with an undefined symbol",
            f"take its build for torch {series}, or write it as an `extension`",
        )
    cuda = _CUDA.search(_TORCH.sub(" ", _ABI.sub(" ", local)))
    ours = view.torch_cuda.partition(".")[0]
    if cuda and ours and cuda[1] != ours:
        number = f"{cuda[1]}.{cuda[2]}" if cuda[2] else cuda[1]
        yield (
            f"`{name}` {settled.version} is built with CUDA {number}, and torch with "
            f"{view.torch_cuda}",
            f"it loads libcudart.so.{cuda[1]}, and torch brings that of CUDA {ours}",
            f"take its build for CUDA {ours}, or write it as an `extension`",
        )
    abi, row = _ABI.search(local), view.torch_build
    if abi and row is not None and row.cxx11_abi is not None:
        new = abi[1] in {"true", "1"}
        if new != row.cxx11_abi:
            said = ("FALSE", "TRUE")[row.cxx11_abi]
            yield (
                f"`{name}` {settled.version} has another C++ ABI than torch {torch.version}",
                f"the wheel is built with _GLIBCXX_USE_CXX11_ABI={int(new)}, that torch with "
                f"{int(row.cxx11_abi)}: strings have other names in the two, and it stops at "
                "import with an undefined symbol",
                f"take its build that says `cxx11abi{said}`, or write it as an `extension`",
            )


def _readings(written: str) -> tuple[str, ...]:
    """The torch releases that a number may mean: ``28`` is 2.8, ``210`` is 2.10 or 2.1.0."""
    if "." in written or len(written) == 1:
        return (written,)
    long = f"{written[0]}.{written[1:]}"
    return (long, f"{written[0]}.{written[1:-1]}") if len(written) > 2 else (long,)


def _same_series(built: str, series: str) -> bool:
    asked, found = version(built), version(series)
    return asked is None or found is None or asked[:2] == found[: len(asked[:2])]
