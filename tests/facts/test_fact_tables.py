"""Every row has a birth certificate, and a broken table is refused with its place named."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import NamedTuple

import pytest

from envspec.facts import rows as kinds
from envspec.facts import tables
from envspec.facts.nixpkgs import nixpkgs
from envspec.facts.reader import FactTableError, Table, read_table

FOLDER = Path(tables.__file__).parent
TODAY = date(2026, 12, 3)


class Sample(NamedTuple):
    name: str
    parts: tuple[str, ...]
    size: int
    good: bool
    note: str | None
    source: str
    as_of: str


HEAD = 'source = "a/b c.py"\nas_of = "2026-08-21"\nreview_days = 30\n'
ROW = '{ name = "x", parts = ["1"], size = 2, good = true }'


def sample(tmp_path: Path, row: str = ROW, head: str = HEAD) -> Table:
    path = tmp_path / "sample.toml"
    path.write_text(f"{head}rows = [\n{row},\n]\n", encoding="utf-8")
    return read_table(path, Sample)


@pytest.mark.parametrize("table", tables.tables(), ids=lambda table: table.name)
def test_every_row_says_where_and_when(table: Table) -> None:
    for row in table.rows:
        assert len(row.source) > 5
        assert "://" not in row.source
        assert date(2025, 1, 1) < date.fromisoformat(row.as_of) <= TODAY
    assert 30 <= table.review_days <= 366


def test_every_file_is_a_table() -> None:
    files = {p.stem for p in FOLDER.iterdir() if p.suffix in {".toml", ".json"}}
    assert files == {table.name for table in tables.tables()}


def test_fields_that_are_versions_are_versions() -> None:
    for table in tables.tables():
        for row in table.rows:
            for field in ("linux", "toolkit", "cuda", "glibc", "gcc", "cudnn", "nccl", "triton"):
                value = getattr(row, field, None)
                assert value is None or re.fullmatch(r"\d+(\.\d+)*", value), (table.name, row)


def test_words_with_a_fixed_set_of_values() -> None:
    assert {row.relation for row in tables.rows(kinds.TorchPairing)} == {
        "series", "exact", "at_least",
    }  # fmt: skip
    assert {row.distribution for row in tables.rows(kinds.Extension)} == {"wheel", "sdist", "git"}
    assert {row.fits for row in tables.rows(kinds.ExtensionWheel)} == {"major", "exact"}
    assert {row.libc for row in tables.rows(kinds.Distribution)} == {"glibc", "musl"}
    assert {row.kind for row in tables.rows(kinds.CudaImageRule)} == {
        "version", "flavour", "cudnn", "distro",
    }  # fmt: skip
    assert {row.verified for row in tables.rows(kinds.Distribution)} <= {
        "measured", "package pages", "vendor documentation", "secondary",
    }  # fmt: skip


def test_one_default_build_at_most_for_a_torch_release_and_machine() -> None:
    defaults = [(r.release, r.machine) for r in tables.rows(kinds.TorchBuild) if r.default]
    assert len(defaults) == len(set(defaults))


def test_every_import_leads_somewhere_and_names_are_normalised() -> None:
    for row in tables.rows(kinds.ImportName):
        assert bool(row.distributions) != bool(row.repository), row
        for name in row.distributions:
            assert name == re.sub(r"[-_.]+", "-", name).lower()


def test_nixpkgs_pin_has_the_shape_of_a_flake_lock() -> None:
    pin = nixpkgs()
    assert (pin.owner, pin.repo) == ("NixOS", "nixpkgs")
    assert re.fullmatch(r"[0-9a-f]{40}", pin.rev)
    assert re.fullmatch(r"sha256-[A-Za-z0-9+/]{43}=", pin.nar_hash)
    assert date.fromtimestamp(pin.last_modified) >= date(2026, 1, 1)
    assert re.fullmatch(r"nixos-\d\d\.\d\d", pin.ref)


def test_head_fills_in_and_a_row_may_differ(tmp_path: Path) -> None:
    other = ROW.replace('"x"', '"y"').replace("}", ', source = "d/e", as_of = "2026-09-01" }')
    table = sample(tmp_path, f"{ROW},\n{other}")
    assert table == (
        "sample",
        30,
        (
            Sample("x", ("1",), 2, True, None, "a/b c.py", "2026-08-21"),
            Sample("y", ("1",), 2, True, None, "d/e", "2026-09-01"),
        ),
    )


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (ROW.replace("}", ', colour = "red" }'), "row 1: unknown keys ['colour']"),
        (ROW.replace("size = 2, ", ""), "row 1: size is missing"),
        (ROW.replace("size = 2", 'size = "2"'), "row 1: size must be int, found '2'"),
        (ROW.replace("size = 2", "size = true"), "row 1: size must be int, found True"),
        (ROW.replace("good = true", "good = 1"), "row 1: good must be bool, found 1"),
        (ROW.replace('["1"]', "[1]"), "row 1: parts must be tuple[str, ...], found [1]"),
        (ROW.replace('["1"]', '"1"'), "row 1: parts must be tuple[str, ...], found '1'"),
        (ROW.replace('"x"', '""'), "row 1: name must be str, found ''"),
        (ROW.replace("}", ', note = "" }'), "row 1: note must be str | None, found ''"),
        (ROW.replace("}", ', as_of = "2026-13-01" }'), "as_of must be a day"),
        (ROW.replace("}", ', as_of = "20260221" }'), "as_of must be a day"),
        (ROW.replace("}", ', as_of = "2026-2-21" }'), "as_of must be a day"),
        (ROW.replace("}", ', as_of = "2026-08-aa" }'), "as_of must be a day"),
        (f"{ROW},\n{ROW}", "row 2: ('x',) is there twice"),
        ('"x"', "row 1: not a table"),
        ("{", "sample.toml: not readable as toml"),
    ],
)
def test_a_wrong_row_is_refused(tmp_path: Path, row: str, message: str) -> None:
    with pytest.raises(FactTableError) as caught:
        sample(tmp_path, row)
    assert message in str(caught.value)
    assert str(tmp_path) not in str(caught.value)


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (HEAD + 'licence = "x"\n', "unknown keys ['licence']"),
        (HEAD.replace("review_days = 30", ""), "review_days must be a positive number"),
        (HEAD.replace("30", "0"), "review_days must be a positive number"),
        (HEAD.replace('source = "a/b c.py"', ""), "source is missing"),
        (HEAD.replace('as_of = "2026-08-21"', ""), "as_of is missing"),
        (HEAD.replace('"2026-08-21"', "2026-08-21"), "as_of must be str"),
    ],
)
def test_a_wrong_head_is_refused(tmp_path: Path, head: str, message: str) -> None:
    with pytest.raises(FactTableError) as caught:
        sample(tmp_path, head=head)
    assert message in str(caught.value)


@pytest.mark.parametrize("content", ["[]", '{"review_days": 3}', '{"review_days": 3, "rows": []}'])
def test_a_json_table_is_checked_the_same_way(tmp_path: Path, content: str) -> None:
    path = tmp_path / "sample.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(FactTableError):
        read_table(path, Sample)


def test_staleness_counts_days_from_the_row() -> None:
    newest = max(row.as_of for table in tables.tables() for row in table.rows)
    oldest = min(date.fromisoformat(r.as_of) for t in tables.tables() for r in t.rows)
    assert tables.stale(oldest) == []
    later = date(2030, 1, 1)
    found = tables.stale(later)
    assert len(found) == sum(len(table.rows) for table in tables.tables())
    assert found == sorted(found)
    first = next(row for row in found if row.table == "nixpkgs")
    assert first.key == ("NixOS", "nixpkgs")
    assert tables.stale(later, {"nixpkgs"}) == [first]
    assert tables.stale(later, set()) == []
    assert first.age_days == (later - date.fromisoformat(first.as_of)).days
    assert newest <= TODAY.isoformat()


def test_a_row_is_due_only_after_its_last_day() -> None:
    pin = nixpkgs()
    review = next(t.review_days for t in tables.tables() if t.name == "nixpkgs")
    last = date.fromisoformat(pin.as_of).toordinal() + review
    assert not [s for s in tables.stale(date.fromordinal(last)) if s.table == "nixpkgs"]
    assert [s for s in tables.stale(date.fromordinal(last + 1)) if s.table == "nixpkgs"]


def test_tables_are_read_lazily_and_once() -> None:
    assert tables.rows(kinds.Arch) is tables.rows(kinds.Arch)
    code = (
        "import sys, json; from envspec.facts.nixpkgs import nixpkgs\n"
        "pin = nixpkgs(); before = 'envspec.facts.rows' in sys.modules\n"
        "import envspec.facts.lookup as l; l.driver_floor('12.8'); l.torch_build('2.7.1')\n"
        "slow = {'tomllib', 'tomli', 'datetime', 'packaging', 'requests', 'rich', 'docker'}\n"
        "print(json.dumps([pin.rev, before, sorted(slow & set(sys.modules))]))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(run.stdout) == [nixpkgs().rev, False, []]
