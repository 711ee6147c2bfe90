"""What is read at run time is what people edited."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from envspec.facts import compiled, tables
from envspec.facts.reader import Table, read_table

EDITED = list(tables.tables_as_edited())


class Sample(NamedTuple):
    name: str
    parts: tuple[str, ...] | None
    source: str
    as_of: str


TEXT = """source = "a/b c.py"
as_of = "2026-08-21"
review_days = 30
rows = [
{ name = "x", parts = ["1"] },
{ name = "y", source = "d/e f.py", as_of = "2026-09-01" },
]
"""


@pytest.fixture
def sample(tmp_path: Path) -> tuple[Path, Table]:
    """A table with its compiled form beside it."""
    path = tmp_path / "sample.toml"
    path.write_text(TEXT, encoding="utf-8")
    table = read_table(path, Sample)
    compiled.place(path).parent.mkdir()
    compiled.place(path).write_text(compiled.text_of(path, table), encoding="utf-8")
    return path, table


@pytest.mark.parametrize(("path", "table"), EDITED, ids=lambda value: getattr(value, "stem", ""))
def test_every_table_is_compiled_and_fresh(path: Path, table: Table) -> None:
    """`python -m envspec.facts.compiled` makes what is missing or old."""
    text = compiled.place(path).read_text(encoding="utf-8")
    assert text == compiled.text_of(path, table)
    kind = type(table.rows[0])
    assert compiled.read(path, kind) == table
    assert table in tables.tables()


def test_no_compiled_table_is_left_over() -> None:
    folder = compiled.place(EDITED[0][0]).parent
    assert {p.stem for p in folder.iterdir()} == {path.stem for path, _ in EDITED}


def test_the_same_comes_back(sample: tuple[Path, Table]) -> None:
    path, table = sample
    assert compiled.read(path, Sample) == table
    assert table.rows == (
        Sample("x", ("1",), "a/b c.py", "2026-08-21"),
        Sample("y", None, "d/e f.py", "2026-09-01"),
    )
    assert "null,null]" in compiled.place(path).read_text(encoding="utf-8")


def test_an_edit_holds_at_once(sample: tuple[Path, Table]) -> None:
    path, _ = sample
    path.write_text(TEXT.replace('"x"', '"z"'), encoding="utf-8")
    assert compiled.read(path, Sample) is None


def test_line_ends_are_no_edit(sample: tuple[Path, Table]) -> None:
    path, table = sample
    path.write_bytes(TEXT.replace("\n", "\r\n").encode())
    assert compiled.read(path, Sample) == table


def test_another_row_type_is_not_read(sample: tuple[Path, Table]) -> None:
    class Other(NamedTuple):
        name: str
        pieces: tuple[str, ...] | None
        source: str
        as_of: str

    assert compiled.read(sample[0], Other) is None


@pytest.mark.parametrize("content", [None, "", "[]", "{}", "{", '{"made_from": 1}'])
def test_what_cannot_be_read_is_passed_over(
    sample: tuple[Path, Table], content: str | None
) -> None:
    path, _ = sample
    if content is None:
        compiled.place(path).unlink()
    else:
        compiled.place(path).write_text(content, encoding="utf-8")
    assert compiled.read(path, Sample) is None


def test_the_compiled_form_holds_no_more_than_the_rows(sample: tuple[Path, Table]) -> None:
    data = json.loads(compiled.place(sample[0]).read_text(encoding="utf-8"))
    assert sorted(data) == [
        "as_of", "fields", "lists", "made_from", "review_days", "rows", "source",
    ]  # fmt: skip
