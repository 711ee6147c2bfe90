"""Statements → the JSON form of a spec."""

from __future__ import annotations

from typing import Any

from envspec.language import values as shapes
from envspec.language.json_form import NUMBERS
from envspec.language.reader import Fields, Reader
from envspec.language.statements import MANY, Param, Word, words_in
from envspec.language.syntax import ASSIGNMENT, Statement
from envspec.model import UNSTATED
from envspec.source import SourceFile


def document(statements: tuple[Statement, ...], source: SourceFile) -> dict[str, Any]:
    """The JSON form of statements that resolve."""
    return _object(statements, "", Reader(source))


def _object(statements: tuple[Statement, ...], inside: str, reader: Reader) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for statement in statements:
        word = statement.keyword.text
        row = words_in(inside)[word]
        if word == "packages":
            result[word] = dict(_package(line) for line in statement.block or ())
        elif word == "env" and not inside:
            lines = statement.block or ()
            result[word] = {v.name: v.text for line in lines for v in line.values}
        elif row.names:
            name = statement.values[1].text
            result.setdefault(word, {})[name] = _said(statement, row, reader)
        elif row.often == MANY:
            result.setdefault(word, []).append(_said(statement, row, reader))
        else:
            result[word] = _said(statement, row, reader)
    return result


def _package(line: Statement) -> tuple[str, Any]:
    row = words_in("packages")["NAME"]
    values = [v.text for v in line.values[1:]]
    found: dict[str, Any] = {}
    for lead in ("because", "from"):
        if len(values) >= 2 and values[-2] == lead:
            found[lead] = values.pop()
            values.pop()
    specifier = ",".join(part for v in values for part in v.split(",") if part)
    ordered = {"specifier": specifier, **dict(reversed(found.items()))} if specifier else found
    return line.keyword.text, _short(ordered, row, "specifier")


def _said(statement: Statement, row: Word, reader: Reader) -> Any:
    at = 2 if row.names else 1
    unstated = row.inside == "claims" and statement.values[at].text == UNSTATED
    fields = Fields(statement.span, {}) if unstated else reader.fields(statement, row)
    result: dict[str, Any] = {"value": UNSTATED} if unstated else {}
    if unstated and len(statement.values) > at + 2:
        result["because"] = statement.values[at + 2].text
    for param in row.params:
        if param.key in fields.values and not (row.names and param.key == "name"):
            result[param.key] = _plain(fields, param)
    if row.block and statement.block is not None:
        return {**result, **_object(statement.block, row.word, reader)}
    first = next((p for p in row.params if p.key != "name" or not row.names), None)
    if len(row.forms) > 1 or first is None:
        return result
    return _short(result, row, first.key)


def _short(found: dict[str, Any], row: Word, first: str) -> Any:
    """The first value alone, where that is all there is and nobody would miss its key."""
    return found[first] if list(found) == [first] and not row.block else found


def _plain(fields: Fields, param: Param) -> Any:
    values = fields.values[param.key]
    if param.kind == ASSIGNMENT:
        return {v.name: v.text for v in values}
    texts = [
        int(v.text) if param.shape in NUMBERS else v.text == "true"
        if param.shape is shapes.BOOLEAN
        else v.text
        for v in values
    ]  # fmt: skip
    return texts if param.many else texts[0]
