"""Publishing a set of files: the old set or the new one, whatever happens in between."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from envspec.diagnostics import Diagnostic, DiagnosticError
from envspec.emit import publish

OLD = {"Dockerfile": "old\n", "plan.json": "old plan\n", "gone": "old only\n"}
NEW = {"Dockerfile": "new\n", "plan.json": "new plan\n", "flake.nix": "new only é\n"}
NEWER = {"Dockerfile": "newer\n"}
KNOWN = frozenset({*OLD, *NEW})


class CrashError(BaseException):
    """Not an Exception: nothing in between may swallow it."""


def content(folder: Path) -> dict[str, str]:
    return {p.name: p.read_text(encoding="utf-8") for p in folder.iterdir()}


def beside(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.parent.iterdir() if p != folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A published set of files, alone in its parent folder."""
    folder = tmp_path / "parent" / "demo"
    assert publish.publish(folder, OLD, KNOWN)
    return folder


Hook = Callable[[int], None]


@contextmanager
def counted(before: Hook, after: Hook, *, exchange: bool = True) -> Iterator[list[str]]:
    """Within, every step that touches the disk is counted and may be made to fail."""
    steps: list[str] = []
    patch = pytest.MonkeyPatch()

    def wrap(owner: Any, name: str) -> None:
        original = getattr(owner, name)

        def step(*args: Any, **kwargs: Any) -> Any:
            steps.append(name)
            number = len(steps)
            before(number)
            try:
                result = original(*args, **kwargs)
            except OSError:
                after(number)
                raise
            try:
                after(number)
            except BaseException:
                _close(result)
                raise
            return result

        patch.setattr(owner, name, step)

    for owner, name in (
        (os, "fsync"),
        (os, "open"),
        (Path, "open"),
        (Path, "rename"),
        (Path, "replace"),
        (Path, "chmod"),
        (Path, "mkdir"),
        (tempfile, "mkdtemp"),
        (tempfile, "mkstemp"),
    ):
        wrap(owner, name)
    if exchange:
        wrap(publish, "_exchange_names")
    else:
        patch.setattr(publish, "_exchange_names", lambda *_: False)
    try:
        yield steps
    finally:
        patch.undo()


def _close(result: Any) -> None:
    """Close what a step opened just before it was made to fail."""
    if hasattr(result, "close"):
        result.close()
    elif isinstance(result, int) and not isinstance(result, bool):
        os.close(result)


def never(_: int) -> None:
    """Let the step be."""


def raising(at: int, error: BaseException) -> Hook:
    """A hook that fails at one step."""

    def hook(number: int) -> None:
        if number == at:
            raise error

    return hook


def steps_of(work: Callable[[], Any], *, exchange: bool = True) -> list[str]:
    with counted(never, never, exchange=exchange) as steps:
        work()
    return steps


def restore(folder: Path) -> None:
    shutil.rmtree(folder.parent)
    publish.publish(folder, OLD, KNOWN)


def test_a_set_is_written_once_and_left_alone_when_it_is_fresh(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b" / "demo"
    assert publish.publish(folder, NEW, KNOWN) is True
    assert content(folder) == NEW
    inode = folder.stat().st_ino
    assert publish.publish(folder, NEW, KNOWN) is False
    assert folder.stat().st_ino == inode
    assert publish.stale(folder, NEW) == ()
    assert beside(folder) == []


def test_everything_is_on_the_disk_before_the_sets_are_swapped(folder: Path) -> None:
    """A machine that loses power afterwards must not find empty files under the new names."""
    steps = steps_of(lambda: publish.publish(folder, NEW, KNOWN))
    swapped = steps.index("_exchange_names")
    assert steps[:swapped].count("fsync") == len(NEW) + 1, "each file, and their folder"
    assert steps[swapped:].count("fsync") == 1, "the folder that holds the name"
    steps = steps_of(lambda: publish.write_file(folder.parent / "lock", "x"))
    assert steps.index("fsync") < steps.index("replace")
    assert steps.count("fsync") == 2


def test_files_of_an_earlier_set_go(folder: Path) -> None:
    assert publish.stale(folder, NEW) == ("Dockerfile", "plan.json", "flake.nix", "gone")
    assert publish.publish(folder, NEW, KNOWN) is True
    assert content(folder) == NEW
    assert beside(folder) == []


def test_bytes_are_the_text_in_utf_8_whatever_the_locale(folder: Path) -> None:
    publish.publish(folder, {"Dockerfile": "é\r\nx\n"}, KNOWN)
    assert (folder / "Dockerfile").read_bytes() == "é\r\nx\n".encode()


def test_permissions_follow_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        publish.publish(tmp_path / "demo", NEW, KNOWN)
        publish.write_file(tmp_path / "lock", "x")
    finally:
        os.umask(before)
    assert (tmp_path / "demo").stat().st_mode & 0o777 == 0o750
    assert (tmp_path / "demo" / "Dockerfile").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "lock").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("exchange", [True, False], ids=["exchange", "two renames"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_crash_at_any_step_leaves_the_old_set_or_the_new_one(
    folder: Path, exchange: bool, when: str
) -> None:
    count = len(steps_of(lambda: publish.publish(folder, NEW, KNOWN), exchange=exchange))
    assert count > 10
    seen = set()
    for at in range(1, count + 1):
        restore(folder)
        hook = raising(at, CrashError())
        hooks = (hook, never) if when == "before" else (never, hook)
        with counted(*hooks, exchange=exchange) as steps, pytest.raises(CrashError):
            publish.publish(folder, NEW, KNOWN)
        found = content(folder)
        assert found in (OLD, NEW), f"a mix after {steps[-1]}"
        seen.add(found == NEW)
        assert publish.publish(folder, NEWER, KNOWN)
        assert content(folder) == NEWER
        assert beside(folder) == [], f"leftovers of a crash at {steps[-1]}"
    assert seen == {True, False}


@pytest.mark.parametrize("exchange", [True, False], ids=["exchange", "two renames"])
def test_a_process_killed_at_any_step_leaves_the_old_set_or_the_new_one(
    folder: Path, exchange: bool
) -> None:
    count = len(steps_of(lambda: publish.publish(folder, NEW, KNOWN), exchange=exchange))
    for at in range(1, count + 1):
        restore(folder)
        child = os.fork()
        if child == 0:  # nothing of pytest runs in here, and nothing is cleaned up on the way out

            def die(number: int, at: int = at) -> None:
                if number == at:
                    os.kill(os.getpid(), signal.SIGKILL)

            with counted(never, die, exchange=exchange):
                publish.publish(folder, NEW, KNOWN)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        if exchange or folder.exists():
            assert content(folder) in (OLD, NEW)
        else:  # the kernel cannot exchange two names: the old set stands beside, whole
            asides = [p for p in folder.parent.iterdir() if p.name.endswith(".old")]
            assert [content(p) for p in asides] == [OLD]
        assert publish.publish(folder, NEWER, KNOWN)
        assert content(folder) == NEWER
        assert beside(folder) == [], "leftovers of a killed process"


def test_only_what_envspec_left_is_cleared_away(folder: Path) -> None:
    for name in (".demo.env", ".demo.old", ".demo.backup", ".demo.x1y2z3w4", "demo.old"):
        (folder.parent / name).mkdir()
        (folder.parent / name / "precious").write_text("x")
    publish.publish(folder, NEW, KNOWN)
    assert len(beside(folder)) == 5
    assert all((folder.parent / name / "precious").is_file() for name in beside(folder))


@pytest.mark.parametrize(
    ("number", "code", "words"),
    [
        (errno.ENOSPC, "E0504", "no space left"),
        (errno.EDQUOT, "E0504", "no space left"),
        (errno.EIO, "E0603", "cannot write"),
        (errno.EACCES, "E0603", "permission denied"),
        (errno.EROFS, "E0603", "read-only file system"),
    ],
)
def test_an_error_at_any_step_changes_nothing_and_is_explained(
    folder: Path, number: int, code: str, words: str
) -> None:
    steps = steps_of(lambda: publish.publish(folder, NEW, KNOWN))
    # Reading what is there may fail: then it is not fresh. Once the sets are swapped, it is done.
    for at in range(steps.index("mkdir") + 1, steps.index("_exchange_names") + 2):
        restore(folder)
        hook = raising(at, OSError(number, os.strerror(number)))
        with counted(hook, never), pytest.raises(DiagnosticError) as caught:
            publish.publish(folder, NEW, KNOWN)
        (finding,) = caught.value.diagnostics
        assert finding.code == code
        assert words in finding.title
        assert content(folder) == OLD
        assert beside(folder) == []


def test_a_disk_that_is_really_full(tmp_path: Path) -> None:
    """On a file system of 64 KiB, in a mount namespace of its own."""
    script = f"""
import json, pathlib, sys
from envspec.diagnostics import DiagnosticError
from envspec.emit import publish
folder = pathlib.Path({str(tmp_path)!r}) / "demo"
publish.publish(folder, {OLD!r}, frozenset({sorted(KNOWN)!r}))
try:
    publish.publish(folder, {{**{NEW!r}, "flake.nix": "x" * 200_000}}, frozenset({sorted(KNOWN)!r}))
except DiagnosticError as error:
    print(json.dumps([[d.code for d in error.diagnostics], sorted(p.name for p in folder.iterdir()),
        [p.name for p in folder.parent.iterdir()]]))
"""
    shell = 'mount -t tmpfs -o size=64k none "$1" && exec "$2" -c "$3"'
    argv = ["unshare", "--mount", "sh", "-c", shell, "sh", str(tmp_path), sys.executable, script]
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("mounting a small file system needs root")
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    if "mount:" in done.stderr or "unshare:" in done.stderr:
        pytest.skip("this machine lets nobody mount a small file system")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [["E0504"], sorted(OLD), ["demo"]]


def refused(work: Callable[[], Any]) -> Diagnostic:
    with pytest.raises(DiagnosticError) as caught:
        work()
    (finding,) = caught.value.diagnostics
    assert finding.code == "E0601"
    return finding


def test_a_folder_with_other_files_is_left_alone(folder: Path) -> None:
    (folder / "thesis.tex").write_text("years of work")
    finding = refused(lambda: publish.publish(folder, NEW, KNOWN))
    assert "thesis.tex" in finding.title
    assert "-o" in finding.hint
    assert content(folder) == {**OLD, "thesis.tex": "years of work"}
    assert beside(folder) == []


def test_files_that_are_not_a_folder_are_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "real"
    target.mkdir()
    (tmp_path / "link").symlink_to(target)
    (tmp_path / "file").write_text("x")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    for name in ("link", "file", "dangling"):
        refused(lambda name=name: publish.publish(tmp_path / name, NEW, KNOWN))
    assert list(target.iterdir()) == []
    assert sorted(p.name for p in tmp_path.iterdir()) == ["dangling", "file", "link", "real"]


def test_an_empty_folder_may_be_used(tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    assert publish.publish(tmp_path / "demo", NEW, KNOWN)
    assert content(tmp_path / "demo") == NEW


_WRITER = """
import pathlib, sys
from envspec.emit import publish
folder, mark, rounds = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
for number in range(rounds):
    files = {f"file{n}": f"{mark}{number}" for n in range(8)}
    publish.publish(folder, files, frozenset(files))
"""


def _read_at(handle: int, name: str) -> bytes:
    """A file of a folder that is open, wherever that folder has been moved."""
    file = os.open(name, os.O_RDONLY, dir_fd=handle)
    try:
        return os.read(file, 100)
    finally:
        os.close(file)


def test_two_writers_and_a_reader_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    writers = [
        subprocess.Popen([sys.executable, "-c", _WRITER, folder, mark, "30"]) for mark in "ab"
    ]
    whole = 0
    while any(w.poll() is None for w in writers):
        try:
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            assert whole == 0, "the folder vanished"
            continue
        try:
            read = {_read_at(handle, f"file{n}") for n in range(8)}
        except FileNotFoundError:
            continue  # replaced and removed while we read
        finally:
            os.close(handle)
        assert len(read) == 1, "a mix of two sets"
        whole += 1
    assert [w.wait() for w in writers] == [0, 0]
    assert whole > 0
    final = content(folder)
    assert len(final) == 8
    assert set(final.values()) in ({"a29"}, {"b29"})
    assert beside(folder) == []


def test_one_file_is_old_or_new(tmp_path: Path) -> None:
    path = tmp_path / "spec.lock"
    publish.write_file(path, "old")
    count = len(steps_of(lambda: publish.write_file(path, "new")))
    seen = set()
    for at in range(1, count + 1):
        publish.write_file(path, "old")
        with counted(raising(at, CrashError()), never), pytest.raises(CrashError):
            publish.write_file(path, "new")
        seen.add(path.read_text())
        assert sorted(p.name for p in tmp_path.iterdir()) == ["spec.lock"]
    assert seen == {"old", "new"}


@pytest.mark.parametrize(("number", "code"), [(errno.ENOSPC, "E0504"), (errno.EIO, "E0603")])
def test_one_file_and_an_error(tmp_path: Path, number: int, code: str) -> None:
    path = tmp_path / "spec.lock"
    publish.write_file(path, "old")
    steps = steps_of(lambda: publish.write_file(path, "old"))
    for at in range(1, steps.index("replace") + 2):
        with (
            counted(raising(at, OSError(number, os.strerror(number))), never),
            pytest.raises(DiagnosticError, match=code),
        ):
            publish.write_file(path, "new")
        assert path.read_text() == "old"
        assert sorted(p.name for p in tmp_path.iterdir()) == ["spec.lock"]
