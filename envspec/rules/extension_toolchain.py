"""E0330: an extension compiles CUDA code, and the image it is built in has no nvcc."""

from __future__ import annotations

from collections.abc import Iterator

from envspec import toolchain
from envspec.diagnostics import Diagnostic, Label
from envspec.facts import lookup
from envspec.rules.shared import compiling
from envspec.rules.view import View

CODE = "E0330"


def check(view: View) -> Iterator[Diagnostic]:
    """One finding an extension."""
    name, span = toolchain.build_image(view.spec)
    for extension, _ in compiling.builds(view):
        if toolchain.has_nvcc(view.spec, extension) is not False:
            continue
        image = toolchain.devel_for(view.toolkit, lookup.glibc_of(view.spec.platform.base) or "")
        what = f'`devel "{image}"`' if image else "`devel` with an image that has nvcc"
        yield Diagnostic(
            CODE,
            f"extension `{extension.name}` compiles CUDA code, and its image has no nvcc",
            view.source,
            (
                Label(compiling.head(extension, view.source.text), "compiled with nvcc"),
                Label(span, f"`{name}` has none"),
            ),
            cause="extensions are built in the `devel` image, or in the base where there is none; "
            "neither that image nor `system` nor `needs` brings nvcc",
            hint=f"write {what} in `platform`; the run-time image stays as it is",
        )
