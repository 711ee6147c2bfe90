"""What `envspec fmt` makes of a text, byte for byte."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from golden import compare, unclaimed

from envspec.language.layout import formatted
from envspec.source import SourceFile

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SHIPPED = sorted((ROOT / "examples").glob("*/spec.env"))
CASES = sorted((HERE / "fmt").glob("*.env"))


def read(path: Path) -> SourceFile:
    return SourceFile(path.name, path.read_bytes().decode("utf-8"))


@pytest.mark.parametrize("path", CASES, ids=lambda p: p.stem)
def test_layout(path: Path) -> None:
    text = formatted(read(path))
    compare(path.with_suffix(".out"), text)
    assert formatted(SourceFile(path.name, text)) == text


def test_nothing_is_left_over() -> None:
    assert unclaimed(HERE / "fmt", ".out", {p.stem for p in CASES}) == []
    assert len(CASES) > 8


def test_a_golden_file_has_the_layout_with_its_header() -> None:
    path = HERE / "fmt" / "comments.out"
    assert formatted(read(path)) == path.read_bytes().decode("utf-8")


def test_the_reference_is_written_in_the_layout() -> None:
    page = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) > 10
    for block in blocks:
        assert formatted(SourceFile("language.md", block)) == block


@pytest.mark.parametrize("path", SHIPPED, ids=lambda p: p.parent.name)
def test_the_examples_are_written_in_the_layout(path: Path) -> None:
    assert formatted(read(path)) == path.read_bytes().decode("utf-8"), "run `envspec fmt` on it"
