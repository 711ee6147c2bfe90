"""The JSON form says what the text says, and its schema knows it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import erase, specs

from envspec.diagnostics import DiagnosticError
from envspec.language.format import print_spec
from envspec.language.json_document import document
from envspec.language.json_form import parse_json
from envspec.language.json_schema import schema
from envspec.language.parse import parse
from envspec.language.resolve import resolve
from envspec.model import Spec
from envspec.source import SourceFile

EXAMPLES = int(os.environ.get("ENVSPEC_PROPERTY_EXAMPLES", "300"))
ROOT = Path(__file__).parents[2]
SCHEMA = jsonschema.Draft202012Validator(schema())


def as_json(spec: Spec) -> dict[str, object]:
    source = SourceFile("spec.env", print_spec(spec))
    return document(parse(source), source)


def read(text: str) -> Spec:
    source = SourceFile("spec.json", text)
    return erase(resolve(parse_json(source), source))


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(specs())
def test_a_spec_survives_its_json_form(spec: Spec) -> None:
    made = as_json(spec)
    assert read(json.dumps(made)) == spec
    assert read(json.dumps(made, indent=3, ensure_ascii=False)) == spec


@settings(max_examples=EXAMPLES // 3, deadline=None, suppress_health_check=list(HealthCheck))
@given(specs())
def test_the_schema_takes_every_spec(spec: Spec) -> None:
    assert [e.message for e in SCHEMA.iter_errors(as_json(spec))] == []


JSON_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-2, 1 << 40), st.floats(), st.text()),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
    max_leaves=6,
)


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(specs(), st.randoms(use_true_random=False), JSON_VALUES)
def test_only_findings_come_out(spec: Spec, random: object, value: object) -> None:
    """Whatever stands in place of a value, and each has a place."""
    made = as_json(spec)
    _replace(made, random, value)
    source = SourceFile("spec.json", json.dumps(made))
    try:
        resolve(parse_json(source), source)
    except DiagnosticError as error:
        for d in error.diagnostics:
            assert 0 <= d.span.start <= d.span.end <= len(source.text)


def _replace(node: Any, random: Random, value: object) -> None:
    while True:
        items = list(node.items() if isinstance(node, dict) else enumerate(node))
        if not items:
            return
        key, inner = random.choice(items)
        if not isinstance(inner, (dict, list)) or not inner or random.random() < 0.3:
            node[key] = value
            return
        node = inner


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*/spec.env")))
def test_examples(path: Path) -> None:
    source = SourceFile("spec.env", path.read_text(encoding="utf-8"))
    statements = parse(source)
    made = document(statements, source)
    assert SCHEMA.is_valid(made)
    assert read(json.dumps(made)) == erase(resolve(statements, source))
