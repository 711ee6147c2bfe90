"""The syntax tree: words, strings and assignments in statements, each with its span."""

from __future__ import annotations

from typing import NamedTuple

from envspec.source import Span

WORD = "word"
STRING = "string"
ASSIGNMENT = "assignment"

MAX_FINDINGS = 100
"""Findings of one text that are kept: more help nobody, and drawing them would take minutes."""


class Value(NamedTuple):
    """One value. ``text`` is the word, or the content of the string without its quotes and
    escapes; ``name`` is what an assignment assigns to."""

    kind: str
    text: str
    span: Span
    name: str = ""

    @property
    def shown(self) -> str:
        """The value as a message names it: one line of at most 60 characters."""
        text = f'{self.name}="{self.text}"' if self.kind == ASSIGNMENT else self.text
        return text if len(text) <= 60 else text[:59] + "…"


class Statement(NamedTuple):
    """A statement at any depth: its values (at least one) and its block, None where it has none."""

    values: tuple[Value, ...]
    block: tuple[Statement, ...] | None
    span: Span

    @property
    def keyword(self) -> Value:
        """The first value, which says what the statement is."""
        return self.values[0]
