"""Rules over the resolved spec: one file a rule, one code, one page in docs/rules.

Rules are pure and see the model and the facts only, so everything they find is found before
anything is fetched or built.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from envspec.diagnostics import Diagnostic, in_order
from envspec.model import Spec
from envspec.rules import contradiction, forbidden_variable, unlocked_system
from envspec.source import SourceFile

Rule = Callable[[Spec, SourceFile], Iterable[Diagnostic]]

RULES: dict[str, Rule] = {
    "W0301": contradiction.check,
    "W0302": unlocked_system.check,
    "E0303": forbidden_variable.check,
}


def check(spec: Spec, source: SourceFile) -> tuple[Diagnostic, ...]:
    """Findings of every rule, by place."""
    return in_order(d for rule in RULES.values() for d in rule(spec, source))
