"""Names of a spec: where they are declared, where they are used, and giving them another. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from envspec.language.syntax import WORD, Statement, Value
from envspec.language.values import NAME, VARIABLE, Shape
from envspec.lsp.tree import Tree
from envspec.names import normalise
from envspec.source import Span

PACKAGE = "package"
DECLARED = ("index", "secret", "extension", "step", "asset", "service", "entry", "mirror")
"""Statements of the top level whose first value names them."""
_RENAMED = {
    "index": NAME,
    "secret": VARIABLE,
    "asset": NAME,
    "service": NAME,
    "entry": NAME,
    "step": NAME,
    "mirror": NAME,
}
_USES = {
    ("entry", "service"): "service",
    ("entry", "asset"): "asset",
    ("entry", "secret"): "secret",
    ("asset", "secret"): "secret",
    ("extension", "needs"): PACKAGE,
    ("claims", "entry"): "entry",
}


class Site(NamedTuple):
    """A place where a name stands. ``whole`` is its statement; ``declares`` says whether the name
    comes from here. Packages are named by their lines, with extras left out of the span."""

    kind: str
    name: str
    span: Span
    whole: Span
    declares: bool


def site_at(tree: Tree, offset: int) -> Site | None:
    """The name at an offset."""
    return next((s for s in _sites(tree) if s.span.start <= offset <= s.span.end), None)


def sites(tree: Tree, kind: str, name: str) -> list[Site]:
    """Every place of a name, in the order of the text."""
    found = [s for s in _sites(tree) if (s.kind, s.name) == (kind, name)]
    return sorted(found, key=lambda s: s.span)


def definitions(tree: Tree, offset: int) -> list[Site]:
    """Where what stands at an offset is declared: a name, or the entries that a claim is about."""
    site = site_at(tree, offset)
    if site is not None:
        return [s for s in sites(tree, site.kind, site.name) if s.declares]
    found = tree.at(offset)
    if found is None:
        return []
    statement, around, _ = found
    if [s.keyword.text for s in around] != ["claims"]:
        return []
    entries = (s for s in tree.statements if s.keyword.text == "entry" and len(s.values) > 1)
    return [
        Site("entry", e.values[1].text, e.values[1].span, e.span, declares=True)
        for e in entries
        if any(_level(line) == statement.keyword.text for line in e.block or ())
    ]


def renamed(tree: Tree, offset: int) -> Site | None:
    """The name at an offset, where the spec itself declares it and may give it another."""
    site = site_at(tree, offset)
    if site is None or site.kind not in _RENAMED:
        return None
    return site if any(s.declares for s in sites(tree, site.kind, site.name)) else None


def shape_of(kind: str) -> Shape:
    """What a name of a kind must look like."""
    return _RENAMED[kind]


def _sites(tree: Tree) -> Iterator[Site]:
    for statement, around in tree.all():
        word = statement.keyword.text
        owner = around[-1].keyword.text if around else ""
        values = statement.values
        words = [v for v in values[1:] if v.kind == WORD]
        if not around and word in DECLARED and values[1:] and values[1].kind == WORD:
            kind = PACKAGE if word == "extension" else word
            yield _site(kind, values[1], statement, declares=True)
        elif owner == "packages" and statement.keyword.kind == WORD:
            yield _package(statement)
        elif (owner, word) in _USES:
            used = words[:1] if owner == "claims" else words
            yield from (_site(_USES[owner, word], v, statement, declares=False) for v in used)
        for before, value in pairwise(values):
            leads = before.kind == WORD and before.text in {"from", "for"}
            if leads and value.kind == WORD and before is not statement.keyword:
                yield _site("index", value, statement, declares=False)


def _site(kind: str, value: Value, statement: Statement, *, declares: bool) -> Site:
    name = normalise(value.text) if kind == PACKAGE else value.text
    return Site(kind, name, value.span, statement.span, declares)


def _package(line: Statement) -> Site:
    name = line.keyword.text.partition("[")[0]
    start = line.keyword.span.start
    span = Span(start, start + len(name))
    return Site(PACKAGE, normalise(name), span, line.span, declares=True)


def _level(line: Statement) -> str:
    told = line.keyword.text == "level" and len(line.values) > 1
    return line.values[1].text if told else ""
