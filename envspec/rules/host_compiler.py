"""E0336: nvcc refuses the C++ compiler that an extension is built with: it is too new.

The compiler is the one that `CC`, `CXX` and nvcc's own variables name. Where none does, it is the
distribution's default: installing ``g++-12`` beside it changes nothing, because nvcc and torch call
``gcc`` and ``c++``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from envspec.diagnostics import Diagnostic, Label
from envspec.facts import lookup
from envspec.facts.rows import HostCompiler
from envspec.facts.tables import rows
from envspec.facts.versions import within
from envspec.model import Extension
from envspec.rules import compiling, toolchain
from envspec.rules.view import View
from envspec.source import Span

CODE = "E0336"

_NAMING = ("NVCC_CCBIN", "CUDAHOSTCXX", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "CC", "CXX")
_NAMED = re.compile(
    r"(?:^|[/\s=])(?:[a-z0-9_]+-linux-gnu-)?(gcc|g\+\+|clang\+\+|clang)-(\d{1,2})\b", re.ASCII
)
_PACKAGE = re.compile(r"(?:gcc|g\+\+)-(\d{1,2})", re.ASCII)
_UNCHECKED = ("-allow-unsupported-compiler", "--allow-unsupported-compiler")
# Packages that bring the distribution's default compiler under its plain name.
_DEFAULTS = frozenset({"build-essential", "gcc", "g++", "gcc-c++"})


class _Compiler(NamedTuple):
    kind: str
    version: str
    said: str
    span: Span
    variable: str = ""


def check(view: View) -> Iterator[Diagnostic]:
    """One finding for each compiler that is too new, at the first extension that it builds."""
    nvcc = toolchain.nvcc(view)
    if nvcc is None:
        return
    seen: set[_Compiler] = set()
    for extension, _ in compiling.builds(view):
        for compiler in _compilers(view, extension):
            if compiler in seen or lookup.compiler_accepted(
                nvcc.release, compiler.kind, compiler.version
            ) is not False:  # fmt: skip
                continue
            seen.add(compiler)
            bound = _bound(nvcc.release)
            labels = [Label(compiler.span, f"{compiler.kind} {compiler.version}")]
            if compiler.span != nvcc.span:
                labels.append(Label(nvcc.span, f"nvcc {nvcc.release}"))
            yield Diagnostic(
                CODE,
                f"nvcc {nvcc.release} refuses {compiler.kind} {compiler.version}, which "
                f"{compiler.said}",
                view.source,
                tuple(labels),
                cause=f"nvcc {nvcc.release} compiles with gcc {bound.gcc} or clang {bound.clang} "
                f"and older; extension `{extension.name}` is compiled by the two together",
                hint=_hint(nvcc.release, bound.gcc, compiler),
            )


def _compilers(view: View, extension: Extension) -> tuple[_Compiler, ...]:
    """The compilers of a build. A variable that names none in a way that can be read is taken to
    name a good one."""
    own = (*view.spec.environment, *extension.environment)
    naming = {v.name: v for v in own if v.name in _NAMING and v.value.strip()}
    if any(flag in v.value.split() for v in naming.values() for flag in _UNCHECKED):
        return ()
    # A list of flags that names no compiler says nothing about it.
    chosen = [v for v in naming.values() if not v.name.endswith("FLAGS") or "bin" in v.value]
    if chosen:
        found = []
        for variable in chosen:
            match = _NAMED.search(variable.value)
            if match:
                kind = "clang" if match[1].startswith("clang") else "gcc"
                said = f"`{variable.name}` names"
                found.append(_Compiler(kind, match[2], said, variable.span, variable.name))
        return tuple(found)
    return _default(view)


def _default(view: View) -> tuple[_Compiler, ...]:
    name, span = toolchain.image(view)
    row = lookup.distribution_of_image(name)
    brought = any(p.name in _DEFAULTS for p in view.spec.system)
    if row is not None and row.gcc and (brought or _has_compiler(name)):
        return (_Compiler("gcc", row.gcc, f"is the default of {row.name} {row.version}", span),)
    stated = [(m[1], p) for p in view.spec.system if (m := _PACKAGE.fullmatch(p.name))]
    # Without the default compiler, the one that is named so is the only one there.
    if row is None or len({number for number, _ in stated}) != 1:
        return ()
    number, package = stated[0]
    return (_Compiler("gcc", number, f"`{package.name}` brings", package.span),)


def _has_compiler(image: str) -> bool:
    """Images whose name tells that they have the default compiler: those with nvcc, and the full
    images of Python."""
    repository, words = toolchain.split_image(image)
    full = repository == "python" and not {"slim", "alpine"} & set(words)
    return full or toolchain.image_has_nvcc(image) is True


def _bound(release: str) -> HostCompiler:
    return next(row for row in rows(HostCompiler) if within(release, row.first, row.last))


def _hint(release: str, gcc: str, compiler: _Compiler) -> str:
    number = gcc.partition(".")[0]
    if compiler.variable:
        return f"name gcc {number} in `{compiler.variable}`, and add `g++-{number}` to `system`"
    # Their compilers, gcc 11 and gcc 9, are old enough for every nvcc that they come with.
    for distribution in ("ubuntu22.04", "ubuntu20.04"):
        image = toolchain.newest_image(release, distribution)
        if image:
            return f'write `devel "{image}"`, whose own compiler fits'
    return (
        f'add `g++-{number}` to `build` in `system`, and `CC="gcc-{number}" CXX="g++-{number}"` '
        "to the `env` of the extension"
    )
