"""`envspec inspect`: prefixes, wheels and specs, good and hostile."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path

import pytest
from user_room import Room


def test_this_environment(room: Room) -> None:
    """The one that runs the tests: every library of it is read, and fits."""
    done = room.run("inspect", sys.prefix, "--format", "json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["verdict"], found["faults"]) == (0, "pass", [])
    assert sum(len(p["libraries"]) for p in found["packages"]) > 20
    again = room.run("inspect", sys.prefix)
    assert "verdict: pass   0 do not fit, 0 could not be told" in again.stdout


def test_locked_wheels_are_read_from_the_store(room: Room) -> None:
    room.good("lock")
    room.good("fetch", "-o", "wheels")
    assert "1 packages, 0 libraries read" in room.good("inspect", "spec.env").stdout


def test_glibc_of_this_environment(room: Room) -> None:
    done = room.run("inspect", sys.prefix, "--glibc", "2.0")
    assert done.returncode == 1
    assert "glibc, does not fit" in done.stdout


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (("nowhere",), "E0840"),
        (("folder",), "E0840"),
        (("folder", "spec.env"), "E0840"),
        (("bad-1.0-py3-none-any.whl",), "E0841"),
        (("gone-1.0-py3-none-any.whl",), "E0841"),
        (("spec.env",), "E0401"),
    ],
)
def test_what_cannot_be_inspected(room: Room, argv: tuple[str, ...], code: str) -> None:
    (room.home / "folder").mkdir()
    (room.home / "bad-1.0-py3-none-any.whl").write_bytes(b"PK\x03\x04 no zip")
    (found,) = room.findings("inspect", *argv)
    assert found["code"] == code
    assert f"error[{code}]" in room.run("inspect", *argv).stderr


def test_wheels_that_are_not_in_the_store(room: Room) -> None:
    room.good("lock")
    import shutil

    shutil.rmtree(room.cache)
    (found,) = room.findings("inspect", "spec.env")
    assert found["code"] == "E0842"


@pytest.mark.parametrize("option", [("--gpus", "gtx"), ("--glibc", "new")])
def test_wrong_options(room: Room, option: tuple[str, str]) -> None:
    assert room.run("inspect", sys.prefix, *option).returncode == 2


def test_hostile_members_are_told_and_nothing_is_written(room: Room, tmp_path: Path) -> None:
    wheel = tmp_path / "evil-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("../../../escaped.so", b"\x7fELF")
        archive.writestr("evil/\x1b[31mred.so", b"no library")
        archive.writestr("evil/cut.so", b"\x7fELF\x02\x01" + b"\xff" * 100)
    before = sorted(p.name for p in tmp_path.iterdir())
    done = room.run("inspect", str(wheel))
    assert done.returncode == 4
    assert "\x1b" not in done.stdout
    assert done.stdout.count("unread, not known") == 3
    assert sorted(p.name for p in tmp_path.iterdir()) == before
