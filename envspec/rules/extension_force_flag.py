"""E0332: without its force flag, the build of an extension quietly gives something else.

A build of an image sees no GPU. Some setup.py then compile for the CPU only, some download a wheel
instead of compiling, and some build no extension at all unless told to.
"""

from __future__ import annotations

from collections.abc import Iterator

from envspec.diagnostics import Diagnostic, Edit, Fix, Label
from envspec.model import Extension
from envspec.rules.shared import compiling
from envspec.rules.view import View
from envspec.source import Span
from envspec.stated import environment

CODE = "E0332"

_WHY = {
    "gpu": "its setup.py asks whether a GPU is there; the build of an image sees none, and gives a "
    "package without CUDA code and without an error",
    "wheel": "its setup.py first downloads a wheel that somebody else built, and compiles against "
    "the locked torch only when told to",
    "asked": "its setup.py builds no extension unless told to, and gives a package of Python files "
    "without an error",
}


def check(view: View) -> Iterator[Diagnostic]:
    """One finding an extension."""
    for extension, facts in compiling.builds(view):
        values = environment(view.spec, extension)
        wanted = compiling.settings(facts.force)
        missing = tuple((name, value) for name, value in wanted if values.get(name) != value)
        instead = compiling.settings(facts.force_instead)
        if not missing or any(values.get(name) == value for name, value in instead):
            continue
        if facts.force_reason == "gpu" and any(values.get(name) == "0" for name, _ in missing):
            continue  # The CPU build is asked for in so many words.
        flags = " ".join(f'{name}="{value}"' for name, value in missing)
        own = [v for v in extension.environment if v.name in {name for name, _ in missing}]
        at = own[0].span if own else compiling.head(extension, view.source.text)
        yield Diagnostic(
            CODE,
            f"extension `{extension.name}` is built without `{flags}`",
            view.source,
            (Label(at, "another value" if own else "the flag is missing"),),
            cause=_WHY.get(facts.force_reason or "", "without it the build is another one"),
            hint=f"write `env {flags}` in its block",
            fix=_fix(view, extension, missing, flags),
        )


def _fix(
    view: View, extension: Extension, missing: tuple[tuple[str, str], ...], flags: str
) -> Fix | None:
    text = view.source.text
    own = {variable.name: variable for variable in extension.environment}
    edits: list[Edit] = []
    new = []
    for name, value in missing:
        if name in own:
            edits.append(Edit(own[name].span, f'{name}="{value}"'))
        else:
            new.append(f'{name}="{value}"')
    if new and extension.environment:
        end = extension.environment[-1].span.end
        edits.append(Edit(Span(end, end), "".join(f" {setting}" for setting in new)))
    elif new:
        added = compiling.add_to_extension(view, extension, "env " + " ".join(new))
        if added is None:
            return None
        edits.append(added)
    # A spec that came in another form has no such text to change.
    if any(not text.startswith(f"{v.name}=", v.span.start) for v in extension.environment):
        return None
    if len(edits) > 1 and edits[0].span.end == edits[-1].span.start:
        edits = [Edit(edits[0].span, edits[0].replacement + edits[-1].replacement)]
    return Fix(f"set {flags}", tuple(edits))
