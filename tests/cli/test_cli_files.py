"""The command on real files: specs that cannot be read, locks, scripts and output folders."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "x-transformers"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A copy of an example, lock included."""
    home = tmp_path / "home"
    shutil.copytree(EXAMPLE, home)
    return home


def envspec(home: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "envspec", *argv],
        cwd=home,
        env={**os.environ, "PYTHONPATH": str(ROOT), "ENVSPEC_CACHE": str(home / "cache")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def findings(home: Path, *argv: str) -> list[dict[str, Any]]:
    """What a command that fails says, as data; its text says the same."""
    done = envspec(home, *argv, "--format", "json")
    assert done.returncode == 1, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)["diagnostics"]
    text = envspec(home, *argv)
    assert text.returncode == 1
    assert all(f"{d['severity']}[{d['code']}]: " in text.stderr for d in found)
    assert "Traceback" not in text.stderr
    return found


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_check_of_a_good_spec(home: Path) -> None:
    done = envspec(home, "check")
    assert (done.returncode, done.stdout) == (0, "spec.env: no errors\n")
    assert json.loads(envspec(home, "check", "--format", "json").stdout) == {
        "schema": 1,
        "diagnostics": [],
    }


def test_e0902_a_spec_that_cannot_be_read(home: Path) -> None:
    (found,) = findings(home, "check", "nowhere.env")
    assert found["code"] == "E0902"
    assert "no such file" in found["title"]
    (home / "latin.env").write_bytes(b"envspec 1 # caf\xe9\n")
    (found,) = findings(home, "check", "latin.env")
    assert (found["code"], found["title"]) == ("E0902", "the spec is not UTF-8 at byte 15")


def test_a_folder_is_no_spec(home: Path) -> None:
    done = envspec(home, "check", ".")
    assert done.returncode in {1, 2}
    assert "directory" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_huge_file_is_refused_without_reading_all_of_it(home: Path) -> None:
    with (home / "huge.env").open("wb") as stream:
        stream.truncate(1 << 40)
    (found,) = findings(home, "check", "huge.env")
    assert found["code"] in {"E0105", "E0102"}


def test_e0401_frozen_without_a_lock(home: Path) -> None:
    (home / "spec.lock").unlink()
    for argv in (["--frozen"], ["--check"]):
        (found,) = findings(home, "compile", *argv)
        assert found["code"] == "E0401"
        assert "envspec lock" in found["hint"]
    assert not (home / "spec.lock").exists()


def test_e0402_a_lock_that_is_stale(home: Path) -> None:
    edit(home / "spec.env", "einops             >=0.8.0", "einops             >=0.7")
    (found,) = findings(home, "compile", "--frozen")
    assert found["code"] == "E0402"
    line = (home / "spec.env").read_text().split("\n")[found["labels"][0]["line"] - 1]
    assert line == "  einops             >=0.7"
    assert ">=0.8.0" in found["cause"]


def test_claims_entries_and_comments_need_no_new_lock(home: Path) -> None:
    edit(home / "spec.env", "c1             pass", "c1             unstated # not yet")
    edit(home / "spec.env", "timeout 5m", "timeout 6m")
    assert envspec(home, "compile", "--frozen").returncode == 0


def test_e0207_a_script_that_is_not_there(home: Path) -> None:
    (home / "smoke.py").unlink()
    (found,) = findings(home, "compile", "--frozen")
    assert (found["code"], found["labels"][0]["text"]) == ("E0207", "this entry runs it")
    (home / "elsewhere.py").write_text("")
    (home / "smoke.py").symlink_to("/dev/null")
    assert findings(home, "compile", "--frozen")[0]["code"] == "E0207"
    (home / "smoke.py").unlink()
    (home / "smoke.py").write_bytes(b"#" * (1 << 20) + b"\n")
    (found,) = findings(home, "compile", "--frozen")
    assert "larger than 1 MiB" in found["title"]


def test_compile_is_fresh_afterwards_and_e0602_says_when_it_is_not(home: Path) -> None:
    done = envspec(home, "compile", "--frozen", "-o", "out")
    assert done.returncode == 0, done.stderr
    assert "written" in done.stdout
    assert "unchanged" in envspec(home, "compile", "--frozen", "-o", "out").stdout
    assert "fresh" in envspec(home, "compile", "--check", "-o", "out").stdout
    with (home / "out" / "Dockerfile").open("a") as stream:
        stream.write("RUN id\n")
    (home / "out" / "flake.lock").unlink()
    (found,) = findings(home, "compile", "--check", "-o", "out")
    assert found["code"] == "E0602"
    assert "Dockerfile, flake.lock" in found["cause"]
    assert "RUN id" in (home / "out" / "Dockerfile").read_text()


def test_check_compares_with_the_targets_that_are_there(home: Path) -> None:
    """Nobody has to say again what the outputs were made for."""
    done = envspec(home, "compile", "--frozen", "--target", "compose", "-o", "out")
    assert done.returncode == 0, done.stderr
    assert "fresh" in envspec(home, "compile", "--check", "-o", "out").stdout
    (found,) = findings(home, "compile", "--check", "--target", "nix", "-o", "out")
    assert found["code"] == "E0602"
    (home / "out" / "compose.yaml").write_text("")
    (found,) = findings(home, "compile", "--check", "-o", "out")
    assert "compose.yaml" in found["cause"]


def test_e0601_a_folder_with_other_files(home: Path) -> None:
    (found,) = findings(home, "compile", "--frozen", "-o", ".")
    assert found["code"] == "E0601"
    assert (home / "spec.env").is_file()


def test_compile_gives_the_same_bytes_anywhere(home: Path, tmp_path: Path) -> None:
    outputs = []
    for number, (seed, zone) in enumerate((("0", "UTC"), ("1", "Asia/Tokyo"))):
        other = tmp_path / f"other{number}"
        shutil.copytree(home, other)
        done = subprocess.run(
            [sys.executable, "-m", "envspec", "compile", "--frozen", "-o", "out"],
            cwd=other,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed, "TZ": zone},
            capture_output=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        outputs.append({p.name: p.read_bytes() for p in (other / "out").iterdir()})
    assert outputs[0] == outputs[1]
    assert len(outputs[0]) >= 6


def test_warnings_do_not_stop_and_errors_of_rules_do(home: Path) -> None:
    edit(home / "spec.env", "cuda_available false", "cuda_available true")
    done = envspec(home, "check")
    assert done.returncode == 0
    assert "warning[W0301]" in done.stderr
    with (home / "spec.env").open("a") as stream:
        stream.write('env { LD_PRELOAD="x" }\n')
    assert {d["code"] for d in findings(home, "check")} == {"E0303", "W0301"}


def test_e0901_a_command_that_is_stopped(home: Path) -> None:
    """A reader that never gets its input stands for any work that takes long."""
    os.mkfifo(home / "slow.env")
    with subprocess.Popen(
        [sys.executable, "-m", "envspec", "check", "slow.env"],
        cwd=home,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        handle = os.open(home / "slow.env", os.O_WRONLY)  # returns once the command reads
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
        os.close(handle)
    assert process.returncode == 1
    assert "error[E0901]: stopped before the end" in stderr
    assert "Traceback" not in stderr
