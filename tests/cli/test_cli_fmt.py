"""`envspec fmt` as a user, an editor and a hook run it."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UGLY = "# é\r\nenvspec   1\r\npackages { torch ==1.0 # why\r\n  einops }"
NEAT = "# é\nenvspec 1\n\npackages {\n  torch ==1.0  # why\n  einops\n}\n"
BROKEN = 'a {\nb "x\n'


def fmt(home: Path, *argv: str, given: str = "", **more: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "envspec", "fmt", *argv],
        cwd=home,
        env={**os.environ, "PYTHONPATH": str(ROOT), **more},
        input=given.encode(),
        capture_output=True,
        timeout=120,
        check=False,
    )


def write(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


def test_it_writes_the_layout_once_and_keeps_the_mode(tmp_path: Path) -> None:
    spec = write(tmp_path / "spec.env", UGLY)
    spec.chmod(0o640)
    done = fmt(tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"spec.env: formatted\n", b"")
    assert spec.read_bytes() == NEAT.encode()
    assert stat.S_IMODE(spec.stat().st_mode) == 0o640
    assert [p.name for p in tmp_path.iterdir()] == ["spec.env"]
    before = spec.stat()
    assert fmt(tmp_path, "spec.env").stdout == b"spec.env: unchanged\n"
    assert spec.stat() == before or spec.stat().st_ino == before.st_ino


def test_check_names_what_would_change_and_writes_nothing(tmp_path: Path) -> None:
    write(tmp_path / "a.env", UGLY)
    write(tmp_path / "b.env", NEAT)
    write(tmp_path / "c.env", UGLY)
    done = fmt(tmp_path, "--check", "a.env", "b.env", "c.env", "a.env")
    assert (done.returncode, done.stdout, done.stderr) == (1, b"a.env\nc.env\n", b"")
    assert (tmp_path / "a.env").read_bytes() == UGLY.encode()
    done = fmt(tmp_path, "--check", "b.env")
    assert (done.returncode, done.stdout) == (0, b"")


@pytest.mark.skipif(shutil.which("patch") is None, reason="needs patch")
@pytest.mark.parametrize("text", [UGLY, UGLY + "\r\n", NEAT.removesuffix("\n"), "\n\n" + NEAT])
def test_diff_is_what_patch_takes(tmp_path: Path, text: str) -> None:
    spec = write(tmp_path / "spec.env", text)
    done = fmt(tmp_path, "--diff")
    assert done.returncode == 0
    assert done.stdout.startswith(b"--- spec.env\n+++ spec.env\n@@ ")
    assert spec.read_bytes() == text.encode()
    patch = ["patch", "--binary", "--silent", "spec.env"]
    subprocess.run(patch, cwd=tmp_path, input=done.stdout, check=True, timeout=60)
    assert spec.read_bytes() == NEAT.encode()
    assert fmt(tmp_path, "--diff").stdout == b""


def test_diff_with_check_exits_1_where_there_is_one(tmp_path: Path) -> None:
    write(tmp_path / "a.env", UGLY)
    write(tmp_path / "b.env", NEAT)
    done = fmt(tmp_path, "--check", "--diff", "a.env", "b.env")
    assert (done.returncode, done.stdout.count(b"+++ ")) == (1, 1)
    assert fmt(tmp_path, "--check", "--diff", "b.env").returncode == 0
    assert (tmp_path / "a.env").read_bytes() == UGLY.encode()


def test_a_broken_file_is_left_alone_and_the_others_are_not(tmp_path: Path) -> None:
    write(tmp_path / "a.env", BROKEN)
    write(tmp_path / "b.env", UGLY)
    write(tmp_path / "c.env", "}")
    done = fmt(tmp_path, "a.env", "b.env", "c.env", "nowhere.env")
    assert (done.returncode, done.stdout) == (1, b"b.env: formatted\n")
    for code in (b"error[E0103]", b"error[E0104]", b"error[E0101]", b"error[E0902]"):
        assert done.stderr.count(code) == 1
    assert b"4 errors" in done.stderr
    assert (tmp_path / "a.env").read_bytes() == BROKEN.encode()
    assert (tmp_path / "b.env").read_bytes() == NEAT.encode()


def test_a_spec_that_does_not_resolve_is_formatted_all_the_same(tmp_path: Path) -> None:
    write(tmp_path / "spec.env", "future  thing{a}")
    assert fmt(tmp_path).returncode == 0
    assert (tmp_path / "spec.env").read_text() == "future thing {\n  a\n}\n"


@pytest.mark.parametrize("locale", ["C.UTF-8", "POSIX"])
def test_standard_input_goes_to_standard_output(tmp_path: Path, locale: str) -> None:
    done = fmt(tmp_path, "-", given=UGLY, LC_ALL=locale, PYTHONCOERCECLOCALE="0", PYTHONUTF8="0")
    assert (done.returncode, done.stdout, done.stderr) == (0, NEAT.encode(), b"")
    assert fmt(tmp_path, "-", given="").stdout == b""
    assert list(tmp_path.iterdir()) == []


def test_standard_input_with_check_and_diff(tmp_path: Path) -> None:
    done = fmt(tmp_path, "--check", "-", given=UGLY)
    assert (done.returncode, done.stdout) == (1, b"<stdin>\n")
    assert fmt(tmp_path, "--check", "-", given=NEAT).returncode == 0
    done = fmt(tmp_path, "--diff", "-", "--stdin-filename", "x/spec.env", given=UGLY)
    assert done.returncode == 0
    assert done.stdout.startswith(b"--- x/spec.env\n")


def test_broken_standard_input_gives_findings_and_no_text(tmp_path: Path) -> None:
    done = fmt(tmp_path, "-", "--stdin-filename", "my.env", given=BROKEN)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"--> my.env:1:3" in done.stderr
    assert b"2 errors" in done.stderr


@pytest.mark.parametrize(
    "argv", [("-", "a.env"), (".",), ("--stdin-filename", "x", "a.env"), ("--chekc",)]
)
def test_a_wrong_command_line_is_status_2(tmp_path: Path, argv: tuple[str, ...]) -> None:
    write(tmp_path / "a.env", UGLY)
    done = fmt(tmp_path, *argv)
    assert (done.returncode, done.stdout) == (2, b"")
    assert (tmp_path / "a.env").read_bytes() == UGLY.encode()


def test_a_file_named_dash_can_be_named(tmp_path: Path) -> None:
    spec = write(tmp_path / "-", UGLY)
    assert fmt(tmp_path, "./-").returncode == 0
    assert spec.read_bytes() == NEAT.encode()


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    real = write(tmp_path / "real" / "x.env", UGLY)
    link = tmp_path / "spec.env"
    link.symlink_to(Path("real") / "x.env")
    assert fmt(tmp_path).stdout == b"spec.env: formatted\n"
    assert link.is_symlink()
    assert real.read_bytes() == NEAT.encode()
    link.unlink()
    link.symlink_to("nowhere")
    assert fmt(tmp_path).returncode == 1


def test_a_read_only_file_is_not_replaced(tmp_path: Path) -> None:
    spec = write(tmp_path / "spec.env", UGLY)
    spec.chmod(0o444)
    done = fmt(tmp_path)
    assert done.returncode == 1
    assert b"error[E0603]" in done.stderr
    assert b"read-only" in done.stderr
    assert spec.read_bytes() == UGLY.encode()
    assert fmt(tmp_path, "--check").returncode == 1


def test_names_cannot_move_the_cursor(tmp_path: Path) -> None:
    folder = tmp_path / "a\x1b[2J"
    folder.mkdir()
    write(folder / "spec.env", UGLY)
    for option in ("--check", "--diff"):
        done = fmt(tmp_path, option, "a\x1b[2J/spec.env")
        assert b"\\u{1b}[2J/spec.env" in done.stdout
        assert b"\x1b" not in done.stdout + done.stderr


_BUG = """
import sys
from envspec.language import layout
layout._written = lambda lines: "envspec 2\\n"
sys.argv = ["envspec", "fmt", *sys.argv[1:]]
from envspec.cli.main import main
main()
"""


def test_a_formatter_that_changes_a_spec_is_a_bug_and_writes_nothing(tmp_path: Path) -> None:
    spec = write(tmp_path / "spec.env", UGLY)
    done = subprocess.run(
        [sys.executable, "-c", _BUG, "spec.env"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert "changes its statements" in done.stderr
    assert "This is a bug in envspec" in done.stderr
    assert spec.read_bytes() == UGLY.encode()
