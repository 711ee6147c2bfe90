"""W0393: an extension works without a package, and much worse."""

from __future__ import annotations

from collections.abc import Iterator

from envspec.diagnostics import WARNING, Diagnostic, Label
from envspec.model import DEFAULT_NEEDS
from envspec.rules.extension_needs import add_needs, needs_span
from envspec.rules.shared import compiling
from envspec.rules.shared.compiling import Build
from envspec.rules.view import View

CODE = "W0393"


def check(view: View) -> Iterator[Diagnostic]:
    """One finding a package that is missing: at run time, then in the build."""
    for extension in view.spec.extensions:
        row = compiling.facts(view, extension.name)
        for name in (row.companions or ()) if row else ():
            if name not in view.stated and name not in view.locked and name not in extension.needs:
                yield Diagnostic(
                    CODE,
                    f"`{extension.name}` runs without `{name}`, which it would use",
                    view.source,
                    (Label(compiling.head(extension, view.source.text), "used by this"),),
                    cause=f"it imports `{name}` where that is installed; else it takes a slower "
                    "way, and some of its features stop with an error",
                    hint=f"add `extension {name}`",
                    severity=WARNING,
                )
    yield from (
        _without_ninja(view, build) for build in compiling.builds(view) if _slow(view, build)
    )


def _slow(view: View, build: Build) -> bool:
    given = build.extension.needs or DEFAULT_NEEDS
    brought = any(p.name in {"ninja-build", "ninja"} for p in view.spec.system)
    return "ninja" in build.facts.needs and "ninja" not in given and not brought


def _without_ninja(view: View, build: Build) -> Diagnostic:
    extension = build.extension
    return Diagnostic(
        CODE,
        f"extension `{extension.name}` is compiled without `ninja`",
        view.source,
        (Label(needs_span(view, extension), "no `ninja`"),),
        cause="torch then compiles one file after the other, and MAX_JOBS has no effect",
        hint="add `ninja` to `needs`",
        fix=add_needs(view, extension, build.facts, ("ninja",)),
        severity=WARNING,
    )
