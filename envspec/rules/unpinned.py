"""W0322: a package without any specifier, where no lock settles its version."""

from __future__ import annotations

from collections.abc import Iterator

from envspec.diagnostics import WARNING, Diagnostic, Label
from envspec.model import Extension
from envspec.rules.view import View

CODE = "W0322"


def check(view: View) -> Iterator[Diagnostic]:
    """One finding a package, at its line."""
    for stated in view.stated.values():
        if stated.specifier or stated.name in view.locked:
            continue
        if isinstance(stated, Extension) and stated.git is not None:
            continue  # a commit is exact
        yield Diagnostic(
            CODE,
            f"`{stated.name}` has no version",
            view.source,
            (Label(stated.span, "any release will do"),),
            cause="without a lock this spec means another environment on every day that a new "
            "release comes out",
            hint=f"run `envspec lock`, or write `{stated.name} ==X.Y.Z`",
            severity=WARNING,
        )
