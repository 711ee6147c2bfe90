"""What hover shows: the facts behind a value, and the meaning of its statement. Pure."""

from __future__ import annotations

from typing import NamedTuple

from envspec.language.statements import Word, words_in
from envspec.language.syntax import STRING, WORD, Statement, Value
from envspec.lsp import cards, draft
from envspec.lsp.tree import Tree
from envspec.rules.view import View
from envspec.source import Span


class Hover(NamedTuple):
    """Markdown about the text in ``span``."""

    markdown: str
    span: Span


def hover(tree: Tree, offset: int, locked: dict[str, str] | None = None) -> Hover | None:
    """What is known of the text at an offset; None for blanks, comments and unknown words."""
    found = tree.at(offset)
    if found is None:
        return None
    statement, around, value = found
    if value is None:
        return None
    block = around[-1].keyword.text if around else ""
    known = words_in(block)
    word = known.get(statement.keyword.text) if statement.keyword.kind == WORD else None
    word = word or known.get("NAME")
    if word is None:
        return None
    title, lines = _facts(word, statement, value, around, draft.view(tree, locked))
    parts = [f"**{title}**" if title else "", "\n".join(lines)]
    if value is statement.keyword or not lines:
        parts.append(meaning(word))
    return Hover("\n\n".join(filter(None, parts)), value.span)


def meaning(word: Word) -> str:
    """A statement in Markdown: form, meaning, default, example."""
    lines = [f"```envspec\n{word.form}\n```", f"{word.meaning}.", f"Default: {word.default}."]
    return "\n\n".join(lines)


def _facts(
    word: Word, statement: Statement, value: Value, around: tuple[Statement, ...], view: View
) -> tuple[str, cards.Lines]:
    values = statement.values
    at = values.index(value)
    before = values[at - 1].text if at else ""
    text = value.text
    key = (word.inside, word.word)
    if before in {"from", "for"} and value.kind == WORD:
        return f"index {cards.code(text)}", cards.index(text, view)
    if word.word == "NAME" and word.inside == "packages":
        name = draft.package_name(statement)
        return cards.code(name), cards.package(name, view)
    if key == ("", "extension") and len(values) > 1:
        name = draft.package_name(statement, 1)
        return cards.code(name), cards.package(name, view)
    if at == 0:
        return _of_statement(key, statement, view)
    if key == ("", "index"):
        return f"index {cards.code(values[1].text)}", cards.index(values[1].text, view)
    if key == ("", "accelerator") and at == 2:
        return f"CUDA {cards.code(text)}", cards.toolkit(text)
    if key == ("accelerator", "driver") and at == 1:
        return f"driver {cards.code(text)}", cards.driver(text.removeprefix(">="))
    if key == ("accelerator", "gpus") and value.kind == WORD:
        return cards.code(text), cards.gpu(text)
    if key in {("platform", "base"), ("platform", "devel")} and at == 1 and value.kind == STRING:
        return cards.code(text.partition("@")[0]), cards.image(text)
    if key in {("imports", "optional"), ("extension", "module")} and at:
        return cards.code(text), cards.module(text)
    if key == ("extension", "needs"):
        return cards.code(text), cards.package(text, view)
    if key == ("extension", "env") and around:
        name = draft.package_name(around[-1], 1)
        return f"build of {cards.code(name)}", cards.extension(name)
    return "", []


def _of_statement(
    key: tuple[str, str], statement: Statement, view: View
) -> tuple[str, cards.Lines]:
    """Facts for the word of a statement, where its value has some."""
    value = statement.values[1].text if len(statement.values) > 1 else ""
    if key == ("accelerator", "driver"):
        return f"driver {cards.code(value)}", cards.driver(value.removeprefix(">="))
    if key == ("", "accelerator") and view.spec.accelerator.toolkit:
        number = view.spec.accelerator.toolkit
        return f"CUDA {cards.code(number)}", cards.toolkit(number)
    return "", []
