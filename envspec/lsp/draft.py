"""The model of a spec that may be unfinished, for looking up facts. Pure.

Facts are asked through `envspec.rules.view.View`, as the rules ask them, so what hover shows and
what a rule finds cannot disagree.
"""

from __future__ import annotations

from collections.abc import Mapping

from envspec.language.resolve import resolve_all
from envspec.language.syntax import Statement
from envspec.lsp.tree import Tree
from envspec.names import normalise
from envspec.rules.view import View
from envspec.source import SourceFile

USUAL = "linux/amd64"
"""The platform that facts are shown for while the spec names none."""


def view(tree: Tree, locked: Mapping[str, str] | None = None) -> View:
    """What the facts are asked with. What is wrong in the spec is not there; nothing is reported,
    and the locked versions count whether or not the lock is fresh."""
    source = SourceFile("spec.env", tree.text)
    spec, _ = resolve_all(tree.statements, source)
    if not spec.platform.os_arch:
        spec = spec._replace(platform=spec.platform._replace(os_arch=USUAL))
    return View(spec, source, locked)


def package_name(statement: Statement, at: int = 0) -> str:
    """The name of a package that stands among the values of a statement, normalised."""
    if at >= len(statement.values):
        return ""
    return normalise(statement.values[at].text.partition("[")[0])
