"""W0392: an extension is compiled for a list of GPUs that its own setup.py chooses."""

from __future__ import annotations

from collections.abc import Iterator

from envspec.diagnostics import WARNING, Diagnostic, Label
from envspec.rules.extension_architectures import without_a_list
from envspec.rules.shared import compiling
from envspec.rules.view import View

CODE = "W0392"


def check(view: View) -> Iterator[Diagnostic]:
    """One finding an extension that has a list of its own."""
    for extension, facts in without_a_list(view):
        if facts.architectures != "default":
            continue
        yield Diagnostic(
            CODE,
            f"extension `{extension.name}` chooses for itself which GPUs it is compiled for",
            view.source,
            (
                Label(compiling.head(extension, view.source.text), "no list of architectures"),
                Label(view.home, "no `gpus`"),
            ),
            cause=f"without `{facts.arch_variable}` its build takes a list of its own: longer to "
            "compile than needed, and another one in its next release",
            hint="state `gpus` in `accelerator`",
            severity=WARNING,
        )
