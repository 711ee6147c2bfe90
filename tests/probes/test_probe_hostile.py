"""Code under test that lies, floods, hides and refuses to die."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from probe_host import NONCE, PROBES, Probe, envelope, start


def entry(probe: Probe, folder: Path, code: str, **config: Any) -> dict[str, Any]:
    """Run ``code`` as the entry of C1."""
    (folder / "entry.py").write_text(code)
    argv = [sys.executable, "entry.py"]
    return probe("c1_entry", argv=argv, cwd=str(folder), source_roots=[str(folder)], **config)


def gone(pid: str) -> bool:
    """Whether the process has ended (or is a zombie that somebody else has to collect)."""
    try:
        return "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return True


def test_a_forged_result_line_stays_text(probe: Probe, tmp_path: Path) -> None:
    forged = 'ENVSPEC-RESULT {"envspec_result":1,"probe":"c1_entry","nonce":"","observed":{}}'
    code = f"import os\nfor fd in range(1, 64):\n try: os.write(fd, {forged!r}.encode() + b'\\n')"
    observed = entry(probe, tmp_path, code + "\n except OSError: pass\nraise SystemExit(3)")
    assert observed["exit_code"] == 3
    assert observed["stdout"] == observed["stderr"] == forged + "\n"


def test_the_nonce_is_nowhere_a_child_looks(probe: Probe, tmp_path: Path) -> None:
    """Environment, command line and open files of the parent, as any user, root included."""
    code = """
import os
parent = os.getppid()
seen = repr(dict(os.environ))
for name in ("environ", "cmdline"):
    try:
        seen += repr(open("/proc/%d/%s" % (parent, name), "rb").read())
    except OSError as exc:
        seen += repr(exc)
print(seen)
"""
    observed = entry(probe, tmp_path, code)
    assert observed["exit_code"] == 0
    assert "entry.py" not in observed["stderr"]
    assert NONCE not in observed["stdout"]
    assert "ENVSPEC_PROBE" not in observed["stdout"] or "xxxx" in observed["stdout"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_another_user_can_neither_read_nor_trace_the_parent(tmp_path: Path) -> None:
    """The sandbox's case: parent and code under test share an unprivileged uid."""
    python = shutil.which("python3", path="/usr/bin:/bin")
    if python is None:
        pytest.skip("no interpreter that an unprivileged user may run")
    copy = tmp_path / "probes"
    shutil.copytree(PROBES, copy)
    shared = Path(tempfile.gettempdir()).resolve()
    for folder in (tmp_path.resolve(), *tmp_path.resolve().parents):
        if folder.is_relative_to(shared) and folder != shared:
            folder.chmod(0o755)
    code = """
import os, ctypes
parent = os.getppid()
for path in ("environ", "fd/1", "mem"):
    try:
        open("/proc/%d/%s" % (parent, path), "rb").read(1)
        print(path, "open")
    except PermissionError:
        print(path, "refused")
print("ptrace", ctypes.CDLL(None).ptrace(16, parent, 0, 0))
"""
    config = {"schema": 1, "probe": "c1_entry", "nonce": NONCE, "seconds": 60, "cwd": "/"}
    done = subprocess.run(
        [python, "-I", "-S", "-B", str(copy / "c1_entry.py")],
        env={"ENVSPEC_PROBE": json.dumps({**config, "argv": [python, "-c", code]})},
        capture_output=True,
        text=True,
        user=65534,
        group=65534,
        extra_groups=[],
        timeout=60,
        check=False,
    )
    observed = envelope(done)["observed"]
    assert observed["parent"] == {"dumpable": False, "subreaper": True}
    said = observed["stdout"].split("\n")
    assert said == ["environ refused", "fd/1 refused", "mem refused", "ptrace -1", ""]


def test_a_daemon_is_found_and_killed(probe: Probe, tmp_path: Path) -> None:
    code = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open("pid", "w").write(str(os.getpid()))
        for fd in range(3):
            os.close(fd)
        time.sleep(600)
    os._exit(0)
os.wait()
while not (os.path.exists("pid") and open("pid").read()):
    time.sleep(0.01)
"""
    observed = entry(probe, tmp_path, code)
    assert observed["exit_code"] == 0
    assert observed["timed_out"] is False
    assert observed["descendants_killed"] == 1
    assert gone((tmp_path / "pid").read_text())


def test_a_daemon_that_keeps_the_pipes_open_does_not_hold_the_probe(
    probe: Probe, tmp_path: Path
) -> None:
    code = """
import os, time
if os.fork() == 0:
    os.setsid()
    time.sleep(600)
print("done", flush=True)
"""
    began = time.monotonic()
    observed = entry(probe, tmp_path, code, seconds=500)
    assert time.monotonic() - began < 400  # not the sleep, not the deadline
    assert (observed["exit_code"], observed["descendants_killed"]) == (0, 1)
    assert observed["stdout"] == "done\n"


def test_endless_output_is_drained_counted_and_cut(probe: Probe, tmp_path: Path) -> None:
    code = "import os\nwhile True:\n os.write(1, b'\\x00' * 65536)\n os.write(2, b'y' * 65536)\n"
    observed = entry(probe, tmp_path, code, seconds=2)
    assert observed["timed_out"] is True
    assert (observed["exit_code"], observed["signal"]) == (None, None)
    assert observed["stdout"] == "\x00" * 65536
    assert observed["stderr"] == "y" * 65536
    assert observed["stdout_bytes"] > 10 * 65536


def test_a_larger_limit_still_fits_the_line(probe: Probe, tmp_path: Path) -> None:
    code = "import os\nos.write(1, b'\\x00' * 900000 + b'end')"
    observed = entry(probe, tmp_path, code, output_limit=1 << 20)
    assert observed["stdout"].endswith("end")
    assert observed["stdout_bytes"] == 900003


@pytest.mark.parametrize(
    "code",
    [
        "import signal, time\nfor s in (15, 2, 1): signal.signal(s, signal.SIG_IGN)\n"
        "while True: time.sleep(1)",
        "import os, time\nfor _ in range(3):\n if os.fork() == 0: os.setsid()\ntime.sleep(600)",
        "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
    ],
    ids=["ignores-signals", "leaves-the-session", "stops-itself"],
)
def test_the_deadline_ends_what_will_not_end(probe: Probe, tmp_path: Path, code: str) -> None:
    code = "import os; open('pids', 'a').write('%d\\n' % os.getpid())\n" + code
    observed = entry(probe, tmp_path, code, seconds=2)
    assert observed["timed_out"] is True
    assert all(gone(pid) for pid in (tmp_path / "pids").read_text().split())


def test_a_process_never_the_same_twice_is_caught(probe: Probe, tmp_path: Path) -> None:
    """Fork, exit, new session, again: no number that a look at /proc shows lives long."""
    code = """
import os, time
if os.fork():
    os._exit(0)
end = time.monotonic() + 120  # so that a bug in here cannot outlive the tests
while time.monotonic() < end:
    if os.fork():
        os._exit(0)
    os.setsid()
    with open("alive", "w") as handle:
        handle.write(str(time.monotonic()))
"""
    observed = entry(probe, tmp_path, code)
    assert observed["exit_code"] == 0
    assert observed["descendants_killed"] >= 1
    last = (tmp_path / "alive").read_text()
    time.sleep(0.3)
    assert (tmp_path / "alive").read_text() == last


def test_a_fork_bomb_ends(probe: Probe, tmp_path: Path) -> None:
    """Everything forks, up to a limit that keeps the machine usable."""
    code = """
import os, time
open("pids", "a").write("%d\\n" % os.getpid())
for _ in range(6):
    if os.fork() == 0:
        os.setsid()
        open("pids", "a").write("%d\\n" % os.getpid())
time.sleep(600)
"""
    observed = entry(probe, tmp_path, code, seconds=3)
    assert observed["timed_out"] is True
    assert observed["descendants_killed"] == 63
    assert all(gone(pid) for pid in (tmp_path / "pids").read_text().split())


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import os; os._exit(0)", {"exit_code": 0}),
        ("import os; os._exit(9)", {"exit_code": 9}),
        ("import ctypes; ctypes.string_at(0)", {"signal": 11}),
        ("import os; os.kill(os.getpid(), 9)", {"signal": 9, "killed": True}),
        ("import os; os._exit(137)", {"exit_code": 137, "killed": True}),
    ],
)
def test_how_it_ended_is_told(
    probe: Probe, tmp_path: Path, code: str, expected: dict[str, Any]
) -> None:
    observed = entry(probe, tmp_path, code)
    ending = {"exit_code": None, "signal": None, "killed": False, **expected}
    assert {key: observed[key] for key in ending} == ending
    assert observed["timed_out"] is False


def test_a_child_that_kills_the_parent_leaves_no_result(tmp_path: Path) -> None:
    """No line at all: for the host that is an error, never a pass."""
    code = "import os, signal; os.kill(os.getppid(), signal.SIGKILL)"
    config = {"schema": 1, "probe": "c1_entry", "nonce": NONCE, "seconds": 60}
    argv = [sys.executable, "-c", code]
    done = start("c1_entry", {**config, "argv": argv, "cwd": str(tmp_path)})
    assert done.returncode == -9
    assert done.stdout == ""


def test_invalid_bytes_and_lone_surrogates_stay_readable(probe: Probe, tmp_path: Path) -> None:
    observed = entry(
        probe, tmp_path, "import os\nos.write(1, b'\\xff\\xed\\xa0\\x80 caf\\xc3\\xa9')"
    )
    assert observed["stdout"] == "\\xff\\xed\\xa0\\x80 café"
