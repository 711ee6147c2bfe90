"""The rules against a public table of torch × CUDA × torchvision × torchaudio × Python.

Every row of `torch_oracle.txt` must pass all rules, and each row with one field moved out of range
must be refused with the code of that field. Where the table and a measurement disagree, the case is
listed below with what was measured, and the rules follow the measurement.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from envspec import rules
from envspec.diagnostics import ERROR
from envspec.language.parse import parse
from envspec.language.resolve import resolve
from envspec.source import SourceFile

ORACLE = Path(__file__).with_name("torch_oracle.txt")

# The driver below which no driver runs a CUDA release: astral-sh/uv crates/uv-torch/src/backend.rs.
BELOW_FLOOR = {"10.2": "418.39", "11": "440.33", "12": "520.61.05", "13": "575.57.08"}

# torch alone has wheels (cp311, cp313) for the next Python too, which PyTorch calls experimental:
# torch-1.13.1-cp311-cp311-manylinux1_x86_64 and so on, on the default index, read 2026-12-03. The
# table has no row for it, since torchvision 0.14 and 0.20 and torchaudio have no such wheels.
TORCH_ALONE = {"1.13.0": "3.11", "1.13.1": "3.11", "2.5.0": "3.13", "2.5.1": "3.13"}

# The first Python of a series by the tags of its wheels on the default index, read 2026-12-03; the
# table begins at 3.10 for all.
FIRST_PYTHON = {"2.9": "3.10", "2.5": "3.9", "2.0": "3.8", "1.11": "3.7"}

# PyTorch publishes cu129 beside its documented builds: the table has it for 2.8 and 2.11, and a
# later state of the table (commit 173033b) for 2.12.1, while PyTorch's own release matrix
# (pytorch/test-infra generate_binary_build_matrix.py) has it for 2.8 alone, and builds it for tests
# of 2.9 to 2.11. So no source says where it is not, and E0316 is never about it.
UNDECIDED = "cu129"


class Row(NamedTuple):
    """A row of the oracle; ``build`` is ``-`` for the default index, ``cuda`` for CPU builds."""

    torch: str
    build: str
    cuda: str
    vision: str
    audio: str
    pythons: tuple[str, ...]

    @property
    def series(self) -> str:
        return ".".join(self.torch.split(".")[:2])


def read() -> list[Row]:
    lines = ORACLE.read_text(encoding="utf-8").splitlines()
    fields = [line.split() for line in lines if line and not line.startswith("#")]
    return [Row(*words[:5], tuple(words[5].split(","))) for words in fields]


ROWS = read()
BUILDS = sorted({row.build for row in ROWS if row.build.startswith("cu")})


def spec(row: Row, python: str, *, driver: str = "", gpu: str = "", companions: bool = True) -> str:
    """A spec as a person would write it for a row."""
    local, source = (
        ("", "") if row.build == "-" else (f"+{row.build}", f" from pytorch-{row.build}")
    )
    accelerator = ""
    if row.cuda != "-":
        card = gpu or ("sm_70" if row.cuda == "10.2" else "sm_80")
        limit = f"  driver >={driver}\n" if driver else ""
        accelerator = f"accelerator cuda {row.cuda} {{\n{limit}  gpus {card}\n}}\n"
    beside = (
        f"  torchvision =={row.vision}{local}{source}\n  torchaudio =={row.audio}{local}{source}\n"
    )
    return (
        "envspec 1\n"
        f'project oracle {{\n  source archive "oracle-1.tar.gz" sha256 "{"a" * 64}"\n}}\n'
        f'platform linux/amd64 {{\n  base "python:{python}-slim-bookworm"\n  python {python}\n}}\n'
        f"{accelerator}"
        f"packages {{\n  torch =={row.torch}{local}{source}\n{beside * companions}}}\n"
    )


def errors(text: str) -> set[str]:
    source = SourceFile("spec.env", text)
    found = rules.check(resolve(parse(source), source), source)
    return {d.code for d in found if d.severity == ERROR}


def neighbours(row: Row) -> Iterator[Row]:
    """One row of the series before and one of the series after."""
    known = list(dict.fromkeys(r.series for r in ROWS))
    at = known.index(row.series)
    for series in known[max(0, at - 1) : at] + known[at + 1 : at + 2]:
        yield next(r for r in ROWS if r.series == series)


def first_python(row: Row) -> str:
    return next(py for since, py in FIRST_PYTHON.items() if numbers(since) <= numbers(row.series))


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def test_the_oracle_is_whole() -> None:
    assert len(ROWS) == 96
    assert len({(row.torch, row.build) for row in ROWS}) == 96
    assert BUILDS == [
        "cu102", "cu113", "cu116", "cu117", "cu118", "cu121", "cu124", "cu126", "cu128", "cu129",
        "cu130",
    ]  # fmt: skip


@pytest.mark.parametrize("release", dict.fromkeys(row.torch for row in ROWS))
def test_a_build_that_was_not_published_is_refused(release: str) -> None:
    same = [row for row in ROWS if row.torch == release]
    published = {row.build for row in same} | {f"cu{row.cuda.replace('.', '')}" for row in same}
    accepted = {}
    for build in sorted({*BUILDS, "cu132"} - published - {UNDECIDED}):
        moved = same[0]._replace(build=build, cuda=f"{build[2:4]}.{build[4]}")
        codes = errors(spec(moved, moved.pythons[0]))
        if "E0316" not in codes:
            accepted[build] = codes
    assert accepted == {}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.torch}+{row.build}")
class TestRow:
    def test_is_accepted_with_each_of_its_pythons(self, row: Row) -> None:
        assert {py: found for py in row.pythons if (found := errors(spec(row, py)))} == {}

    def test_a_python_out_of_range_is_refused(self, row: Row) -> None:
        above = f"3.{int(row.pythons[-1][2:]) + 1}"
        assert errors(spec(row, above)) == {"E0314"}
        alone = errors(spec(row, above, companions=False))
        assert alone == (set() if above == TORCH_ALONE.get(row.torch) else {"E0314"})
        series = tuple(map(int, row.series.split(".")))
        first = [
            py for start, py in FIRST_PYTHON.items() if tuple(map(int, start.split("."))) <= series
        ]
        below = int(first[-1][2:]) - 1
        if below >= 7:  # the language knows no older one
            assert errors(spec(row, f"3.{below}")) == {"E0314"}

    def test_companions_of_another_series_are_refused(self, row: Row) -> None:
        for other in neighbours(row):
            assert errors(spec(row._replace(vision=other.vision), row.pythons[0])) == {"E0318"}
            if other.audio != row.audio:
                assert errors(spec(row._replace(audio=other.audio), row.pythons[0])) == {"E0318"}

    def test_a_driver_below_the_floor_is_refused(self, row: Row) -> None:
        if row.cuda != "-":
            driver = BELOW_FLOOR.get(row.cuda) or BELOW_FLOOR[row.cuda.partition(".")[0]]
            assert errors(spec(row, row.pythons[0], driver=driver)) == {"E0311"}

    def test_a_gpu_without_code_is_refused(self, row: Row) -> None:
        if row.cuda != "-":
            # Blackwell code exists from CUDA 12.8 on, and such builds have dropped Pascal.
            gpu = "sm_120" if numbers(row.cuda) < (12, 8) else "sm_60"
            assert "E0313" in errors(spec(row, row.pythons[0], gpu=gpu))
