"""The published JSON Schema says of a report what the reader says of its shape."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from report_room import Made
from test_report_reader import get, kinds, put, refusal

from envspec.report import schema
from envspec.report.document import dumps

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = ROOT / "docs" / "report.schema.json"


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    return Draft202012Validator(json.loads(PUBLISHED.read_text()))


def test_what_is_published_is_what_the_table_says() -> None:
    """`python -m envspec.report.schema > docs/report.schema.json` writes it."""
    assert PUBLISHED.read_text() == schema.text()


def test_it_is_a_schema(validator: Draft202012Validator) -> None:
    Draft202012Validator.check_schema(validator.schema)


def test_every_report_is_valid(validator: Draft202012Validator, reports: dict[str, Made]) -> None:
    for made in reports.values():
        assert list(validator.iter_errors(json.loads(made.path.read_text()))) == []


def test_schema_and_reader_agree_on_every_place(validator: Draft202012Validator, bad: Made) -> None:
    """Another type in any place: what the schema refuses is refused, and what the reader calls
    malformed is no valid document either."""
    strange: tuple[Any, ...] = (None, True, 7, -7, 7.5, "words", [], {})
    for at in kinds(bad.report):
        for value in strange:
            if value == get(bad.report, at) and type(value) is type(get(bad.report, at)):
                continue
            changed = put(bad.report, at, value)
            error = refusal(dumps(changed))
            malformed = error is not None and error.diagnostics[0].code != "E0832"
            assert validator.is_valid(changed) != malformed, (at, value)


def test_every_field_is_described(validator: Draft202012Validator) -> None:
    def walk(node: dict[str, Any], path: str) -> None:
        assert node.get("description"), path
        for name, inner in node.get("properties", {}).items():
            walk(inner, f"{path}.{name}")
        if "items" in node:
            walk(node["items"], f"{path}[]")

    walk(dict(validator.schema), "$")


def test_a_field_that_is_gone_or_new(validator: Draft202012Validator, good: Made) -> None:
    for name in good.report:
        left = copy.deepcopy(good.report)
        del left[name]
        assert not validator.is_valid(left)
        assert not validator.is_valid({**good.report, f"{name}_": 1})
