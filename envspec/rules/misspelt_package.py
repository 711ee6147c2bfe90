"""W0354: a package whose name is one slip away from a well-known one.

Indexes hold packages under such names, and not all of them mean well. A lock settles which
package is meant, so where there is one, this rule is silent.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from envspec.diagnostics import WARNING, Diagnostic, Fix, Label
from envspec.facts.lookup import known_names
from envspec.rules.view import View
from envspec.source import Span
from envspec.stated import from_default_index
from envspec.suggest import distance

CODE = "W0354"
_SHORTEST = 5


def check(view: View) -> Iterator[Diagnostic]:
    """One finding a name; names of an index of the user's own are their own affair."""
    for name, stated in view.stated.items():
        if name in view.locked or not from_default_index(stated):
            continue
        near = _near(name)
        if near:
            start = stated.span.start
            if not view.source.text.startswith(name, start):
                start = view.source.text.find(name, start, stated.span.end)
            span = Span(start, start + len(name)) if start >= 0 else stated.span
            yield Diagnostic(
                CODE,
                f"package `{name}` is one slip away from `{near}`",
                view.source,
                (Label(span, "not a name that the facts know"),),
                cause="an index serves whatever package has the name that was written",
                hint=f"did you mean `{near}`? If not, `envspec lock` settles it",
                fix=Fix.replace(span, near, f"write `{near}`") if start >= 0 else None,
                severity=WARNING,
            )


@cache
def _near(name: str) -> str:
    known = known_names()
    if name in known or len(name) < _SHORTEST:
        return ""
    close = {k for part in (name, *_shorter(name)) for k in _by_part().get(part, ())}
    # A name that ends in another number is another release of the same family: `cupy-cuda14x`.
    slips = (k for k in sorted(close) if distance(name, k) == 1 and not _another_number(k, name))
    return next(slips, "")


@cache
def _by_part() -> dict[str, list[str]]:
    """Known names by themselves and by all that is left of them without one letter: names that
    are one slip apart have such a part in common, so nothing has to be compared with everything."""
    parts: dict[str, list[str]] = {}
    for name in sorted(known_names()):
        for part in {name, *_shorter(name)}:
            parts.setdefault(part, []).append(name)
    return parts


def _shorter(name: str) -> Iterator[str]:
    return (name[:i] + name[i + 1 :] for i in range(len(name)))


def _another_number(known: str, name: str) -> bool:
    differ = [(a, b) for a, b in zip(known, name, strict=False) if a != b]
    longer = known[len(name) :] + name[len(known) :]
    return (bool(differ) and all(a.isdigit() and b.isdigit() for a, b in differ)) or (
        not differ and longer.isdigit()
    )
