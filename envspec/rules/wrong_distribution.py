"""E0339: a name that the default index has, and that is another project there."""

from __future__ import annotations

from collections.abc import Iterator

from envspec.diagnostics import Diagnostic, Fix, Label
from envspec.facts import lookup
from envspec.facts.rows import Namesake
from envspec.model import Extension, Package
from envspec.rules.shared import compiling
from envspec.rules.view import View
from envspec.stated import from_default_index

CODE = "E0339"


def check(view: View) -> Iterator[Diagnostic]:
    """One finding a name. A line that says why means what it says, and an index of the user's own
    has what the user put there."""
    for stated in view.stated.values():
        row = lookup.namesake(stated.name)
        if row is None or stated.because or not from_default_index(stated):
            continue
        if isinstance(stated, Extension) and stated.git is not None:
            continue
        span = stated.span
        if isinstance(stated, Extension):
            span = compiling.head(stated, view.source.text)
        yield Diagnostic(
            CODE,
            f"`{stated.name}` on the default index is not {row.meant}",
            view.source,
            (Label(span, "another project"),),
            cause=f"there, that name is {row.what}",
            hint=_hint(row),
            fix=_fix(view, stated, row),
        )


def _hint(row: Namesake) -> str:
    if row.distribution:
        return f"write `{row.distribution}`"
    return (
        f'write `extension {row.name}` with `source git "https://github.com/{row.repository}" at '
        '"COMMIT"`; if the other project is meant, say so with `because`'
    )


def _fix(view: View, stated: Package | Extension, row: Namesake) -> Fix | None:
    """Another name is all it takes, where no version of the wrong project is asked for."""
    if not row.distribution or not isinstance(stated, Package) or stated.specifier:
        return None
    if row.distribution in view.stated:
        return None
    at = compiling.written_name(view, stated)
    return Fix.replace(at, row.distribution, f"write {row.distribution}") if at else None
