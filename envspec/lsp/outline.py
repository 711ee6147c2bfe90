"""The shape of a spec: its statements as an outline, and what can be folded. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from envspec.language.syntax import ASSIGNMENT, STRING, Statement, Value
from envspec.lsp.navigation import DECLARED
from envspec.lsp.tree import Tree
from envspec.source import Span

_COMMENTS = re.compile(r"(?:^[ \t]*#[^\n]*\n){2,}", re.MULTILINE)
_LONGEST = 60
_MOST = 10_000  # as many statements as a spec may have


class Symbol(NamedTuple):
    """A statement. ``name`` is its word, with its name where it has one; ``chosen`` is what to
    select when it is gone to."""

    name: str
    detail: str
    word: str
    span: Span
    chosen: Span
    inside: tuple[Symbol, ...]


def symbols(tree: Tree) -> tuple[Symbol, ...]:
    """The statements of the top level, with those in their blocks."""
    return tuple(_symbol(s, "") for s in tree.statements[:_MOST])


def _symbol(statement: Statement, owner: str) -> Symbol:
    values = statement.values
    word = statement.keyword.text
    named = not owner and (word in DECLARED or word == "project") and len(values) > 1
    name = f"{word} {values[1].text}" if named else _shown(values[0])
    rest = " ".join(_shown(v) for v in values[2 if named else 1 :])
    return Symbol(
        _cut(name) or "{",
        _cut(rest),
        owner or word,
        statement.span,
        values[1 if named else 0].span,
        tuple(_symbol(s, word) for s in (statement.block or ())[:_MOST]),
    )


def _shown(value: Value) -> str:
    if value.kind == ASSIGNMENT:
        return f'{value.name}="{value.text}"'
    return f'"{value.text}"' if value.kind == STRING else value.text


def _cut(text: str) -> str:
    text = "".join(c if c.isprintable() else " " for c in text).strip()
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def folds(tree: Tree) -> Iterator[tuple[Span, str]]:
    """What can be folded: blocks, and comments of two lines and more; each with its kind."""
    for statement, _ in tree.all():
        if statement.block is not None:
            yield Span(statement.values[-1].span.end, statement.span.end), "region"
    for match in _COMMENTS.finditer(tree.text):
        yield Span(match.start(), match.end() - 1), "comment"
