"""Ctrl-C and SIGTERM at many moments of every long command: status 1 and E0901, or what the
command was to end with anyway. Nothing stays behind, and the next run is a good one."""

from __future__ import annotations

import http.server
import json
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from local_index import LocalIndex
from user_room import Done, Room, containers_of, end, processes_left

LOCAL = ("verify", "--engine", "local")
OUTPUTS = {
    "Dockerfile",
    "checksums.source.lock",
    "checksums.tools.lock",
    "flake.lock",
    "flake.nix",
    "manifest.json",
    "plan.json",
    "requirements.lock",
    "requirements.packages.lock",
}
# Both ways in which a terminal's user or a supervisor ends a command, one after the other.
WAYS = ((signal.SIGINT, True), (signal.SIGTERM, False), (signal.SIGINT, False))
KINDS = ["interrupt-group", "terminate", "interrupt"]


def begun(process: subprocess.Popen[str]) -> bool:
    """Wait until the program's own first lines have run, which look after SIGTERM. Before that,
    only the Python interpreter starts up. False where it has ended."""
    while process.poll() is None:
        try:
            status = Path(f"/proc/{process.pid}/status").read_text()
        except OSError:
            return False
        caught = int(status.partition("SigCgt:")[2].split()[0], 16)
        if caught >> (signal.SIGTERM - 1) & 1:
            return True
        time.sleep(0.002)
    return False


def strike(
    room: Room,
    argv: tuple[str, ...],
    wait: Callable[[], object],
    way: tuple[signal.Signals, bool],
    again: float = 0,
) -> Done:
    """Start the command, let ``wait`` pass, send the signal: to its whole group, as a terminal
    does, or to itself alone; ``again`` seconds later once more. Nothing may remain."""
    process = room.start(*argv)
    number, group = way
    try:
        if begun(process):
            wait()
            for pause in (again, 0) if again else (0,):
                if process.poll() is None:
                    os.killpg(process.pid, number) if group else process.send_signal(number)
                time.sleep(pause)
    except BaseException:
        process.terminate()
        raise
    finally:
        done = end(process, 60)
    if done.returncode == 1:
        stopped_cleanly(done, as_json="json" in argv)
    else:
        assert done.returncode == 0, done
    room.no_remains()
    return done


def stopped_cleanly(done: Done, *, as_json: bool) -> None:
    if as_json:
        assert [d["code"] for d in json.loads(done.stdout)["diagnostics"]] == ["E0901"]
        assert done.stderr == ""
        return
    assert done.stdout == ""
    assert "error[E0901]: stopped before the end\n --> spec.env:1:1\n" in done.stderr
    assert " = hint: " in done.stderr


def whole(room: Room) -> None:
    """Whatever is there is complete, and nothing half done is beside it."""
    names = {p.name for p in room.home.iterdir()}
    allowed = {"spec.env", "spec.lock", "generated", "wheels", "report.json", "report.logs"}
    assert names - allowed == {"demo-1.0.tar.gz", "smoke.py"}
    if "spec.lock" in names:
        assert json.loads((room.home / "spec.lock").read_text())["packages"]
    for folder in (room.home / "generated").glob("*"):
        assert {p.name for p in folder.iterdir()} == OUTPUTS
        assert "Dockerfile" in json.loads((folder / "manifest.json").read_text())["files"]
    if "wheels" in names:
        files = [p.name for p in (room.home / "wheels").rglob("*") if p.is_file()]
        assert len(files) == 3, files
    if "report.json" in names:
        assert json.loads((room.home / "report.json").read_text())["verdict"] == "pass"


def clear(room: Room, *names: str) -> None:
    for name in names:
        shutil.rmtree(room.home / name, ignore_errors=True)
        (room.home / name).unlink(missing_ok=True) if (room.home / name).is_file() else None


def moments(room: Room, argv: tuple[str, ...], count: int, *made: str) -> Iterator[float]:
    """``count`` delays spread over as long as the command takes, which is measured first."""
    begin = time.monotonic()
    room.good(*argv)
    took = time.monotonic() - begin
    for number in range(count):
        clear(room, *made)
        yield took * number / count


@pytest.mark.parametrize(
    ("argv", "made"),
    [
        (("lock",), ("spec.lock",)),
        (("lock", "--resolver", "pip-tools"), ("spec.lock",)),
        (("compile",), ("spec.lock", "generated")),
        (("compile", "--format", "json"), ("generated",)),
        (("fetch",), ("wheels",)),
    ],
    ids=["lock", "pip-tools", "compile", "compile-json", "fetch"],
)
def test_short_commands_at_any_moment(
    room: Room, argv: tuple[str, ...], made: tuple[str, ...]
) -> None:
    room.good("lock")
    stopped = 0
    for number, delay in enumerate(moments(room, argv, 6, *made)):
        if number % 2:
            shutil.rmtree(room.cache, ignore_errors=True)
        done = strike(room, argv, lambda: time.sleep(delay), WAYS[number % 3])  # noqa: B023
        stopped += done.returncode == 1
        whole(room)
    assert stopped >= 2
    room.good(*argv)
    whole(room)


def test_local_verification_at_any_moment(room: Room) -> None:
    """From an empty cache, so that resolving, fetching, building and every rung are met."""
    stopped = 0
    for number, delay in enumerate(moments(room, LOCAL, 6, "spec.lock", "report.json")):
        shutil.rmtree(room.cache, ignore_errors=True)
        done = strike(room, LOCAL, lambda: time.sleep(delay), WAYS[number % 3])  # noqa: B023
        stopped += done.returncode == 1
        assert done.returncode == 0 or not (room.home / "report.json").exists()
        whole(room)
    assert stopped >= 3
    room.good(*LOCAL)


def test_an_impatient_user_presses_twice(room: Room) -> None:
    for pause, delay in ((0.05, 2.0), (0.4, 0.6)):
        shutil.rmtree(room.cache, ignore_errors=True)
        strike(room, LOCAL, lambda: time.sleep(delay), WAYS[0], again=pause)  # noqa: B023
        whole(room)
    room.good(*LOCAL)


class Gate:
    """An index that keeps a client waiting, and tells when it came."""

    def __init__(self, index: LocalIndex, key: str) -> None:
        self.came = threading.Event()
        self.opened = threading.Event()
        index.bend[key] = self._answer

    def _answer(self, handler: http.server.BaseHTTPRequestHandler) -> None:
        self.came.set()
        self.opened.wait(60)
        handler.close_connection = True

    def wait(self) -> None:
        assert self.came.wait(60)


@pytest.mark.parametrize("way", WAYS, ids=KINDS)
@pytest.mark.parametrize(
    ("argv", "key"),
    [
        (("lock",), "tiny/"),
        (("lock", "--resolver", "pip-tools"), "tiny/"),
        (("lock",), "uv/"),
        (("fetch",), "tiny-1.0-py3-none-any.whl"),
    ],
    ids=["resolver", "pip-tools", "installer", "download"],
)
def test_an_index_that_never_answers_does_not_delay_the_end(
    room: Room, argv: tuple[str, ...], key: str, way: tuple[signal.Signals, bool]
) -> None:
    if argv[0] == "fetch":
        room.good("lock")
    before = room.snapshot()
    gate = Gate(room.index, key)
    try:
        done = strike(room, argv, gate.wait, way)
    finally:
        gate.opened.set()
    assert done.returncode == 1
    room.nothing_left(before)
    room.index.bend.clear()
    room.good(*argv)


def sleeping(room: Room) -> None:
    """Wait until the sleeper of a step or an entry sleeps somewhere, and its child too."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for path in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if not (path / "cmdline").read_bytes().endswith(room.project.encode() + MARK):
                    continue
                for child in (path / "task" / path.name / "children").read_text().split():
                    if Path(f"/proc/{child}/cmdline").read_bytes() == b"sleep\x00600\x00":
                        return
        time.sleep(0.05)
    raise AssertionError("the sleeper never slept")


MARK = b"'; time.sleep(600)\0"


def sleeper(room: Room) -> str:
    return (
        'run "python" "-c" "import subprocess, time; '
        f"subprocess.Popen(['sleep', '600']); name = '{room.project}'; time.sleep(600)\""
    )


@pytest.mark.parametrize(
    ("where", "way"), [("step", WAYS[0]), ("step", WAYS[1]), ("entry", WAYS[1])], ids=str
)
def test_local_while_code_of_the_repository_runs(
    room: Room, where: str, way: tuple[signal.Signals, bool], tmp_path: Path
) -> None:
    room.project = f"bad-{tmp_path.name.lower().replace('_', '-')[-30:]}-{os.getpid()}"
    if where == "step":
        room.write(more=f"step slow {{\n  {sleeper(room)}\n}}")
    else:
        room.write(entry=sleeper(room))

    def wait() -> None:
        sleeping(room)
        assert any("sleep 600" in line for line in processes_left(0)), "looked at in vain"

    done = strike(room, LOCAL, wait, way)
    assert done.returncode == 1
    whole(room)
    room.write()
    clear(room, "spec.lock")
    room.good(*LOCAL)


@pytest.mark.engine
@pytest.mark.parametrize(("where", "way"), [("step", WAYS[1]), ("entry", WAYS[0])], ids=str)
def test_docker_while_code_of_the_repository_runs(
    docker_room: Room,
    where: str,
    way: tuple[signal.Signals, bool],
) -> None:
    room = docker_room
    if where == "step":
        room.write(more=f"step slow {{\n  {sleeper(room)}\n}}")
    else:
        room.write(entry=sleeper(room))

    def wait() -> None:
        sleeping(room)
        assert len(containers_of(room.pids)) == (where == "entry"), "looked at in vain"

    done = strike(room, ("verify", "--engine", "docker"), wait, way)
    assert done.returncode == 1
    whole(room)


@pytest.mark.engine
def test_docker_verification_at_any_moment(docker_room: Room) -> None:
    room, argv = docker_room, ("verify", "--engine", "docker")
    stopped = 0
    for number, delay in enumerate(moments(room, argv, 6, "report.json")):
        # Another image each time, from the same layers.
        room.write(more=f'env {{\n  ROUND="{number}"\n}}')
        done = strike(room, argv, lambda: time.sleep(delay), WAYS[number % 3])  # noqa: B023
        stopped += done.returncode == 1
        whole(room)
    assert stopped >= 3
    room.good(*argv)
