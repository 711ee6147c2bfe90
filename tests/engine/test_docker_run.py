"""The sandbox: what a program in it cannot do, and that nothing is left of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from docker_room import TEST_IMAGE, docker

from envspec.build.container import EXPIRES, OWNER, RUN
from envspec.build.docker import DockerEngine
from envspec.build.owner import Owner
from envspec.build.protocol import Built, Completed, Invocation, Limits, Mount

pytestmark = pytest.mark.engine

PYTHON = "python3.11"


def invoke(*argv: str, seconds: float = 60, mounts: tuple[Mount, ...] = ()) -> Invocation:
    return Invocation(argv, (("HOME", "/tmp"),), "/", mounts, seconds)


def code(text: str, seconds: float = 60) -> Invocation:
    return invoke(PYTHON, "-c", text, seconds=seconds)


@pytest.fixture
def run(docker_engine: DockerEngine, built: Built):
    def go(invocation: Invocation, limits: Limits | None = None) -> Completed:
        completed = docker_engine.run(built, invocation, limits or Limits(memory=512 << 20))
        assert not _ours(), "a container was left behind"
        return completed

    return go


def _ours(pid: int | None = None, *, running: bool = False) -> list[str]:
    """Containers of a process, this one by default; others may use the same engine."""
    owner = Owner.current()._replace(pid=pid or os.getpid())
    which = "status=running" if running else f"label={RUN}"
    listed = docker(
        "ps", "--all", "--filter", which, "--format", '{{.ID}} {{.Label "' + OWNER + '"}}'
    )
    wanted = f"{owner.place}/{owner.pid}/"
    return [line.split()[0] for line in listed.splitlines() if wanted in line]


def test_streams_come_apart_with_the_exit_code(run) -> None:
    done = run(code("import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)"))
    assert (done.exit_code, done.signal, done.timed_out) == (7, None, False)
    assert (done.stdout, done.stderr, done.truncated) == (b"out\n", b"err\n", False)


def test_death_by_signal(run) -> None:
    done = run(invoke("sh", "-c", "sh -c 'kill -SEGV $$'; exit $?"))
    assert (done.exit_code, done.signal) == (None, signal.SIGSEGV)


def test_program_that_is_not_there(run) -> None:
    done = run(invoke("no-such-program"))
    assert done.exit_code == 127
    assert b"no-such-program" in done.stderr


def test_image_environment_holds_and_the_callers_is_added(run) -> None:
    done = run(code("import os; print(os.environ['PATH'], os.environ['HOME'])"))
    assert done.stdout.startswith(b"/opt/env/bin:")
    assert done.stdout.endswith(b" /tmp\n")


def test_sigterm_proof_program_ends_at_the_deadline(run) -> None:
    stubborn = (
        "import os, signal, time\n"
        "for n in (1, 2, 15): signal.signal(n, signal.SIG_IGN)\n"
        "os.fork()\nprint('ready', flush=True)\ntime.sleep(600)"
    )
    done = run(code(stubborn, seconds=3))
    assert done.timed_out
    assert (done.exit_code, done.signal) == (None, None)
    assert b"ready" in done.stdout


def test_endless_output_is_bounded_and_its_end_is_kept(run) -> None:
    endless = (
        "import os, sys, time\nend = time.monotonic() + 2\n"
        "while time.monotonic() < end: os.write(1, b'x' * 65536)\n"
        "os.write(1, b'LAST'); os.write(2, b'short')"
    )
    done = run(code(endless), Limits(memory=512 << 20, output=10_000))
    assert done.exit_code == 0
    assert done.truncated
    assert len(done.stdout) == 10_000
    assert done.stdout.endswith(b"xLAST")
    assert done.stderr == b"short"


def test_endless_output_meets_the_deadline(run) -> None:
    done = run(invoke("yes", seconds=3), Limits(memory=512 << 20, output=1000))
    assert done.timed_out
    assert len(done.stdout) == 1000


@pytest.mark.parametrize(
    "attempt",
    [
        pytest.param("socket.create_connection(('192.0.2.1', 80), 3)", id="connect"),
        pytest.param("socket.getaddrinfo('example.org', 80)", id="resolve"),
        pytest.param("open('/made.txt', 'w')", id="write-root"),
        pytest.param("open('/opt/new', 'w')", id="write-opt"),
        pytest.param("open('/mounted', 'a').write('x')", id="write-mount"),
        pytest.param("os.setuid(0)", id="setuid"),
        pytest.param("os.mknod('/tmp/disk', 0o60600, os.makedev(254, 0))", id="device"),
        pytest.param(
            "subprocess.run(['mount', '-t', 'tmpfs', 'x', '/mnt'], check=True)", id="mount"
        ),
        pytest.param("open('/proc/sysrq-trigger', 'w').write('h')", id="sysrq"),
        pytest.param("resource.setrlimit(resource.RLIMIT_CORE, (1, 1))", id="core"),
        pytest.param("[open('/dev/null') for _ in range(600)]", id="files"),
        pytest.param("os.posix_fallocate(os.open('/tmp/big', 66), 0, 1 << 30)", id="scratch"),
    ],
)
def test_refused(docker_engine: DockerEngine, built: Built, tmp_path: Path, attempt: str) -> None:
    shown = tmp_path / "shown"
    shown.write_text("shown\n")
    program = (
        "import os, resource, socket, subprocess, sys\n"
        f"try:\n    kept = {attempt}\n"
        "except (OSError, ValueError, subprocess.CalledProcessError) as error:\n"
        "    print('refused', error)\nelse:\n    print('done')"
    )
    limits = Limits(memory=512 << 20, open_files=512, scratch=64 << 20)
    mounts = (Mount(shown, "/mounted"),)
    done = docker_engine.run(built, invoke(PYTHON, "-c", program, mounts=mounts), limits)
    assert done.stdout.startswith(b"refused"), (done.stdout, done.stderr)
    assert shown.read_text() == "shown\n"


def test_what_a_program_does_have(
    docker_engine: DockerEngine, built: Built, tmp_path: Path
) -> None:
    (tmp_path / "shown").mkdir()
    (tmp_path / "shown" / "file").write_text("mounted")
    program = (
        "import os, shutil, socket, subprocess\n"
        "shutil.copy('/bin/true', '/tmp/true'); subprocess.run(['/tmp/true'], check=True)\n"
        "s = socket.create_server(('127.0.0.1', 0)); socket.create_connection(s.getsockname())\n"
        "print(os.getuid(), os.getgid(), open('/shown/file').read(), os.getcwd(),\n"
        "      shutil.disk_usage('/dev/shm').total >> 20, os.environ['NAMED'])\n"
        "status = open('/proc/self/status').read()\n"
        "names = ('CapEff:', 'CapBnd:', 'Seccomp:')\n"
        "print(*(status.split(name)[1].split()[0] for name in names))\n"
        "print([line.split(':')[0].strip() for line in open('/proc/net/dev') if ':' in line])"
    )
    invocation = Invocation(
        (PYTHON, "-c", program),
        (("NAMED", "a b=c"),),
        "/opt",
        (Mount(tmp_path / "shown", "/shown"),),
        60,
    )
    done = docker_engine.run(built, invocation, Limits(shared_memory=1 << 30))
    assert done.stdout.decode().splitlines() == [
        "65534 65534 mounted /opt 1024 a b=c",
        "0000000000000000 0000000000000000 2",
        "['lo']",
    ], done.stderr


def test_fork_bomb_is_bounded(run) -> None:
    bomb = "import os\nn = 0\ntry:\n    while os.fork() >= 0: n += 1\nexcept OSError: os._exit(3)"
    done = run(code(bomb, seconds=20), Limits(memory=512 << 20, processes=64))
    assert done.exit_code == 3 or done.timed_out


def test_memory_is_bounded(run) -> None:
    done = run(
        code("kept = [bytes([1]) * (1 << 20) for _ in range(4096)]"), Limits(memory=64 << 20)
    )
    assert done.out_of_memory
    assert done.signal == signal.SIGKILL


RUNNER = """
import sys
sys.path.insert(0, sys.argv[1])
from docker_room import TEST_IMAGE
from envspec.build.docker import DockerEngine
from envspec.build.protocol import Built, Invocation, Limits
argv = ("sleep", "600")
try:
    DockerEngine.connect(TEST_IMAGE).run(
        Built(sys.argv[2], "", True, "", (), 0, None), Invocation(argv, (), "/", (), 600), Limits())
except KeyboardInterrupt:
    sys.exit(130)
"""


def _start_runner(built: Built) -> tuple[subprocess.Popen[bytes], str]:
    """A separate process with a long run of its own, and the id of its running container."""
    here = str(Path(__file__).parent)
    process = subprocess.Popen([sys.executable, "-c", RUNNER, here, built.reference])
    for _ in range(300):
        for container in _ours(process.pid, running=True):
            return process, container
        assert process.poll() is None
        time.sleep(0.1)
    process.kill()
    raise AssertionError("the run did not start")


def test_killed_runner_leaves_a_container_that_the_sweep_takes(
    docker_engine: DockerEngine, built: Built
) -> None:
    alive, kept = _start_runner(built)
    killed, orphan = _start_runner(built)
    killed.kill()
    killed.wait()
    # A verify of another test may sweep at any moment, so it is not told who took the orphan.
    assert _ours(killed.pid) in ([orphan], [])
    docker_engine.sweep()
    assert not _ours(killed.pid)
    assert _ours(alive.pid) == [kept], "a run whose process lives is not swept"
    alive.send_signal(signal.SIGINT)
    assert alive.wait(30) == 130
    assert not _ours(alive.pid)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_run_leaves_nothing(built: Built, number: signal.Signals) -> None:
    process, _ = _start_runner(built)
    process.send_signal(number)
    assert process.wait(30) == 130
    assert not _ours(process.pid)


def test_container_of_an_unseen_owner_is_swept_once_it_has_expired(
    docker_engine: DockerEngine, built: Built
) -> None:
    for expires, removed in ((int(time.time()) + 600, False), (int(time.time()) - 1, True)):
        labels = {RUN: "x", OWNER: "elsewhere/1/1", EXPIRES: str(expires)}
        options = [
            text for name, value in labels.items() for text in ("--label", f"{name}={value}")
        ]
        container = docker("create", *options, built.reference, "true")
        docker_engine.sweep()
        assert (container not in docker("ps", "-aq", "--no-trunc")) == removed
        if not removed:
            docker("rm", container)


def test_two_runs_at_once(docker_engine: DockerEngine, built: Built) -> None:
    results: dict[str, Completed] = {}

    def go(name: str) -> None:
        invocation = code(f"import time; time.sleep(0.5); print({name!r})")
        results[name] = docker_engine.run(built, invocation, Limits())

    threads = [threading.Thread(target=go, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {name: done.stdout for name, done in results.items()} == {
        "one": b"one\n",
        "two": b"two\n",
    }
    assert not _ours()


def test_missing_mount_source_is_said(docker_engine: DockerEngine, built: Built) -> None:
    from envspec.diagnostics import DiagnosticError

    gone = (Mount(Path("/no/such/folder"), "/shown"),)
    with pytest.raises(DiagnosticError) as caught:
        docker_engine.run(built, invoke("true", mounts=gone), Limits())
    assert caught.value.diagnostics[0].code == "E0701"
    assert "/no/such/folder" in caught.value.diagnostics[0].excerpt[0]
    assert not _ours()


def test_info_says_what_replaces_the_base(docker_engine: DockerEngine) -> None:
    info = docker_engine.info()
    assert info.name == "docker"
    assert info.version.startswith("Docker ")
    assert any(TEST_IMAGE in sentence for sentence in info.weaknesses)
