"""Rules over the resolved spec: one file a rule, one code, one page in docs/rules, one test folder.

Rules are pure and see the spec, the versions that are settled and the facts only, so everything
they find is found before anything is fetched or built. A rule is a module with its ``CODE`` and
``check(view)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module

from envspec.diagnostics import Diagnostic, in_order
from envspec.model import Spec
from envspec.rules.view import View
from envspec.source import SourceFile

Rule = Callable[[View], Iterable[Diagnostic]]

RULES: dict[str, str] = {
    "W0301": "contradiction",
    "W0302": "unlocked_system",
    "E0303": "forbidden_variable",
}
"""Code → module of this room."""


def rule(code: str) -> Rule:
    """The check of a code."""
    check: Rule = import_module(f"envspec.rules.{RULES[code]}").check
    return check


def check(
    spec: Spec, source: SourceFile, locked: Mapping[str, str] | None = None
) -> tuple[Diagnostic, ...]:
    """Findings of every rule, by place. ``locked`` maps names to the versions of the lock."""
    view = View(spec, source, locked)
    return in_order(d for code in RULES for d in rule(code)(view))
