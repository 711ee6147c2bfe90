"""E0333: the build of an extension imports a package that its `needs` leave out."""

from __future__ import annotations

from collections.abc import Iterator

from envspec.diagnostics import Diagnostic, Edit, Fix, Label
from envspec.facts import rows as kinds
from envspec.model import DEFAULT_NEEDS, Extension
from envspec.rules.shared import compiling, places
from envspec.rules.view import View
from envspec.source import Span
from envspec.wording import ticked

CODE = "E0333"
# Builds use ninja where they find it and manage without.
OPTIONAL = frozenset({"ninja"})


def check(view: View) -> Iterator[Diagnostic]:
    """One finding an extension; also of a CPU build, which imports the same."""
    for extension in view.spec.extensions:
        row = compiling.facts(view, extension.name)
        missing = missing_needs(extension, row) if row else ()
        if row is None or not missing:
            continue
        names = ticked(missing)
        yield Diagnostic(
            CODE,
            f"the build of extension `{extension.name}` needs {names}",
            view.source,
            (Label(needs_span(view, extension), "not among its needs"),),
            cause="it is built without isolation, from what `needs` names, and its setup.py "
            f"imports {'them' if len(missing) > 1 else 'it'}; "
            "without `needs` there are torch, setuptools and wheel",
            hint=f"add {names} to `needs`",
            fix=add_needs(view, extension, row, missing),
        )


def missing_needs(extension: Extension, row: kinds.Extension) -> tuple[str, ...]:
    """Packages that the build imports and does not get, in the order of the table."""
    given = extension.needs or DEFAULT_NEEDS
    return tuple(name for name in row.needs if name not in given and name not in OPTIONAL)


def needs_span(view: View, extension: Extension) -> Span:
    """Where the needs of an extension are stated, else its first line."""
    if extension.needs:
        line = places.line_of(view.source, extension.span, "needs")
        if line != extension.span:
            return line
    return compiling.head(extension, view.source.text)


def add_needs(
    view: View, extension: Extension, row: kinds.Extension, missing: tuple[str, ...]
) -> Fix | None:
    """The fix that adds packages to the needs of an extension; all of them where none is stated."""
    names = " ".join(missing)
    if extension.needs:
        at = places.value_of(view.source, extension.span, "needs")
        edit = Edit(Span(at.start, at.start), f"{names} ") if at else None
    else:
        line = "needs " + " ".join(dict.fromkeys((*row.needs, *DEFAULT_NEEDS)))
        edit = compiling.add_to_extension(view, extension, line)
    return Fix(f"add {names} to the needs of {extension.name}", (edit,)) if edit else None
