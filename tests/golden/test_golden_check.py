"""What a person sees of each kind of finding, word for word."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import lark
import pytest
from draw import drawing
from golden import compare, unclaimed
from interpreters import interpreters

HERE = Path(__file__).parent
CASES = sorted((HERE / "check").glob("*.env"))


@pytest.mark.parametrize("path", CASES, ids=lambda p: p.stem)
def test_drawing(path: Path) -> None:
    compare(path.with_suffix(".txt"), drawing(path))


def test_nothing_is_left_over() -> None:
    assert unclaimed(HERE / "check", ".txt", {p.stem for p in CASES}) == []


@pytest.mark.parametrize("seed", ["0", "1", "2"])
def test_drawing_is_the_same_whatever_the_hash_seed(seed: str) -> None:
    done = subprocess.run(
        [sys.executable, HERE / "draw.py", HERE / "check"],
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        timeout=120,
        check=True,
    )
    assert done.stdout.decode("utf-8") == "".join(f"{p.stem}\n{drawing(p)}" for p in CASES)


@pytest.mark.parametrize("version", ["3.10", "3.11", "3.12", "3.13", "3.14"])
def test_drawing_is_the_same_on_every_python(version: str, tmp_path: Path) -> None:
    """Runs on the interpreters that this machine has; lark is one of plain Python."""
    python = next(interpreters(version), None)
    if python is None:
        pytest.skip(f"there is no Python {version} here")
    (tmp_path / "lark").symlink_to(Path(lark.__file__).parent)
    done = subprocess.run(
        [python, HERE / "draw.py", HERE / "check"],
        env={**os.environ, "PYTHONPATH": f"{HERE.parents[1]}:{tmp_path}", "PYTHONUTF8": "1"},
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.stderr.decode() == ""
    assert done.stdout.decode("utf-8") == "".join(f"{p.stem}\n{drawing(p)}" for p in CASES)


def test_a_golden_file_that_differs_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "case.txt"
    monkeypatch.setenv("ENVSPEC_REGENERATE", "1")
    compare(path, "one\n")
    monkeypatch.delenv("ENVSPEC_REGENERATE")
    compare(path, "one\n")
    with pytest.raises(AssertionError, match=r"(?s)differs.*-one.*\+two"):
        compare(path, "two\n")
    with pytest.raises(AssertionError, match="missing"):
        compare(tmp_path / "other.txt", "")
    assert unclaimed(tmp_path, ".txt", set()) == ["case.txt"]
