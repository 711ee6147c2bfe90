"""The local engine builds: once, again, at the same time, and not at all."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from local_room import PYTHON, Room, Silent, make_tar, make_wheel, python

from envspec.build import interpreter, marker, tree
from envspec.build.failure import BuildFailed
from envspec.diagnostics import DiagnosticError
from envspec.plan import model as plan


def test_builds_once_and_takes_it_again(room: Room) -> None:
    reporter = Silent()
    first = room.build(room.plan(), reporter)
    assert not first.reused
    assert first.log == room.log
    assert first.locate("/opt/env/bin/python") == f"{first.reference}/env/bin/python"
    assert Path(first.locate("/opt/src/demo.py")).read_text() == "NAME = 'demo'\n"
    assert not list(Path(first.reference).glob("cache"))
    done = python(
        room.engine(),
        first,
        "import sys, os, tiny, demo; print(tiny.VALUE, demo.NAME, os.environ['GREETING'],"
        " os.environ['DATA'], sys.version_info[:2])",
    )
    expected = f"42 demo hello {first.reference}/src/pkg {sys.version_info[:2]}\n"
    assert done.stdout.decode() == expected, done.stderr

    reporter = Silent()
    again = room.build(room.plan(), reporter)
    assert again.reused
    assert (again.reference, again.digest) == (first.reference, first.digest)
    assert again.log is None
    assert reporter.stages == []


def test_files_may_lie_flat(room: Room) -> None:
    for path in list(room.files.glob("*/*")):
        path.rename(room.files / path.name)
    assert not room.build(room.plan()).reused


def test_changed_prefix_is_built_again(room: Room) -> None:
    first = room.build(room.plan())
    (Path(first.reference) / "src" / "demo.py").write_text("NAME = 'changed by a program'\n")
    second = room.build(room.plan())
    assert not second.reused
    assert Path(second.locate("/opt/src/demo.py")).read_text() == "NAME = 'demo'\n"


def test_caches_of_python_do_not_count_as_a_change(room: Room) -> None:
    first = room.build(room.plan())
    cache = Path(first.reference) / "src" / "__pycache__"
    cache.mkdir()
    (cache / "demo.cpython-311.pyc").write_bytes(b"x")
    assert room.build(room.plan()).reused


def test_unfinished_prefix_is_built_again(room: Room) -> None:
    first = room.build(room.plan())
    (Path(first.reference) / marker.FINISHED).unlink()
    (Path(first.reference) / "src" / "rest.txt").write_text("of another build")
    second = room.build(room.plan())
    assert not second.reused
    assert not Path(second.locate("/opt/src/rest.txt")).exists()


def test_file_with_another_digest_is_refused(room: Room) -> None:
    before = room.plan()
    make_wheel(room.files / "packages", "tiny", "1.2+cpu", {"tiny/__init__.py": "EVIL = 1\n"})
    with pytest.raises(BuildFailed) as caught:
        room.build(before)
    assert (caught.value.code, caught.value.line) == ("E0703", 10)
    assert any("hash" in line.lower() for line in caught.value.excerpt)
    assert not list(room.cache.glob("prefixes/*/"))


def test_source_distribution_is_never_built(room: Room) -> None:
    backend = '[build-system]\nrequires = []\nbuild-backend = "evil"\nbackend-path = ["."]\n'
    archive = make_tar(
        room.files / "packages" / "evil-1.tar.gz",
        {
            "evil-1/pyproject.toml": backend + '[project]\nname = "evil"\nversion = "1"\n',
            "evil-1/evil.py": f"open({str(room.folder / 'ran')!r}, 'w')\n",
            "evil-1/PKG-INFO": "Metadata-Version: 2.1\nName: evil\nVersion: 1\n",
        },
    )
    step = plan.InstallWheels("packages", (plan.Wheel("evil", "1", archive),), 12)
    with pytest.raises(BuildFailed) as caught:
        room.build(room.plan(step))
    assert (caught.value.code, caught.value.line) == ("E0703", 12)
    assert not (room.folder / "ran").exists()


def test_step_runs_in_the_source_folder_without_network(room: Room) -> None:
    code = (
        "import os, tiny; open('made.txt', 'w').write(os.getcwd());"
        "print(open('/proc/net/dev').read().count(':'))"
    )
    built = room.build(room.plan(plan.RunStep("make", ("python", "-c", code), 20)))
    made = Path(built.locate("/opt/src/made.txt"))
    assert made.read_text() == f"{built.reference}/src"
    assert room.log.read_text().endswith("1\n")


def test_failing_step_names_its_line_and_shows_thirty_lines(room: Room) -> None:
    code = "for n in range(50): print('line', n)\nraise SystemExit(9)"
    with pytest.raises(BuildFailed) as caught:
        room.build(room.plan(plan.RunStep("break", ("python", "-c", code), 20)))
    failure = caught.value
    assert (failure.code, failure.line) == ("E0703", 20)
    assert "`break`" in failure.title
    assert "exit code 9" in failure.cause
    assert failure.excerpt[0] == "line 20"
    assert failure.excerpt[-1] == "line 49"
    assert "line 0\n" in room.log.read_text()
    assert not list(room.cache.glob("prefixes/*/"))


def test_no_such_python(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_OFFLINE", "1")
    with pytest.raises(BuildFailed) as caught:
        room.build(room.plan(python="3.99"))
    assert (caught.value.code, caught.value.line) == ("E0704", 7)
    assert "Python 3.99" in caught.value.title


def test_program_that_only_pretends_to_be_python_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shims = tmp_path / "shims"
    shims.mkdir()
    shim = shims / f"python{PYTHON}"
    shim.write_text("#!/bin/sh\necho 'pyenv: command not found' >&2\nexit 127\n")
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", f"{shims}:{os.environ['PATH']}")
    found = interpreter.find(PYTHON, "linux/amd64", "uv", tmp_path, Silent())
    assert found is not None
    assert found.program != shim
    assert found.version.startswith(PYTHON)


def test_missing_system_packages_are_named(room: Room) -> None:
    with pytest.raises(BuildFailed) as caught:
        room.build(room.plan(system=("libnothing99", "libc6")))
    assert (caught.value.code, caught.value.line) == ("E0705", 4)
    assert "libnothing99" in caught.value.title
    assert "libc6" not in caught.value.title
    assert "apt-get install --no-install-recommends libnothing99`" in caught.value.hint


def test_hostile_archive_is_refused(room: Room) -> None:
    room.archive = make_tar(room.files / "source" / "bad.tar.gz", {"../../out.txt": "x"})
    with pytest.raises(BuildFailed) as caught:
        room.build(room.plan())
    assert (caught.value.code, caught.value.line) == ("E0706", 3)
    assert "../../out.txt" in caught.value.cause


def test_builds_at_once_build_one(room: Room) -> None:
    reporters = [Silent() for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda r: room.build(room.plan(), r), reporters))
    assert sorted(result.reused for result in results) == [False, True, True, True]
    assert len({result.digest for result in results}) == 1


BUILDER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from local_room import Room, Silent
from envspec.plan import model as plan
class Telling(Silent):
    def line(self, text):
        print(text, flush=True)
class Old(Room):
    def __init__(self, folder):
        from local_room import file
        self.folder, self.cache, self.files = folder, folder / "cache", folder / "files"
        self.log, self.context = folder / "other.log", folder / "context"
        self.wheel = plan.Wheel("tiny", "1.2+cpu", file(next(self.files.glob("packages/*.whl"))))
        self.archive = file(self.files / "source" / "demo-1.tar.gz")
room = Old(Path(sys.argv[2]))
code = f"import time; time.sleep({sys.argv[3]})"
step = plan.RunStep("slow", ("python", "-c", code), 20)
try:
    print("reused" if room.build(room.plan(step), Telling()).reused else "built", flush=True)
except KeyboardInterrupt:
    sys.exit(130)
"""


@contextmanager
def _builder(room: Room, seconds: str) -> Iterator[subprocess.Popen[str]]:
    """A process that builds, with a step that sleeps for ``seconds``."""
    arguments = [str(Path(__file__).parent), str(room.folder), seconds]
    with subprocess.Popen(
        [sys.executable, "-c", BUILDER, *arguments], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def _until(process: subprocess.Popen[str], text: str) -> None:
    assert process.stdout is not None
    watchdog = threading.Timer(60, process.kill)
    watchdog.start()
    for line in process.stdout:
        if line.startswith(text):
            break
    else:
        raise AssertionError(f"{text!r} never came")
    watchdog.cancel()


def test_second_process_waits_and_says_for_whom(room: Room) -> None:
    with _builder(room, "2") as first:
        _until(first, "step slow")
        with _builder(room, "2") as second:
            _until(second, f"waiting for process {first.pid}")
            _until(second, "reused")
        _until(first, "built")


def test_interrupted_build_leaves_nothing(room: Room) -> None:
    marker_seconds = f"600.{time.time_ns()}"
    with _builder(room, marker_seconds) as process:
        _until(process, "step slow")
        _wait_for(lambda: _running(marker_seconds))
        process.terminate()
        assert process.wait(30) == 130
    assert not _running(marker_seconds)
    assert not list(room.cache.glob("prefixes/*/"))


def test_killed_build_ends_and_is_swept(room: Room) -> None:
    marker_seconds = f"600.{time.time_ns()}"
    with _builder(room, marker_seconds) as process:
        _until(process, "step slow")
        process.kill()
    _wait_for(lambda: not _running(marker_seconds))
    assert len(list(room.cache.glob("prefixes/*/"))) == 1
    assert room.engine().sweep() == 1
    assert not list(room.cache.glob("prefixes/*/"))


def test_sweep_leaves_finished_prefixes_alone(room: Room) -> None:
    built = room.build(room.plan())
    assert room.engine().sweep() == 0
    assert Path(built.reference).is_dir()


def test_full_disk_is_said(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tree, "content", full)
    with pytest.raises(DiagnosticError) as caught:
        room.build(room.plan())
    assert caught.value.diagnostics[0].code == "E0504"
    assert not list(room.cache.glob("prefixes/*/"))


def test_cache_that_cannot_be_used_is_said(room: Room) -> None:
    room.cache.write_text("a file, not a folder")
    with pytest.raises(DiagnosticError) as caught:
        room.build(room.plan())
    assert caught.value.diagnostics[0].code == "E0707"
    assert str(room.cache) in caught.value.diagnostics[0].cause


def _wait_for(condition: Callable[[], object]) -> None:
    for _ in range(200):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError("it never came")


def _running(text: str) -> list[str]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if text in command and "local_room" not in command:
            found.append(command)
    return found
