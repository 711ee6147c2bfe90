"""E0331: nothing says for which GPUs an extension is compiled, and its build sees none."""

from __future__ import annotations

from collections.abc import Iterator

from envspec.diagnostics import Diagnostic, Label
from envspec.rules.shared import compiling
from envspec.rules.shared.compiling import Build
from envspec.rules.view import View
from envspec.stated import environment
from envspec.toolchain import ARCH_LIST

CODE = "E0331"


def check(view: View) -> Iterator[Diagnostic]:
    """One finding an extension that would look for GPUs."""
    for build in without_a_list(view):
        if build.facts.architectures != "visible":
            continue
        extension, variable = build.extension, build.facts.arch_variable
        yield Diagnostic(
            CODE,
            f"nothing says for which GPUs extension `{extension.name}` is compiled",
            view.source,
            (
                Label(compiling.head(extension, view.source.text), "no list of architectures"),
                Label(view.home, "no `gpus`"),
            ),
            cause=f"without `{variable}` the build compiles for the GPUs that it sees; the build "
            "of an image sees none, and torch stops with `list index out of range`",
            hint="state `gpus` in `accelerator`: they become the list of every extension",
        )


def without_a_list(view: View) -> Iterator[Build]:
    """Builds that choose their architectures, where neither the spec nor a variable does."""
    if view.spec.accelerator.gpus:
        return
    for build in compiling.builds(view):
        values = environment(view.spec, build.extension)
        named = {build.facts.arch_variable or ARCH_LIST, ARCH_LIST}
        if not any(values.get(name, "").strip() for name in named):
            yield build
