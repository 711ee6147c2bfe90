"""Statements with places to fill in, made from their forms. Pure.

Placeholders are those of the protocol: ``${1:NAME}``, ``${1|c1,c3,c4|}``, ``$0``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from envspec.language.statements import REQUIRED, Form, Param, Word, words_in
from envspec.language.syntax import ASSIGNMENT, STRING

_USUAL = {"asset": ("hub", "revision"), "entry": ("run",)}
"""Of statements one of which is required, those that are usual."""


class Snippet(NamedTuple):
    """A way to write a statement; ``plain`` is the part of it that is the same each time."""

    label: str
    text: str
    plain: str


class _Stops:
    """Numbers the places of one snippet."""

    def __init__(self) -> None:
        self.last = 0

    def place(self, text: str) -> str:
        """A place that holds a text."""
        self.last += 1
        return f"${{{self.last}:{escaped(text)}}}"

    def choice(self, words: tuple[str, ...]) -> str:
        """A place that holds one of several words."""
        self.last += 1
        return f"${{{self.last}|{','.join(words)}|}}"


def snippets(word: Word) -> Iterator[Snippet]:
    """Every way to write a statement, with its block where it has one."""
    for form in word.forms:
        if word.word == "accelerator":
            # The one statement whose block depends on its value.
            yield Snippet("accelerator cuda", _accelerator(), "accelerator cuda ")
            yield Snippet("accelerator none", "accelerator none", "accelerator none")
            continue
        stops = _Stops()
        label = f"{word.word} {form.choose}".rstrip()
        text = _line(word, form, stops)
        if word.block:
            usual = _USUAL.get(word.word, ())
            inner = [
                f"\t{_line(child, child.forms[0], stops)}\n"
                for child in words_in(word.word).values()
                if child.often == REQUIRED or child.word in usual
            ]
            text += f" {{\n{''.join(inner)}\t$0\n}}"
        yield Snippet(label, text, label)


def line_snippet(param: Param) -> str:
    """One value with the word that leads it, such as ``because "${1:REASON}"``."""
    return _param(param, _Stops())


def escaped(text: str) -> str:
    """A text as it stands inside a placeholder."""
    return text.replace("\\", "\\\\").replace("$", "\\$").replace("}", "\\}")


def _accelerator() -> str:
    return "accelerator cuda ${1:12.8} {\n\tgpus ${2:sm_90}\n\t$0\n}"


def _line(word: Word, form: Form, stops: _Stops) -> str:
    parts = [word.word, form.choose]
    parts.extend(_param(p, stops) for p in form.params if not p.optional)
    return " ".join(filter(None, parts))


def _param(param: Param, stops: _Stops) -> str:
    if param.shape.words:
        text = stops.choice(param.shape.words)
    elif param.kind == ASSIGNMENT:
        text = f'{stops.place("NAME")}="{stops.place("VALUE")}"'
    elif param.label == "1":
        text = "1"
    else:
        text = stops.place(param.label)
    text = f'"{text}"' if param.kind == STRING else text
    return f"{param.lead} {text}" if param.lead else text
