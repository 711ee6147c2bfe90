"""The JSON Schema of the JSON form, from the table of words.

It says as much as a schema can: names, shapes, what is required. What needs two statements at once
(an index that nobody declares) is found by `envspec check`.
"""

from __future__ import annotations

import re
from typing import Any

from envspec.language import values as shapes
from envspec.language.json_form import NUMBERS
from envspec.language.statements import MANY, REQUIRED, Form, Param, Word, words_in
from envspec.language.syntax import ASSIGNMENT
from envspec.language.values import Shape
from envspec.model import UNSTATED

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_ANY_CASE = re.compile(r"\(\?i:")


def schema() -> dict[str, Any]:
    """The schema of a whole spec."""
    return {
        "$schema": DIALECT,
        "title": "EnvSpec, language version 1, JSON form",
        "description": "The same statements as in spec.env. `envspec check --json-in` reads it.",
        **_object("", [], []),
    }


def _object(inside: str, heads: list[Param], needed: list[str]) -> dict[str, Any]:
    """An object of head values and of the lines of a block."""
    properties: dict[str, Any] = {p.key: _value(p) for p in heads}
    required = list(needed)
    for word, row in words_in(inside).items():
        properties[word] = {"description": f"{row.meaning}.", **_statement(row)}
        if row.often == REQUIRED:
            required.append(word)
    result: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        result["required"] = required
    return {**result, "additionalProperties": False}


def _statement(row: Word) -> dict[str, Any]:
    if row.word == "envspec":
        return {"const": 1}
    if row.word == "packages":
        return _by_name(words_in("packages")["NAME"], shapes.PACKAGE)
    if row.word == "env" and not row.inside:
        return _variables()
    if row.names:
        return _by_name(row, row.params[0].shape)
    if row.often == MANY:
        return {"type": "array", "items": _ways(row)}
    return _ways(row)


def _by_name(row: Word, names: Shape) -> dict[str, Any]:
    return {
        "type": "object",
        "propertyNames": {"pattern": pattern(names)},
        "additionalProperties": _ways(row),
    }


def _ways(row: Word) -> dict[str, Any]:
    ways = [way for form in row.forms for way in _form(row, form)]
    return ways[0] if len(ways) == 1 else {"anyOf": ways}


def _form(row: Word, form: Form) -> list[dict[str, Any]]:
    heads = [p for p in form.params if p.key != "name" or not row.names]
    needed = [p.key for p in heads if not p.optional]
    if row.block:
        return [_object(row.word, heads, needed)]
    if len(heads) == 1 and heads[0].kind == ASSIGNMENT:
        return [_variables()]
    whole: dict[str, Any] = {"type": "object", "properties": {p.key: _value(p) for p in heads}}
    if needed:
        whole["required"] = needed
    whole["additionalProperties"] = False
    alone = heads and not form.choose and all(p.optional for p in heads[1:])
    first = [_value(heads[0])] if alone else []
    if row.inside == "claims":
        whole["properties"]["value"] = {"anyOf": [_value(heads[0]), {"const": UNSTATED}]}
        first.append({"const": UNSTATED})
    return [*first, whole] if len(heads) > 1 or not first or row.often == MANY else first


def _value(param: Param) -> dict[str, Any]:
    if param.shape in NUMBERS:
        one: dict[str, Any] = {"type": "integer", "minimum": 0 if param.shape.fits("0") else 1}
    elif param.shape is shapes.BOOLEAN:
        one = {"type": "boolean"}
    elif param.shape.words:
        one = {"enum": list(param.shape.words)}
    else:
        one = {"type": "string", "pattern": pattern(param.shape)}
    if not param.many:
        return one
    return {"type": "array", "items": one, "minItems": 0 if param.optional else 1}


def _variables() -> dict[str, Any]:
    return {
        "type": "object",
        "propertyNames": {"pattern": pattern(shapes.VARIABLE)},
        "additionalProperties": {"type": "string", "pattern": pattern(shapes.TEXT)},
    }


def pattern(shape: Shape) -> str:
    r"""A shape as a regular expression of ECMA 262, which knows neither `(?i:…)` nor ASCII `\d`
    alone: letters are written in both cases."""
    return f"^(?:{_both_cases(shape.pattern)})$"


def _both_cases(text: str) -> str:
    if not _ANY_CASE.search(text):
        return text
    result: list[str] = []
    depth: list[bool] = []  # for each open group, whether case matters not
    i, in_class = 0, False
    while i < len(text):
        char = text[i]
        if text.startswith("(?i:", i):
            depth.append(True)
            result.append("(?:")
            i += 4
            continue
        if char == "\\":
            result.append(text[i : i + 2])
            i += 2
            continue
        if char == "(" and not in_class:
            depth.append(depth[-1] if depth else False)
            if text.startswith("(?:", i):
                result.append("(?:")
                i += 3
                continue
        elif char == ")" and not in_class:
            depth.pop()
        elif char in "[]":
            in_class = char == "["
        any_case = bool(depth) and depth[-1]
        if any_case and in_class and text.startswith("a-z", i):
            result.append("a-zA-Z")
            i += 3
            continue
        if any_case and char.isalpha() and not in_class:
            result.append(f"[{char.lower()}{char.upper()}]")
        else:
            result.append(char)
        i += 1
    return "".join(result)
