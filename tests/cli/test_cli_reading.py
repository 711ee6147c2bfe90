"""`envspec diff`, `tree`, `why` and `export` as a user runs them."""

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
OTHER = ROOT / "examples" / "x-transformers"


def envspec(home: Path, *argv: str, **more: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    return subprocess.run(
        [sys.executable, "-m", "envspec", *argv],
        cwd=home,
        env={**kept, "PYTHONPATH": str(ROOT), **more},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for path in EXAMPLE.iterdir():
        if path.is_file():
            shutil.copy(path, tmp_path)
    (tmp_path / "other").mkdir()
    for name in ("spec.env", "spec.lock"):
        shutil.copy(OTHER / name, tmp_path / "other")
    return tmp_path


# --- diff ---------------------------------------------------------------------------------


def test_a_lock_a_spec_and_a_folder_are_the_same_lock(home: Path) -> None:
    for one in ("spec.lock", "spec.env", "."):
        done = envspec(home, "diff", one, "spec.lock", "--exit-code")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.endswith("nothing changed\n")


def test_a_copy_of_a_lock_is_known_by_its_content(home: Path) -> None:
    shutil.copy(home / "spec.lock", home / "old.json")
    shutil.copy(home / "other" / "spec.lock", home / "spec.lock")
    done = envspec(home, "diff", "old.json", "other", "--format", "json")
    assert json.loads(done.stdout)["same"] is False


def test_the_exit_code_tells_where_it_is_asked_to(home: Path) -> None:
    assert envspec(home, "diff", "other", ".").returncode == 0
    done = envspec(home, "diff", "other", ".", "--exit-code")
    assert done.returncode == 1
    assert "By way of torch\n  ↑ torch 2.13.0+cpu → 2.14.1: CUDA none → 13.0" in done.stdout


def test_markdown_and_json(home: Path) -> None:
    done = envspec(home, "diff", "other", ".", "--format", "markdown")
    assert done.stdout.startswith("### Environment: `other` → `.`\n")
    data = json.loads(envspec(home, "diff", "other", ".", "--format", "json").stdout)
    assert (data["schema"], data["same"]) == (1, False)
    torch = next(g for g in data["groups"] if g["root"] == "torch")["changes"][0]
    assert (torch["kind"], torch["after"]["version"]) == ("upgraded", "2.14.1")


@pytest.fixture
def repository(home: Path) -> Path:
    """The two locks as two commits."""

    def git(*argv: str) -> None:
        identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
        subprocess.run(["git", *identity, *argv], cwd=home, check=True, capture_output=True)

    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "one")
    shutil.copy(home / "other" / "spec.lock", home / "spec.lock")
    git("commit", "-q", "-a", "-m", "two")
    return home


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_revision_is_read_from_git(repository: Path) -> None:
    for word in ("HEAD~1:spec.lock", "HEAD~1:spec.env", "HEAD~1:", "HEAD~1:./spec.lock"):
        done = envspec(repository, "diff", word, "spec.lock", "--format", "json")
        assert (done.returncode, done.stderr) == (0, ""), word
        assert json.loads(done.stdout)["same"] is False
    done = envspec(repository, "diff", "HEAD:other", "HEAD:spec.lock")
    assert "nothing changed" in done.stdout
    done = envspec(repository / "other", "diff", "HEAD:./spec.lock", "HEAD:spec.lock")
    assert "nothing changed" in done.stdout


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
@pytest.mark.parametrize(
    "word", ["HEAD:nothing", "nothing:spec.lock", ":spec.lock", "nothing", "--help:x", "HEAD:../.."]
)
def test_what_is_no_lock_is_a_finding(repository: Path, word: str) -> None:
    done = envspec(repository, "diff", "--", word, "spec.lock")
    assert done.returncode == 1
    assert "error[E0401]" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_broken_lock_is_a_finding(home: Path) -> None:
    (home / "bad.lock").write_bytes(b"\xff")
    (home / "worse.lock").write_text("{}")
    for name in ("bad.lock", "worse.lock"):
        done = envspec(home, "diff", name, "spec.lock", "--format", "json")
        assert done.returncode == 1
        assert json.loads(done.stdout)["diagnostics"][0]["code"] == "E0407"


# --- tree and why -------------------------------------------------------------------------


def test_a_tree_shows_every_package(home: Path) -> None:
    done = envspec(home, "tree")
    assert (done.returncode, done.stderr) == (0, "")
    packages = json.loads((home / "spec.lock").read_text(encoding="utf-8"))["packages"]
    for package in packages:
        assert f"─ {package['name']} {package['version']}" in done.stdout
    assert "─ torch 2.14.1 [framework] " in done.stdout


def test_the_depth_is_kept_to(home: Path) -> None:
    rows = json.loads(envspec(home, "tree", "--depth", "1", "--format", "json").stdout)["tree"]
    assert {row["depth"] for row in rows} == {0, 1}


def test_inverted_it_ends_at_the_spec(home: Path) -> None:
    done = envspec(home, "tree", "--invert", "NumPy")
    assert done.stdout.startswith("numpy 2.4.6")
    assert "└─ the spec\n" in done.stdout


def test_why_tells_chains_the_shortest_first(home: Path) -> None:
    done = envspec(home, "why", "spec.env", "fsspec")
    lines = done.stdout.splitlines()
    assert lines[:2] == ["fsspec 2026.6.0", "  the spec → datasets → fsspec"]
    lengths = [line.count("→") for line in lines[1:] if "→" in line]
    assert lengths == sorted(lengths)
    assert envspec(home, "why", "fsspec").stdout == done.stdout
    data = json.loads(envspec(home, "why", "fsspec", "--format", "json").stdout)
    assert data["chains"][0] == ["spec", "datasets", "fsspec"]


@pytest.mark.parametrize("argv", [("why", "nmupy"), ("tree", "--invert", "nmupy")])
def test_a_name_that_is_nowhere_gets_a_guess(home: Path, argv: tuple[str, ...]) -> None:
    done = envspec(home, *argv)
    assert done.returncode == 1
    assert "Did you mean `numpy`?" in done.stderr
    done = envspec(home, *argv, "--format", "json")
    assert done.returncode == 1
    assert "Did you mean `numpy`?" in json.loads(done.stdout)["error"]


@pytest.mark.parametrize("argv", [("tree",), ("why", "numpy"), ("export", "--format", "pylock")])
def test_without_a_fresh_lock_nothing_is_told(home: Path, argv: tuple[str, ...]) -> None:
    path = home / "spec.env"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("==2.14.1", "==2.14.0"), encoding="utf-8")
    done = envspec(home, *argv)
    assert (done.returncode, done.stdout) == (1, "")
    assert "error[E0402]" in done.stderr
    (home / "spec.lock").unlink()
    done = envspec(home, *argv)
    assert (done.returncode, done.stdout) == (1, "")
    assert "error[E0401]" in done.stderr


# --- export -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["pylock", "requirements", "cyclonedx"])
def test_an_export_is_the_same_bytes_anywhere(home: Path, kind: str) -> None:
    first = envspec(home, "export", "--format", kind)
    assert (first.returncode, first.stderr) == (0, "")
    name = f"{kind}.toml" if kind == "pylock" else f"{kind}.out"
    for seed in ("0", "1"):
        more = {"PYTHONHASHSEED": seed, "LC_ALL": "C", "TZ": "Asia/Kathmandu"}
        done = envspec(home, "export", "--format", kind, "-o", name, **more)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert (home / name).read_text(encoding="utf-8") == first.stdout


def test_the_requirements_are_those_of_compile(home: Path) -> None:
    done = envspec(home, "export", "--format", "requirements")
    assert envspec(home, "compile", "-q", "-o", "out").returncode == 0
    assert (home / "out" / "requirements.lock").read_text(encoding="utf-8") == done.stdout


def test_an_sbom_has_a_date_only_where_one_is_given(home: Path) -> None:
    argv = ("export", "--format", "cyclonedx")
    assert "timestamp" not in json.loads(envspec(home, *argv).stdout)["metadata"]
    dated = json.loads(envspec(home, *argv, SOURCE_DATE_EPOCH="86400").stdout)
    assert dated["metadata"]["timestamp"] == "1970-01-02T00:00:00Z"
    for wrong in ("x", "9" * 40):
        assert envspec(home, *argv, SOURCE_DATE_EPOCH=wrong).returncode == 2


def test_a_pylock_has_the_name_that_installers_read(home: Path) -> None:
    done = envspec(home, "export", "--format", "pylock", "-o", "lock.toml")
    assert done.returncode == 2
    assert not (home / "lock.toml").exists()
    done = envspec(home, "export", "--format", "pylock", "-o", "pylock.gpu.toml")
    assert done.returncode == 0
    text = (home / "pylock.gpu.toml").read_text(encoding="utf-8")
    assert 'path = "wheels/framework/torch-2.14.1' in text
