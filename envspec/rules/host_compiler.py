"""E0336: nvcc refuses the C++ compiler that an extension is built with: it is too new."""

from __future__ import annotations

from collections.abc import Iterator

from envspec import toolchain
from envspec.diagnostics import Diagnostic, Label
from envspec.facts import images, lookup
from envspec.facts.rows import HostCompiler
from envspec.facts.tables import rows
from envspec.facts.versions import within
from envspec.rules.shared import compiling
from envspec.rules.view import View
from envspec.toolchain import Compiler

CODE = "E0336"


def check(view: View) -> Iterator[Diagnostic]:
    """One finding for each compiler that is too new, at the first extension that it builds."""
    nvcc = toolchain.nvcc(view.spec)
    if nvcc is None:
        return
    seen: set[Compiler] = set()
    for extension, _ in compiling.builds(view):
        for compiler in toolchain.host_compilers(view.spec, extension):
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


def _bound(release: str) -> HostCompiler:
    return next(row for row in rows(HostCompiler) if within(release, row.first, row.last))


def _hint(release: str, gcc: str, compiler: Compiler) -> str:
    number = gcc.partition(".")[0]
    if compiler.variable:
        return f"name gcc {number} in `{compiler.variable}`, and add `g++-{number}` to `system`"
    # Their compilers, gcc 11 and gcc 9, are old enough for every nvcc that they come with.
    for distribution in ("ubuntu22.04", "ubuntu20.04"):
        image = images.newest_devel(release, distribution)
        if image:
            return f'write `devel "{image}"`, whose own compiler fits'
    return (
        f'add `g++-{number}` to `build` in `system`, and `CC="gcc-{number}" CXX="g++-{number}"` '
        "to the `env` of the extension"
    )
