"""Runs of the local engine, in every way of isolation that this machine allows."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from local_room import Room, python

from envspec.build import isolate
from envspec.build.local import LocalEngine
from envspec.build.protocol import Built, Completed, Invocation, Limits, Mount


@pytest.fixture
def built(shared: tuple[Room, Built]) -> Built:
    return shared[1]


def alone(engine: LocalEngine) -> bool:
    return engine.info().isolation.startswith(("bwrap", "namespaces"))


def test_streams_come_apart_with_the_exit_code(engine: LocalEngine, built: Built) -> None:
    done = python(
        engine, built, "import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)"
    )
    assert (done.exit_code, done.signal, done.timed_out) == (7, None, False)
    assert (done.stdout, done.stderr, done.truncated) == (b"out\n", b"err\n", False)


def test_death_by_signal(engine: LocalEngine, built: Built) -> None:
    done = python(engine, built, "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    assert (done.exit_code, done.signal) == (None, signal.SIGSEGV)


def test_program_that_is_not_there(engine: LocalEngine, built: Built) -> None:
    done = engine.run(built, Invocation(("no-such",), (), "/opt/src", (), 10), Limits())
    assert done.exit_code == 127
    assert b"no-such" in done.stderr


def test_environment_is_the_plans_and_the_callers_alone(
    engine: LocalEngine, built: Built, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_HOST", "1")
    program = "import os, json, tempfile; print(sorted(os.environ)); print(tempfile.gettempdir())"
    done = python(engine, built, program, environment=(("GREETING", "bye"), ("MINE", "/opt/env/x")))
    names = eval(done.stdout.splitlines()[0])
    assert set(names) - {"PWD", "LC_CTYPE"} == {
        *("CUDA_VISIBLE_DEVICES", "DATA", "GREETING", "HOME", "LANG", "MINE"),
        *("PATH", "PYTHONPATH", "TMPDIR"),
    }
    shown = python(
        engine,
        built,
        "import os; print(os.environ['GREETING'], os.environ['MINE'])",
        environment=(("GREETING", "bye"), ("MINE", "/opt/env/x")),
    )
    assert shown.stdout.decode() == f"bye {built.reference}/env/x\n"


def test_mounts_are_found_by_their_logical_paths(
    engine: LocalEngine, built: Built, tmp_path: Path
) -> None:
    shown = tmp_path / "shown"
    shown.mkdir()
    (shown / "file").write_text("mounted")
    done = python(
        engine,
        built,
        "import os, sys; print(open(sys.argv[1]).read(), open(os.environ['AT']).read())",
        "/opt/envspec/probes/file",
        mounts=(Mount(shown, "/opt/envspec/probes"),),
        environment=(("AT", "/opt/envspec/probes/file"),),
    )
    assert done.stdout == b"mounted mounted\n", done.stderr


def test_only_a_writable_mount_can_be_written(
    engine: LocalEngine, built: Built, tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine").chmod(0o777)
    program = "import os, sys; open(sys.argv[1] + '/new', 'w').write('x'); print(os.getuid())"
    mount = Mount(tmp_path / "mine", "/opt/envspec/mine", writable=True)
    done = python(engine, built, program, "/opt/envspec/mine", mounts=(mount,))
    assert (tmp_path / "mine" / "new").read_text() == "x", done.stderr
    if engine.info().isolation.startswith("bwrap"):
        (tmp_path / "mine" / "new").unlink()
        assert done.stdout != b"0\n"
        again = mount._replace(writable=False)
        done = python(engine, built, program, "/opt/envspec/mine", mounts=(again,))
        assert b"Read-only file system" in done.stderr


def test_scratch_can_be_written_and_is_gone_afterwards(
    engine: LocalEngine, built: Built, shared: tuple[Room, Built]
) -> None:
    program = (
        "import os, shutil, subprocess, sys\n"
        "shutil.copy('/bin/true', sys.argv[1]); subprocess.run([sys.argv[1]], check=True)\n"
        "open(os.path.expanduser('~/left'), 'w').write('x'); print(os.environ['HOME'])"
    )
    done = python(engine, built, program, "/tmp/true")
    assert done.exit_code == 0, done.stderr
    home = done.stdout.decode().strip()
    assert not (Path(home) / "left").exists()
    assert not list(shared[0].cache.glob("runs/*"))


def test_sigterm_proof_family_ends_at_the_deadline(engine: LocalEngine, built: Built) -> None:
    mark = f"stubborn-{time.time_ns()}"
    program = (
        "import os, signal, sys, time\n"
        "for n in (1, 2, 15): signal.signal(n, signal.SIG_IGN)\n"
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0: os.setsid()\n"
        "print('ready', flush=True)\ntime.sleep(600)"
    )
    done = python(engine, built, program, mark, seconds=2)
    assert done.timed_out
    assert (done.exit_code, done.signal) == (None, None)
    assert b"ready" in done.stdout
    assert not _running(mark)


def test_daemons_die_with_the_program(engine: LocalEngine, built: Built) -> None:
    mark = f"daemon-{time.time_ns()}"
    program = (
        "import os, sys, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        os.setsid(); time.sleep(600)\n"
        "    os._exit(0)\n"
        "os.wait(); print('done')"
    )
    done = python(engine, built, program, mark)
    assert (done.exit_code, done.stdout) == (0, b"done\n")
    assert not _running(mark)


def test_endless_output_is_bounded_and_its_end_is_kept(engine: LocalEngine, built: Built) -> None:
    program = (
        "import os, time\nend = time.monotonic() + 1\n"
        "while time.monotonic() < end: os.write(1, b'x' * 65536)\n"
        "os.write(1, b'LAST'); os.write(2, b'short')"
    )
    done = python(engine, built, program, limits=Limits(output=10_000))
    assert done.exit_code == 0
    assert done.truncated
    assert len(done.stdout) == 10_000
    assert done.stdout.endswith(b"xLAST")
    assert done.stderr == b"short"


def test_fork_bomb_is_stopped(engine: LocalEngine, built: Built) -> None:
    mark = f"bomb-{time.time_ns()}"
    program = (
        "import os, time\nfor n in range(200):\n    if os.fork() == 0: time.sleep(600)\n"
        "time.sleep(600)"
    )
    done = python(engine, built, program, mark, seconds=30, limits=Limits(processes=50))
    assert done.signal == signal.SIGKILL or b"BlockingIOError" in done.stderr
    assert not _running(mark)


def test_memory_is_bounded(engine: LocalEngine, built: Built) -> None:
    program = "import time\nkept = bytearray(b'1' * (300 << 20))\ntime.sleep(600)"
    done = python(engine, built, program, seconds=60, limits=Limits(memory=100 << 20))
    assert done.out_of_memory
    assert (done.signal, done.timed_out) == (signal.SIGKILL, False)


@pytest.mark.parametrize(
    "attempt",
    [
        pytest.param("resource.setrlimit(resource.RLIMIT_CORE, (1, 1))", id="core"),
        pytest.param("[open('/dev/null') for _ in range(600)]", id="files"),
        pytest.param("os.posix_fallocate(os.open(sys.argv[1], 66), 0, 1 << 30)", id="size"),
        pytest.param(
            "subprocess.run(['mount', '-t', 'tmpfs', 'x', '/mnt'], check=True)", id="mount"
        ),
    ],
)
def test_refused_everywhere(engine: LocalEngine, built: Built, attempt: str) -> None:
    done = _attempt(engine, built, attempt)
    assert done.stdout.startswith(b"refused"), (done.stdout, done.stderr)


@pytest.mark.parametrize(
    "attempt",
    [
        pytest.param("socket.create_connection(('192.0.2.1', 80), 3)", id="connect"),
        pytest.param("os.kill(int(sys.argv[2]), 0)", id="signal-the-host"),
    ],
)
def test_refused_in_namespaces(engine: LocalEngine, built: Built, attempt: str) -> None:
    if not alone(engine):
        pytest.skip("a child process shares network and processes: the report says so")
    done = _attempt(engine, built, attempt)
    assert done.stdout.startswith(b"refused"), (done.stdout, done.stderr)


@pytest.mark.parametrize(
    "attempt",
    [
        pytest.param("open('/opt/new', 'w')", id="write-opt"),
        pytest.param("open('/usr/new', 'w')", id="write-usr"),
        pytest.param(
            "open('/opt/src/new'.replace('/opt/src', os.getcwd()), 'w')", id="write-prefix"
        ),
        pytest.param("os.setuid(0)", id="setuid"),
        pytest.param("open('/etc/shadow')", id="shadow"),
        pytest.param("os.listdir('/run')[0:1][0]", id="sockets-of-services"),
        pytest.param("os.stat(sys.argv[3])", id="home"),
    ],
)
def test_refused_by_bwrap(
    engine: LocalEngine, built: Built, attempt: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if not engine.info().isolation.startswith("bwrap"):
        pytest.skip("only bwrap hides and protects the machine's files: the report says so")
    if os.geteuid() == 0 and attempt == "os.setuid(0)":
        assert python(engine, built, "import os; print(os.getuid())").stdout == b"65534\n"
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "secret").write_text("mine")
    done = _attempt(engine, built, attempt, str(tmp_path / "secret"))
    assert done.stdout.startswith(b"refused"), (done.stdout, done.stderr)


def test_network_is_there_only_where_asked_for(engine: LocalEngine, built: Built) -> None:
    program = "print([line.split(':')[0].strip() for line in open('/proc/net/dev') if ':' in line])"
    host = sorted(path.name for path in Path("/sys/class/net").iterdir())
    argv = ("python", "-c", program)
    for network in (False, True):
        done = engine.run(
            built, Invocation(argv, (), "/opt/src", (), 60, network=network), Limits()
        )
        expected = ["lo"] if alone(engine) and not network else host
        assert sorted(eval(done.stdout)) == expected, done.stderr


def test_root_has_no_powers(engine: LocalEngine, built: Built) -> None:
    program = (
        "status = open('/proc/self/status').read()\n"
        "print(*(status.split(name)[1].split()[0] for name in ('CapEff:', 'NoNewPrivs:')))"
    )
    assert python(engine, built, program).stdout == b"0000000000000000 1\n"


def test_loopback_works_without_a_network(engine: LocalEngine, built: Built) -> None:
    program = (
        "import socket; s = socket.create_server(('127.0.0.1', 0));"
        "socket.create_connection(s.getsockname()); print('connected')"
    )
    assert python(engine, built, program).stdout == b"connected\n"


def test_weaknesses_are_said(shared: tuple[Room, Built]) -> None:
    for way in (isolate.BWRAP, isolate.NAMESPACES, isolate.CHILD):
        info = shared[0].engine(way).info()
        assert info.name == "local"
        assert "there is no image" in info.weaknesses[0]
        assert any("watched" in sentence for sentence in info.weaknesses)
    assert any("have the network" in sentence for sentence in info.weaknesses)


def test_without_bwrap_the_next_way_is_taken(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert isolate.strongest() in {isolate.NAMESPACES, isolate.CHILD}


def test_bwrap_that_does_not_work_is_not_taken(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "bwrap").write_text("#!/bin/sh\necho 'bwrap: No permissions' >&2\nexit 1\n")
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert isolate.strongest() in {isolate.NAMESPACES, isolate.CHILD}


RUNNER = """
import sys
from pathlib import Path
from envspec.build.local import LocalEngine
from envspec.build.protocol import Built, Invocation, Limits
cache, reference, isolation, mark = sys.argv[1:]
roots = (("/opt/env", reference + "/env"), ("/opt/src", reference + "/src"))
argv = ("python", "-c", "import time; time.sleep(600)", mark)
try:
    LocalEngine(Path(cache), isolation).run(
        Built(reference, "", True, "", roots, 0, None),
        Invocation(argv, (), "/opt/src", (), 600), Limits())
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_program_dies_with_envspec(
    engine: LocalEngine, built: Built, shared: tuple[Room, Built], number: signal.Signals
) -> None:
    way = engine.info().isolation.split(":")[0].replace("child process", "child")
    mark = f"orphan-{time.time_ns()}"
    cache = shared[0].cache
    arguments = [str(cache), built.reference, way, mark]
    process = subprocess.Popen([sys.executable, "-c", RUNNER, *arguments])
    watchdog = threading.Timer(60, process.kill)
    watchdog.start()
    try:
        _wait_for(lambda: _running(mark))
        process.send_signal(number)
        code = process.wait(30)
    finally:
        process.kill()
        watchdog.cancel()
    assert code == (-9 if number == signal.SIGKILL else 130)
    _wait_for(lambda: not _running(mark))
    if number == signal.SIGKILL and way != isolate.BWRAP:
        assert len(list(cache.glob("runs/*"))) == 1
        assert engine.sweep() == 1
    assert not list(cache.glob("runs/*"))


def _attempt(engine: LocalEngine, built: Built, attempt: str, *more: str) -> Completed:
    program = (
        "import os, resource, socket, subprocess, sys\n"
        f"try:\n    kept = {attempt}\n"
        "except (OSError, ValueError, LookupError, subprocess.CalledProcessError) as error:\n"
        "    print('refused', error)\nelse:\n    print('done')"
    )
    limits = Limits(open_files=512, scratch=64 << 20)
    return python(engine, built, program, "/tmp/big", str(os.getpid()), *more, limits=limits)


def _wait_for(condition) -> None:
    for _ in range(200):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError("it never came")


def _running(mark: str) -> list[str]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if mark in command and "LocalEngine" not in command:
            found.append(command)
    return found
