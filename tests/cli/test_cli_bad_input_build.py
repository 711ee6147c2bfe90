"""An engine that does not answer, a build step that fails, an entry that takes too long."""

from __future__ import annotations

import hashlib
import json
import socket
from pathlib import Path
from typing import Any

import pytest
from user_room import Room

STEP = (
    "step broken {\n"
    '  run "python" "-c" "import sys; [print(\'line\', n, flush=True) for n in range(40)]; '
    'sys.exit(3)"\n}'
)
SLOW = (
    'run "python" "-c" "import subprocess, sys, time; print(\'begun\', flush=True); '
    "subprocess.Popen(['sleep', '600'], start_new_session=True); time.sleep(600)\""
)


@pytest.fixture(params=["nothing", "closed", "silent", "stranger"])
def dead_engine(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """An address at which no engine answers: no socket, one that nobody listens at, one that
    says nothing, and a port of somebody else's."""
    path = tmp_path / "engine.sock"
    with socket.socket(socket.AF_UNIX) as listening:
        if request.param in {"closed", "silent"}:
            listening.bind(str(path))
        if request.param == "silent":
            listening.listen()
        if request.param == "stranger":
            index = request.getfixturevalue("room").index
            yield index.url.replace("http", "tcp").removesuffix("/simple")
        else:
            yield f"unix://{path}"


@pytest.mark.parametrize("locked", [True, False], ids=["locked", "unlocked"])
def test_e0701_an_engine_that_does_not_answer(room: Room, dead_engine: str, locked: bool) -> None:
    if locked:
        room.good("lock")
    room.variables["DOCKER_HOST"] = dead_engine
    found = room.refused("verify", "--engine", "docker", code="E0701", at="project")
    assert "--engine local" in found["hint"]


def test_without_an_engine_this_machine_does_it_and_says_so(room: Room) -> None:
    room.variables["DOCKER_HOST"] = f"unix://{room.temporary}/none.sock"
    done = room.good("verify")
    assert "bad-input on the local engine\n" in done.stdout
    assert "no Docker Engine answers" in done.stdout or "`docker` command" in done.stdout


def failing(room: Room, engine: str, code: str, at: str) -> dict[str, Any]:
    """A build that fails: only its log is written."""
    argv = ("verify", "--engine", engine)
    before = room.snapshot()
    done = room.run(*argv)
    assert (done.returncode, done.stdout) == (1, "")
    line, column = room.at(at)
    assert f"error[{code}]: " in done.stderr
    assert f"--> spec.env:{line}:{column}\n" in done.stderr, done.stderr
    (found,) = room.findings(*argv)
    assert (found["code"], found["labels"][0]["line"]) == (code, line)
    written = dict(room.snapshot().items() - before.items())
    assert set(written) <= {"report.logs", "report.logs/build.log"}, written
    room.no_remains()
    return found


def failing_step(room: Room, engine: str) -> None:
    room.write(more=STEP)
    room.good("lock")
    found = failing(room, engine, "E0703", "step broken")
    assert found["excerpt"] == [f"line {n}" for n in range(10, 40)]
    assert "exit code 3" in found["cause"]
    assert "report.logs/build.log" in found["hint"]
    assert "line 0\n" in (room.home / "report.logs" / "build.log").read_text()


def late_entry(room: Room, engine: str) -> None:
    room.write(entry=SLOW, timeout="1s")
    done = room.run("verify", "--engine", engine)
    assert done.returncode == 1, done.stderr
    assert done.stderr == ""
    report = json.loads((room.home / "report.json").read_text())
    assert report["verdict"] == "fail"
    assert report["rungs"]["c1"]["verdict"] == "fail"
    assert "1 s" in json.dumps(report["rungs"]["c1"])
    assert report["rungs"]["c0_static"]["verdict"] == "pass"
    assert "C1" in done.stdout
    room.no_remains()


def unreadable_source(room: Room, engine: str, code: str) -> None:
    (room.home / "demo-1.0.tar.gz").write_bytes(b"no archive")
    room.write(archive=hashlib.sha256(b"no archive").hexdigest())
    room.good("lock")
    failing(room, engine, code, "source archive")


def test_e0703_local_a_step_that_fails(room: Room) -> None:
    failing_step(room, "local")


def test_local_an_entry_that_takes_too_long(room: Room) -> None:
    late_entry(room, "local")


def test_e0706_local_a_source_that_is_no_archive(room: Room) -> None:
    unreadable_source(room, "local", "E0706")


@pytest.mark.engine
def test_e0703_docker_a_step_that_fails(docker_room: Room) -> None:
    failing_step(docker_room, "docker")


@pytest.mark.engine
def test_docker_an_entry_that_takes_too_long(docker_room: Room) -> None:
    late_entry(docker_room, "docker")


@pytest.mark.engine
def test_e0703_docker_a_source_that_is_no_archive(docker_room: Room) -> None:
    unreadable_source(docker_room, "docker", "E0703")


@pytest.mark.engine
def test_e0702_docker_a_base_that_is_nowhere(docker_room: Room) -> None:
    docker_room.variables["ENVSPEC_BASE_FROM"] = "envspec-test/there-is-none:1"
    docker_room.good("lock")
    found = failing(docker_room, "docker", "E0702", "base ")
    assert "docker image ls" in found["hint"]
