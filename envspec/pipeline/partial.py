"""Rules over a spec that is wrong in places: what they say that those places cannot change. Pure.

A rule that looks at a part that could not be read says nothing. Where single items of a list are
wrong (one package of ten), a rule sees the list twice, without them and with what could be read
of them; what it finds both times is told where it points at an item that is right. That a list
lacks something is never told, since the wrong item may be it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, cast

from envspec import rules
from envspec.diagnostics import Diagnostic
from envspec.language.recover import top_word
from envspec.language.syntax import MAX_FINDINGS, Statement
from envspec.model import Spec
from envspec.rules.view import View
from envspec.source import SourceFile, Span

_FIELDS = {
    "project": "project", "platform": "platform", "accelerator": "accelerator",
    "resources": "resources", "index": "indexes", "mirror": "mirrors", "secret": "secrets",
    "packages": "packages", "system": "system", "extension": "extensions", "step": "steps",
    "env": "environment", "asset": "assets", "service": "services",
    "imports": "optional_imports", "entry": "entries", "claims": "claims",
}  # fmt: skip
"""Word at the top level → field of the model."""


class _Unreadable(Exception):  # noqa: N818 - a signal to the loop below, nobody's error
    """A rule looked at a part that could not be read."""


class _Readable:
    """A spec some of whose fields may not be looked at. It notes those that were."""

    def __init__(self, spec: Spec, closed: Collection[str]) -> None:
        self._spec = spec
        self._closed = closed
        self.read: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        if name in self._closed:
            raise _Unreadable
        self.read.add(name)
        return getattr(self._spec, name)


class _Key(NamedTuple):
    code: str
    title: str
    spans: tuple[Span, ...]


class _Found(NamedTuple):
    """A finding, and the fields of the spec that its rule had looked at by then."""

    finding: Diagnostic
    read: frozenset[str]


def check(
    spec: Spec,
    source: SourceFile,
    statements: Sequence[Statement],
    wrong: Iterable[Diagnostic],
    unread: frozenset[str],
) -> tuple[Diagnostic, ...]:
    """Findings of the rules that hold however ``wrong`` is mended and whatever the ``unread``
    statements say."""
    wrong = tuple(wrong)
    if len(wrong) >= MAX_FINDINGS:
        return ()  # there is more that is wrong, and nobody knows where
    places: dict[str, list[Span]] = {}
    for d in wrong:
        word = top_word(statements, d.span.start)
        if word not in _FIELDS and d.fix is not None:
            word = d.fix.edits[0].replacement  # a slip in a word that is known
        if word not in _FIELDS:
            return ()  # it could have been anything
        places.setdefault(_FIELDS[word], []).append(d.span)
    if not unread <= _FIELDS.keys():
        return ()
    closed = {_FIELDS[word] for word in unread}
    without = spec
    right: dict[str, tuple[Any, ...]] = {}
    for field, spans in places.items():
        kept = _whole(getattr(spec, field), spans)
        if kept is None:
            closed.add(field)
        else:
            right[field] = kept
            change: dict[str, Any] = {field: kept}
            without = without._replace(**change)
    first = _findings(without, closed, source)
    second = _findings(spec, closed, source) if right else first
    return tuple(
        found.finding
        for key, found in first.items()
        if key in second
        if all(_points(found.finding, items) for f, items in right.items() if f in found.read)
    )


def _points(finding: Diagnostic, items: Iterable[Any]) -> bool:
    return any(
        item.span.start <= label.span.start <= item.span.end
        for item in items
        for label in finding.labels
    )


def _whole(items: Any, spans: Iterable[Span]) -> tuple[Any, ...] | None:
    """The items of a list that have nothing wrong; None where a span is in none of them, so that
    something is wrong of which not even the name is known."""
    if type(items) is not tuple:
        return None
    wrong = [[i for i in items if i.span.start <= s.start < i.span.end and i.name] for s in spans]
    if not all(wrong):
        return None
    return tuple(i for i in items if not any(i in some for some in wrong))


def _findings(spec: Spec, closed: Collection[str], source: SourceFile) -> dict[_Key, _Found]:
    found: dict[_Key, _Found] = {}
    for code in rules.RULES:
        readable = _Readable(spec, closed)
        view = View(cast(Spec, readable), source)  # a new one: what it has worked out is not read
        # Rules are written for specs that are right: what one makes of half an item is its own.
        with suppress(Exception):
            for d in rules.rule(code)(view):
                key = _Key(d.code, d.title, tuple(label.span for label in d.labels))
                found[key] = _Found(d, frozenset(readable.read))
    return found
