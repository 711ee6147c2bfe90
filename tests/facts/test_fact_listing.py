"""`envspec facts`: what it prints at the width of a terminal, as JSON, and how it ends."""

from __future__ import annotations

import json
from datetime import date

import pytest
from click.testing import CliRunner, Result

from envspec.cli.facts import command
from envspec.facts import tables
from envspec.facts.reader import Table
from envspec.facts.rows import DriverFloor, JaxPlugin
from envspec.report import facts as report

NOW = date(2026, 12, 3)
UV, NVIDIA = "astral-sh/uv backend.rs", "NVIDIA CUDA compatibility guide, a page about drivers"
DRIVERS = Table(
    "cuda_driver",
    100,
    (
        DriverFloor("13", "580", "580", True, "the Windows number is in uv only", UV, "2026-11-23"),
        DriverFloor("12", "525.60.13", None, True, None, NVIDIA, "2026-08-21"),
    ),
)
JAX = Table(
    "jax",
    100,
    (
        JaxPlugin(
            "cuda13", ("cuda13", "cuda13-local"), "580", "13.0", "9.8", "10", "0.9.2", None, "7.5",
            "JAX 0.12 needs Python 3.12", "jax-ml/jax docs/installation.md", "2026-08-21",
        ),
    ),
)  # fmt: skip
LISTING = report.listing((DRIVERS, JAX), NOW, stale=False)


def run(*words: str, day: str | None = "1796256000") -> Result:
    return CliRunner(env={"SOURCE_DATE_EPOCH": day}).invoke(command, words)


def test_overview_fits_80_columns() -> None:
    text = report.overview(LISTING, 80, colour=False)
    assert text.splitlines() == [
        "table        rows  oldest        age  due  source",
        "cuda_driver     2  2026-08-21  104 d    1  astral-sh/uv backend.rs",
        "jax             1  2026-08-21  104 d    1  jax-ml/jax docs/installation.md",
        "",
        "`envspec facts TABLE [KEY…]` prints rows, `--stale` those due for review.",
    ]


def test_rows_stand_side_by_side_with_notes_and_sources_below() -> None:
    text = report.rows(report.listing((DRIVERS,), NOW, stale=False), 60, colour=False)
    assert text.splitlines() == [
        "cuda  linux      windows  minor compatible  source",
        "13    580        580      yes               [1]",
        "12    525.60.13           yes               [2]",
        "",
        "13: the Windows number is in uv only",
        "",
        "[1] astral-sh/uv backend.rs (as of 2026-11-23, 10 days ago)",
        "[2] NVIDIA CUDA compatibility guide, a page about drivers",
        "    (as of 2026-08-21, 104 days ago)",
    ]


def test_what_does_not_fit_is_named() -> None:
    text = report.rows(report.listing((DRIVERS,), NOW, stale=False), 30, colour=False)
    assert text.splitlines()[0] == "cuda  linux      source"
    assert "Left out for width: windows,\nminor compatible." in text
    assert "`envspec\nfacts cuda_driver CUDA`" in text


def test_one_row_says_all_it_knows() -> None:
    text = report.rows(report.listing((JAX,), NOW, stale=False), 50, colour=False)
    assert text.splitlines() == [
        "jax cuda13",
        "  extras       cuda13 cuda13-local",
        "  driver       580",
        "  cuda         13.0",
        "  cudnn min    9.8",
        "  cudnn below  10",
        "  cudnn since  0.9.2",
        "  sm min       7.5",
        "  note         JAX 0.12 needs Python 3.12",
        "  source       jax-ml/jax docs/installation.md",
        "  as of        2026-08-21, 104 days ago, due for",
        "               review after 100 days",
    ]


@pytest.mark.parametrize("width", [80, 120])
def test_no_line_of_any_table_is_wider_than_the_terminal(width: int) -> None:
    document = report.listing(tables.tables(), NOW, stale=False)
    drawn = [report.overview(document, width, colour=False)]
    drawn += [
        report.rows({**document, "tables": [table]}, width, colour=False)
        for table in document["tables"]
    ]
    for text in drawn:
        assert [line for line in text.splitlines() if len(line) > width] == []


def test_colour_changes_no_text() -> None:
    for draw in (report.overview, report.rows):
        plain, coloured = (draw(LISTING, 80, colour=colour) for colour in (False, True))
        assert coloured != plain
        for code in ("\x1b[1m", "\x1b[2m", "\x1b[33m", "\x1b[0m"):
            coloured = coloured.replace(code, "")
        assert coloured == plain


def test_rows_that_are_due() -> None:
    text = report.stale(report.listing((DRIVERS, JAX), NOW, stale=True), colour=False)
    assert text.splitlines() == [
        "table        row     as of         age  review after",
        "cuda_driver  12      2026-08-21  104 d         100 d",
        "jax          cuda13  2026-08-21  104 d         100 d",
    ]
    none = report.stale(report.listing((DRIVERS,), date(2026, 9, 1), stale=True), colour=False)
    assert none == "no fact is due for review on 2026-09-01"


def test_json_has_every_field_source_and_day() -> None:
    document = json.loads(run("--format", "json").stdout)
    assert (document["schema"], document["today"]) == (1, "2026-12-03")
    assert [t["name"] for t in document["tables"]] == sorted(t.name for t in tables.tables())
    by_name = {table.name: table for table in tables.tables()}
    for entry in document["tables"]:
        table = by_name[entry["name"]]
        assert entry["review_days"] == table.review_days
        assert entry["key"] == list(table.rows[0]._fields[: tables.keys(table.name)])
        assert len(entry["rows"]) == len(table.rows)
        for drawn, row in zip(entry["rows"], table.rows, strict=True):
            assert list(drawn) == [*row._fields, "age_days", "due"]
            assert drawn["source"] == row.source
            assert drawn["age_days"] == (NOW - date.fromisoformat(row.as_of)).days


def test_stale_ends_with_1_where_something_is_due() -> None:
    assert run("--stale").exit_code == 0
    later = run("--stale", "cuda_driver", day="1900000000")
    assert later.exit_code == 1
    assert later.stdout.splitlines()[1].startswith("cuda_driver  13 ")
    document = json.loads(run("--stale", "torch", "--format", "json", day="1900000000").stdout)
    assert all(row["due"] for row in document["tables"][0]["rows"])
    fresh = run("--stale", "--format", "json")
    assert fresh.exit_code == 0
    assert not any(table["rows"] for table in json.loads(fresh.stdout)["tables"])


def test_a_key_chooses_rows() -> None:
    document = json.loads(run("torch", "2.7.1", "cu126", "--format", "json").stdout)
    (row,) = document["tables"][0]["rows"]
    assert (row["release"], row["build"], row["cudnn"]) == ("2.7.1", "cu126", "9.5.1.17")
    assert "cudnn          9.5.1.17" in run("torch", "2.7.1").stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("torhc",), "There is no table `torhc`. Did you mean `torch`?"),
        (("nothing-like-it",), "There is no table `nothing-like-it`."),
        (("torch", "2.77"), "No row of `torch` has release `2.77`. Did you mean `2.7`?"),
        (("torch", "2.7", "cu1288"), "No row of `torch` has build `cu1288`. Did you mean `cu128`?"),
        (("jax", "cuda12", "x"), "Rows of `jax` are named by plugin, and nothing more."),
    ],
)
def test_names_that_are_not_there(words: tuple[str, ...], said: str) -> None:
    result = run(*words)
    assert result.exit_code == 2
    assert f"Error: {said}\n" in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("day", ["", "x", "1" * 40, "-5"])
def test_a_day_that_is_none_is_passed_over(day: str) -> None:
    assert json.loads(run("jax", "--format", "json", day=day).stdout)["today"] >= "2026-12-03"
