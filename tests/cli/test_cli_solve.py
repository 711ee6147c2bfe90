"""`envspec solve` and `envspec explain` as a user runs them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "vision-mamba"
OPEN = """# a comment that stays
envspec 1

project demo {
  source path "."
}

platform linux/amd64 {
  base   "python:3.11-slim-bookworm"
  python 3.11
}

accelerator cuda {
  driver >=535.54.03
  gpus   sm_80 sm_90
}

packages {
  torch       because "everything stands on it"
  torchvision
}
"""


def envspec(home: Path, *argv: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "envspec", *argv],
        cwd=home,
        env={**os.environ, "PYTHONPATH": str(ROOT), **more},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def write(home: Path, text: str = OPEN) -> Path:
    path = home / "spec.env"
    path.write_text(text, encoding="utf-8")
    return path


def test_it_says_why_and_writes_nothing(tmp_path: Path) -> None:
    path = write(tmp_path)
    done = envspec(tmp_path, "solve")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("spec.env: CUDA 12.6 with torch 2.14.1+cu126\n\nWhy it fits\n")
    assert "  driver >=535.54.03 runs CUDA 12.x, whose floor is 525.60.13 [1]\n" in done.stdout
    assert "\nLeft open by the spec: toolkit, torch, torchvision\n" in done.stdout
    assert "\nFacts\n  [1] " in done.stdout
    assert all(len(line) <= 100 for line in done.stdout.splitlines())
    assert path.read_text(encoding="utf-8") == OPEN


def test_diff_and_write_say_the_same(tmp_path: Path) -> None:
    path = write(tmp_path)
    path.chmod(0o640)
    done = envspec(tmp_path, "solve", "--diff")
    assert done.returncode == 0
    added = [line[1:] for line in done.stdout.splitlines()[2:] if line.startswith("+")]
    assert path.read_text(encoding="utf-8") == OPEN
    done = envspec(tmp_path, "solve", "--write")
    assert done.returncode == 0
    assert done.stdout.endswith("\nspec.env: written\n")
    lines = path.read_text(encoding="utf-8").splitlines()
    assert all(line in lines for line in added)
    assert len(added) == 3
    assert "# a comment that stays" in lines
    assert path.stat().st_mode & 0o777 == 0o640
    assert [p.name for p in tmp_path.iterdir()] == ["spec.env"]
    done = envspec(tmp_path, "solve", "--write")
    assert "The spec leaves nothing open" in done.stdout
    assert done.stdout.endswith("\nspec.env: nothing to write\n")
    assert path.read_text(encoding="utf-8").splitlines() == lines


def test_a_read_only_spec_is_left_alone(tmp_path: Path) -> None:
    path = write(tmp_path)
    path.chmod(0o444)
    done = envspec(tmp_path, "solve", "--write")
    assert done.returncode == 1
    assert "error[E0603]" in done.stderr
    assert path.read_text(encoding="utf-8") == OPEN


def test_a_conflict_names_its_statements(tmp_path: Path) -> None:
    path = write(tmp_path, OPEN.replace("sm_80 sm_90", "sm_60 sm_120"))
    done = envspec(tmp_path, "solve", "--write")
    assert done.returncode == 1
    assert done.stdout == ""
    assert "error[E0353]" in done.stderr
    assert "`gpus sm_60` and `gpus sm_120`" in done.stderr
    assert path.read_text(encoding="utf-8").count("torch ") == 1


def test_json_has_one_form(tmp_path: Path) -> None:
    write(tmp_path)
    done = envspec(tmp_path, "solve", "--format", "json")
    data = json.loads(done.stdout)
    assert (done.returncode, data["schema"], data["solved"]) == (0, 1, True)
    assert data["torch"] == {"version": "2.14.1", "build": "cu126"}
    assert data["open"] == ["toolkit", "torch", "torchvision"]
    assert [e["line"] for e in data["fix"]["edits"]] == [13, 19, 20]
    assert {"text", "source", "as_of", "known"} == set(data["chain"][0])
    write(tmp_path, OPEN.replace("sm_80 sm_90", "sm_60 sm_120"))
    done = envspec(tmp_path, "solve", "--format", "json")
    data = json.loads(done.stdout)
    assert (done.returncode, data["schema"], data["solved"]) == (1, 1, False)
    assert [d["code"] for d in data["diagnostics"]] == ["E0353"]


def test_what_makes_no_sense_together_is_refused(tmp_path: Path) -> None:
    write(tmp_path)
    assert envspec(tmp_path, "solve", "--diff", "--format", "json").returncode == 2


def test_a_spec_that_cannot_be_read_is_a_finding(tmp_path: Path) -> None:
    write(tmp_path, OPEN.replace("packages", "pakages"))
    done = envspec(tmp_path, "solve")
    assert done.returncode == 1
    assert "did you mean `packages`" in done.stderr.lower()


def test_without_an_accelerator_there_is_nothing_to_solve(tmp_path: Path) -> None:
    block = OPEN[OPEN.index("accelerator") : OPEN.index("packages")]
    write(tmp_path, OPEN.replace(block, ""))
    done = envspec(tmp_path, "solve")
    assert (done.returncode, done.stdout) == (
        0,
        "spec.env: no CUDA accelerator, and nothing to solve\n",
    )


def test_the_hash_seed_changes_nothing(tmp_path: Path) -> None:
    write(tmp_path)
    texts = {envspec(tmp_path, "solve", PYTHONHASHSEED=seed).stdout for seed in "012"}
    assert len(texts) == 1
    write(tmp_path, OPEN.replace("sm_80 sm_90", "sm_60 sm_120"))
    texts = {envspec(tmp_path, "solve", PYTHONHASHSEED=seed).stderr for seed in "012"}
    assert len(texts) == 1


# --- explain ------------------------------------------------------------------------------


@pytest.fixture
def example(tmp_path: Path) -> Path:
    for name in ("spec.env", "spec.lock"):
        shutil.copy(EXAMPLE / name, tmp_path)
    return tmp_path


def test_a_pin_is_explained_up_to_the_driver(example: Path) -> None:
    done = envspec(example, "explain", "spec.env", "torch")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("torch 2.14.1\n  the spec asks for `torch ==2.14.1` [1]\n")
    assert "driver >=580.65.06 runs CUDA 13.x, whose floor is 580" in done.stdout


def test_everything_is_explained(example: Path) -> None:
    done = envspec(example, "explain")
    packages = json.loads((example / "spec.lock").read_text(encoding="utf-8"))["packages"]
    for package in packages:
        assert f"\n{package['name']} {package['version']}\n" in done.stdout


def test_a_name_that_is_nowhere_gets_a_guess(example: Path) -> None:
    done = envspec(example, "explain", "spec.env", "torchvison")
    assert done.returncode == 1
    assert "Did you mean `torchvision`?" in done.stderr
    done = envspec(example, "explain", "spec.env", "torchvison", "--format", "json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["explained"] == []


def test_a_stale_lock_explains_nothing(example: Path) -> None:
    path = example / "spec.env"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("torch       ==2.14.1", "torch       ==2.14.0"), encoding="utf-8")
    done = envspec(example, "explain", "spec.env", "torch")
    assert done.returncode == 0
    assert "warning[E0402]" in done.stderr
    assert done.stdout.startswith("torch 2.14.0\n")
    assert "the file is" not in done.stdout


def test_explanations_as_data(example: Path) -> None:
    done = envspec(example, "explain", "spec.env", "numpy", "--format", "json")
    (numpy,) = json.loads(done.stdout)["explained"]
    assert numpy["name"] == "numpy"
    assert any("← the spec" in link["text"] for link in numpy["chain"])
