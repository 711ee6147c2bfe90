"""Printing a model and reading it back gives the same model."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from strategies import SAMPLES, erase, specs

from envspec.language.format import print_spec
from envspec.language.parse import parse
from envspec.language.resolve import resolve
from envspec.model import Spec
from envspec.source import SourceFile

EXAMPLES = int(os.environ.get("ENVSPEC_PROPERTY_EXAMPLES", "500"))
ROOT = Path(__file__).parents[2]
SHIPPED = sorted((ROOT / "examples").glob("*/spec.env"))


def read(text: str) -> Spec:
    source = SourceFile("spec.env", text)
    return erase(resolve(parse(source), source))


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(specs())
def test_print_then_read_is_the_identity(spec: Spec) -> None:
    text = print_spec(spec)
    assert read(text) == spec
    assert read(text.replace("\n", "\r\n")) == spec
    assert print_spec(spec) == text


@pytest.mark.parametrize("path", SHIPPED, ids=lambda p: p.parent.name)
def test_printing_an_example_changes_nothing_but_its_looks(path: Path) -> None:
    spec = read(path.read_text(encoding="utf-8"))
    text = print_spec(spec)
    assert read(text) == spec
    assert print_spec(read(text)) == text


def test_canonical_text_quotes_only_what_needs_it_and_leaves_defaults_out() -> None:
    spec = read((ROOT / "examples/x-transformers/spec.env").read_text(encoding="utf-8"))
    lines = print_spec(spec).splitlines()
    assert "  python_path    /opt/env/bin/python" in lines
    assert "  torch              ==2.13.0+cpu from pytorch-cpu" in lines
    assert not any("processes" in line for line in lines)
    assert lines[-1] == "}"


def test_samples_have_their_shapes() -> None:
    assert [
        (shape, text) for shape, known in SAMPLES.items() for text in known if not shape.fits(text)
    ] == []
