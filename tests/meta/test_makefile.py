"""The two commands of the README, and the scripts that CI starts from."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAKEFILE = ROOT / "Makefile"
SCRIPTS = (ROOT / ".ci" / "engine", ROOT / ".ci" / "run")


def run(
    *argv: str | Path, cwd: Path = ROOT, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run to the end, with a plain environment: make passes its own flags to its children."""
    inherited = {
        k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS", "PYTEST"))
    }
    return subprocess.run(
        [str(word) for word in argv],
        cwd=cwd,
        env=inherited | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def script(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder with the Makefile alone, and `path`, where a test puts the programs it wants."""
    shutil.copy(MAKEFILE, tmp_path)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "path").mkdir()
    for name in ("sh", "make", "awk", "rm", "touch"):
        found = shutil.which(name)
        assert found is not None
        (tmp_path / "path" / name).symlink_to(found)
    return tmp_path


def make_venv(clone: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run("make", ".venv/bin/python", *arguments, cwd=clone, PATH=str(clone / "path"))


def test_plain_make_lists_every_public_target() -> None:
    listed = run("make").stdout
    phony = re.search(r"^\.PHONY: (.+)$", MAKEFILE.read_text(), re.MULTILINE)
    assert phony is not None
    for target in phony[1].split():
        assert f"make {target} " in listed


def test_demo_verifies_the_example() -> None:
    assert run("make", "-n", "demo").stdout.endswith(
        ".venv/bin/envspec verify examples/x-transformers/spec.env\n"
    )


def test_test_checks_style_and_types_and_leaves_heavy_tests_out() -> None:
    planned = run("make", "-n", "test").stdout
    steps = ["ruff check .", "ruff format --check .", "bin/mypy", '-m pytest -m "not heavy"']
    places = [planned.find(step) for step in steps]
    assert -1 not in places
    assert places == sorted(places)


def test_a_failing_step_fails_make(clone: Path) -> None:
    (clone / ".venv" / "bin").mkdir(parents=True)
    for name in ("python", "ruff", "mypy"):
        script(clone / ".venv" / "bin" / name, f"[ {name} != mypy ]")
    (clone / ".venv" / "test-tools").touch()
    done = run("make", "test", cwd=clone)
    assert done.returncode == 2
    assert "pytest" not in done.stdout


def test_an_interpreter_that_does_not_answer_is_passed_over(clone: Path) -> None:
    script(
        clone / "path" / "python3.13", 'echo "shim: python3.13: command not found" >&2; exit 127'
    )
    script(clone / "path" / "python3", f'exec "{sys.executable}" "$@"')
    done = make_venv(clone)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "python3 -m venv --clear .venv\n"
    assert done.stderr == ""
    assert run(clone / ".venv/bin/python", "-c", "import pip").returncode == 0


def test_an_interpreter_without_venv_names_the_debian_package(clone: Path) -> None:
    lame = f'case "$*" in *ensurepip*) exit 1 ;; esac; exec "{sys.executable}" "$@"'
    script(clone / "path" / "python3", lame)
    done = make_venv(clone)
    assert done.returncode == 2
    assert (
        "python3 has no venv module; on Debian and Ubuntu: apt install python3-venv" in done.stderr
    )
    assert not (clone / ".venv").exists()


def test_no_python_at_all_says_what_to_do(clone: Path) -> None:
    script(clone / "path" / "python3", "exit 1")
    done = make_venv(clone, "PYTHON=/no/such/python")
    assert done.returncode == 2
    assert "no Python 3.10 or newer answers" in done.stderr


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_scripts_are_executable_bash(path: Path) -> None:
    assert path.stat().st_mode & stat.S_IXUSR
    assert run("bash", "-n", path).returncode == 0


def test_ci_runs_make_test_as_the_readme_says_and_wants_an_engine() -> None:
    text = SCRIPTS[1].read_text()
    assert re.search(r"^make test$", text, re.MULTILINE)
    assert "ENVSPEC_REQUIRE_ENGINE=1" in text


def test_engine_without_a_verb_explains_itself() -> None:
    done = run(SCRIPTS[0])
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith("engine up|down\n")


def test_engine_that_cannot_start_makes_eval_fail() -> None:
    done = run(SCRIPTS[0], "up", ENVSPEC_ENGINE_HOME="relative")
    assert (done.returncode, done.stdout) == (1, "false\n")


def test_engine_down_leaves_a_process_of_another_alone(tmp_path: Path) -> None:
    """A pid file outlives its daemon, and the kernel gives the number to someone else."""
    with subprocess.Popen(["sleep", "60"]) as stranger:
        try:
            (tmp_path / "dockerd.pid").write_text(str(stranger.pid))
            done = run(SCRIPTS[0], "down", ENVSPEC_ENGINE_HOME=str(tmp_path))
            assert (done.returncode, done.stderr) == (0, "engine: not running\n")
            assert stranger.poll() is None
        finally:
            stranger.kill()
