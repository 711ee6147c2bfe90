"""JSON text → a tree in which every key and value keeps its place.

The standard library's parser forgets places, and findings without a place teach nobody. It reads
the strings here; the walk is ours, and nests no deeper than a spec can.
"""

from __future__ import annotations

import json.decoder
import re
from typing import Any, NamedTuple, NoReturn

from envspec.diagnostics import DiagnosticError
from envspec.source import SourceFile, Span

CODE = "E0107"
DEEPEST = 6
MOST = 100_000

OBJECT = "object"
ARRAY = "list"
STRING = "string"
NUMBER = "number"
LITERAL = "literal"

_BLANK = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?", re.ASCII)
_LITERAL = re.compile(r"true|false|null")
_scanstring: Any = json.decoder.scanstring  # type: ignore[attr-defined]  # documented by its use


class Node(NamedTuple):
    """One JSON value. ``text`` is a string's content, else what was written; ``span`` leaves the
    quotes of a string out. ``members`` are (key, place of the key, value); keys are empty in lists.
    """

    kind: str
    text: str
    span: Span
    members: tuple[tuple[str, Span, Node], ...] = ()


def read_json(source: SourceFile) -> Node:
    """The one value that a text holds.

    Raises:
        DiagnosticError: E0107 where it is no JSON, nests too deep, or says a key twice.
    """
    return _Walk(source).document()


class _Walk:
    def __init__(self, source: SourceFile) -> None:
        self.source = source
        self.text = source.text
        self.at = 0
        self.count = 0

    def document(self) -> Node:
        self.blank()
        node = self.value(1)
        self.blank()
        if self.at < len(self.text):
            self.stop("text after the end of the JSON value", "one spec is one JSON object")
        return node

    def value(self, depth: int) -> Node:
        self.count += 1
        if depth > DEEPEST or self.count > MOST:
            what = f"JSON nests deeper than {DEEPEST}" if depth > DEEPEST else "too many values"
            self.stop(what, "a spec nests no deeper than its statements do")
        char = self.text[self.at : self.at + 1]
        if char == "{":
            return self.members(OBJECT, "}", depth)
        if char == "[":
            return self.members(ARRAY, "]", depth)
        if char == '"':
            return self.string()
        for kind, pattern in ((NUMBER, _NUMBER), (LITERAL, _LITERAL)):
            match = pattern.match(self.text, self.at)
            if match:
                self.at = match.end()
                return Node(kind, match.group(), Span(match.start(), match.end()))
        return self.stop("a JSON value is expected", 'strings stand in `"`, keys too')

    def string(self) -> Node:
        start = self.at + 1
        try:
            text, end = _scanstring(self.text, start, True)
        except ValueError:
            self.stop("the string is not one", 'end it with `"`, and escape control characters')
        self.at = end
        return Node(STRING, text, Span(start, end - 1))

    def members(self, kind: str, close: str, depth: int) -> Node:
        start = self.at
        self.at += 1
        found: list[tuple[str, Span, Node]] = []
        seen: dict[str, Span] = {}
        self.blank()
        while self.text[self.at : self.at + 1] != close:
            if found:
                self.expect(",", f"`,` or `{close}` is expected")
                self.blank()
            key, place = "", Span(self.at, self.at)
            if kind == OBJECT:
                if self.text[self.at : self.at + 1] != '"':
                    self.stop("a key in quotes is expected", 'write `"key": value`')
                name = self.string()
                key, place = name.text, name.span
                if key in seen:
                    self.at = place.start
                    self.stop(f"`{key[:60]}` is there twice", "keep one of the two")
                seen[key] = place
                self.blank()
                self.expect(":", "`:` is expected after a key")
                self.blank()
            found.append((key, place, self.value(depth + 1)))
            self.blank()
        self.at += 1
        return Node(kind, "", Span(start, self.at), tuple(found))

    def expect(self, char: str, title: str) -> None:
        if self.text[self.at : self.at + 1] != char:
            self.stop(title, "see `envspec schema` for the form of a spec")
        self.at += 1

    def blank(self) -> None:
        match = _BLANK.match(self.text, self.at)
        assert match is not None
        self.at = match.end()

    def stop(self, title: str, hint: str) -> NoReturn:
        end = min(self.at + 1, len(self.text))
        raise DiagnosticError.of(
            CODE,
            f"not the JSON form of a spec: {title}",
            source=self.source,
            span=Span(min(self.at, end), end),
            label="here",
            hint=hint,
        )
