"""A full disk: in the outputs, in the cache and in the temporary folder, while every verb works."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from user_room import ENVSPEC, Room, processes_left

DRIVER = Path(__file__).with_name("tiny_disk.py")


def namespace() -> list[str]:
    """The command that gives a process mounts of its own; none where this machine refuses."""
    for options in (["--mount"], ["--mount", "--user", "--map-root-user"]):
        argv = ["unshare", *options, "--propagation", "private"]
        trial = [*argv, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
        try:
            if subprocess.run(trial, capture_output=True, check=False).returncode == 0:
                return argv
        except FileNotFoundError:
            break
    return []


@pytest.fixture
def disk(room: Room, tmp_path: Path) -> Disk:
    prefix = namespace()
    if not prefix:
        pytest.skip("NOT TESTED: a full disk, since no file system can be mounted here")
    return Disk(room, tmp_path / "disk", prefix)


class Disk:
    """A small file system: what a test prepared for it is there, and little room besides."""

    def __init__(self, room: Room, point: Path, prefix: list[str]) -> None:
        self.room = room
        self.point = point
        self.prefix = prefix
        point.mkdir()

    def run(self, prepared: Path, spare: int, *argv: str) -> dict[str, Any]:
        """Run a command with ``prepared`` copied onto the disk and ``spare`` blocks left."""
        words = [*self.prefix, sys.executable, str(DRIVER), str(self.point), str(spare)]
        words.append(str(prepared))
        done = subprocess.run(
            [*words, ENVSPEC, *argv],
            cwd=self.room.home,
            env=self.room.environment(),
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def full(self, prepared: Path, spare: int, *argv: str) -> dict[str, Any]:
        """The same, and it has to end with E0504 and nothing written."""
        before = self.room.snapshot()
        found = self.run(prepared, spare, *argv)
        assert found["returncode"] == 1, found["stderr"]
        assert "Traceback" not in found["stderr"]
        assert "error[E0504]: " in found["stderr"], found["stderr"]
        assert "spec.env:" in found["stderr"]
        assert " = hint: " in found["stderr"]
        assert found["after"] == found["before"]
        assert self.room.snapshot() == before
        assert processes_left() == []
        return found


def test_lock_has_no_room_for_the_lock(disk: Disk) -> None:
    disk.full(disk.room.home, 0, "lock", f"{disk.point}/spec.env")


def test_compile_has_no_room_for_the_outputs(disk: Disk, tmp_path: Path) -> None:
    disk.room.good("lock")
    (tmp_path / "outputs").mkdir()
    for spare in (0, 4):
        disk.full(tmp_path / "outputs", spare, "compile", "-o", f"{disk.point}/deep/out")


def test_compile_keeps_the_old_set_where_there_is_no_room_for_the_new(
    disk: Disk, tmp_path: Path
) -> None:
    disk.room.good("compile", "-o", str(tmp_path / "outputs" / "out"))
    disk.room.write("tiny >=0.5")
    disk.room.good("lock")
    disk.full(tmp_path / "outputs", 4, "compile", "-o", f"{disk.point}/out")


@pytest.mark.parametrize("verb", ["lock", "fetch"])
def test_the_cache_is_full(disk: Disk, tmp_path: Path, verb: str) -> None:
    """A lock needs no more of the cache than uv does, and files of the installer are small here,
    so room for less than one file is what is left."""
    if verb == "fetch":
        disk.room.good("lock")
    (tmp_path / "cached").mkdir()
    disk.room.variables["ENVSPEC_CACHE"] = f"{disk.point}/cache"
    disk.room.variables["UV_CACHE_DIR"] = f"{disk.point}/cache/uv"
    disk.full(tmp_path / "cached", 1, verb)


def test_fetch_has_no_room_for_copies(disk: Disk, tmp_path: Path) -> None:
    disk.room.good("lock")
    (tmp_path / "outputs").mkdir()
    for spare in (0, 2):
        disk.full(tmp_path / "outputs", spare, "fetch", "-o", f"{disk.point}/wheels")


def test_the_temporary_folder_is_full_while_locking(disk: Disk, tmp_path: Path) -> None:
    (tmp_path / "temporary").mkdir()
    disk.room.variables["TMPDIR"] = str(disk.point)
    # Less than one block, and Python would take the next temporary folder that it knows.
    disk.full(tmp_path / "temporary", 1, "lock")


@pytest.mark.parametrize("spare", [1, 12, 40])
def test_verify_has_no_room_in_the_cache(disk: Disk, tmp_path: Path, spare: int) -> None:
    disk.room.good("lock")
    disk.room.good("fetch")
    cached = tmp_path / "cached" / "cache"
    shutil.copytree(disk.room.cache, cached, ignore=shutil.ignore_patterns("uv", "stamps"))
    disk.room.variables["ENVSPEC_CACHE"] = f"{disk.point}/cache"
    before = disk.room.snapshot()
    argv = ("verify", "--engine", "local", "--report", str(disk.room.home / "report.json"))
    found = disk.run(tmp_path / "cached", spare, *argv)
    assert found["returncode"] == 1
    assert "Traceback" not in found["stderr"]
    assert "error[E0504]: " in found["stderr"], found["stderr"]
    shutil.rmtree(disk.room.home / "report.logs", ignore_errors=True)
    assert disk.room.snapshot() == before


def test_verify_has_no_room_for_the_evidence(disk: Disk, tmp_path: Path) -> None:
    disk.room.good("lock")
    (tmp_path / "outputs").mkdir()
    for spare in (0, 3):
        found = disk.run(
            *(tmp_path / "outputs", spare, "verify", "--engine", "local"),
            *("--report", f"{disk.point}/report.json"),
        )
        assert found["returncode"] == 1
        assert "error[E0504]: " in found["stderr"], found["stderr"]
        assert "Traceback" not in found["stderr"]
        assert not [name for name, _ in found["after"] if name == "report.json"]


def test_e0603_folders_that_may_not_be_written(room: Room) -> None:
    room.good("lock")
    before = room.snapshot()
    for argv in (
        ["compile", "-o", "/proc/nowhere"],
        ["fetch", "-o", "/proc/nowhere"],
        ["verify", "--engine", "local", "--report", "/proc/nowhere/report.json"],
    ):
        done = room.run(*argv)
        assert done.returncode == 1, argv
        assert "error[E0603]: " in done.stderr
        assert " = hint: " in done.stderr
    room.nothing_left(before)
