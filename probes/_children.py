"""Run code under test as a child: bounded in time and output, and nothing of it survives.

A child leads a session of its own, gets pipes instead of our standard output, and inherits no
descriptor it was not given. Processes it leaves behind come back to us (we are their subreaper)
and are killed.
"""

from __future__ import annotations

import glob
import os
import selectors
import signal
import subprocess
import threading
import time
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

OUTPUT_LIMIT = 65536
CHANNEL = "@channel"  # stands in an argv for the number of the descriptor to report on
CHANNEL_LIMIT = 8 << 20
_POLL = 0.02
_GRACE = 0.5  # helpers that end with their parent (resource trackers) are not survivors
_CLEANUP = 5.0  # then the host's deadline and the sandbox's removal take over

_lock = threading.RLock()
_active: Set[int] = set()  # our direct children, which their own `run_child` reaps


class _Process(NamedTuple):
    state: str
    parent: int
    session: int


class _Tail:
    """The last ``limit`` bytes of a stream and how many there were."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.total = 0
        self.kept = bytearray()

    def add(self, data: bytes) -> None:
        self.total += len(data)
        self.kept += data
        if len(self.kept) > 2 * self.limit:
            del self.kept[: -self.limit or None]

    def data(self) -> bytes:
        return bytes(self.kept[-self.limit :]) if self.limit else b""


def run_child(
    argv: Sequence[str],
    env: Dict[str, str],
    cwd: Optional[str],
    seconds: float,
    output_limit: int = OUTPUT_LIMIT,
    *,
    exclusive: bool = True,
    stop: Optional[threading.Event] = None,
) -> Dict[str, Any]:
    """Run one program to its end, its deadline, or ``stop``, and clean up after it.

    An ``argv`` item equal to `CHANNEL` becomes the number of a pipe that the child may write
    to; what it wrote is returned as ``channel`` (bytes). ``exclusive`` False is for children
    that run side by side: re-parented processes are then left to `kill_stragglers`, since
    nobody can tell whose they are.

    Returns ``exit_code``, ``signal``, ``timed_out``, ``stopped`` (exactly one of them says how
    it ended: both numbers are null where we ended it), ``seconds``, ``stdout`` and ``stderr``
    (the last ``output_limit`` bytes as text), ``stdout_bytes`` and ``stderr_bytes`` (all there
    were), ``peak_rss_kb``, ``descendants_killed``, ``channel``, and ``start_error`` ({type,
    message} where the program could not be started).
    """
    read_end, write_end = os.pipe()
    words = [str(write_end) if word == CHANNEL else word for word in argv]
    began = time.monotonic()
    try:
        with _lock:
            process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=cwd,
                env=env,
                start_new_session=True,
                close_fds=True,
                pass_fds=(write_end,) if CHANNEL in argv else (),
            )
            _active.add(process.pid)
    except (OSError, ValueError) as exc:
        os.close(read_end)
        return _not_started(exc)
    finally:
        os.close(write_end)
    tails = {"stdout": _Tail(output_limit), "stderr": _Tail(output_limit)}
    tails["channel"] = _Tail(CHANNEL_LIMIT)
    with selectors.DefaultSelector() as selector:
        assert process.stdout is not None
        assert process.stderr is not None
        selector.register(process.stdout.fileno(), selectors.EVENT_READ, tails["stdout"])
        selector.register(process.stderr.fileno(), selectors.EVENT_READ, tails["stderr"])
        selector.register(read_end, selectors.EVENT_READ, tails["channel"])
        try:
            ended = _follow(process.pid, selector, began + seconds, stop)
            elapsed = time.monotonic() - began
        finally:  # also when a signal interrupts us: nothing may stay
            killed = _kill(process.pid, exclusive)
            _drain(selector, time.monotonic() + 1.0)
            status, usage = _reap(process)
            process.stdout.close()
            process.stderr.close()
            os.close(read_end)
    by_us = ended != "exited"
    return {
        "exit_code": os.WEXITSTATUS(status)
        if not by_us and status is not None and os.WIFEXITED(status)
        else None,
        "signal": os.WTERMSIG(status)
        if not by_us and status is not None and os.WIFSIGNALED(status)
        else None,
        "timed_out": ended == "timed out",
        "stopped": ended == "stopped",
        "seconds": round(elapsed, 3),
        "stdout": _text(tails["stdout"].data()),
        "stderr": _text(tails["stderr"].data()),
        "stdout_bytes": tails["stdout"].total,
        "stderr_bytes": tails["stderr"].total,
        "peak_rss_kb": usage,
        "descendants_killed": killed,
        "channel": tails["channel"].data(),
        "start_error": None,
    }


def kill_stragglers() -> int:
    """Kill every process below this one, whoever started it; how many there were."""
    return _kill(0, exclusive=True)


def _follow(
    pid: int,
    selector: selectors.BaseSelector,
    deadline: float,
    stop: Optional[threading.Event],
) -> str:
    """Read until the child is dead (left as a zombie, so that its ids stay taken)."""
    tidy = time.monotonic()
    while True:
        _read(selector, _POLL)
        now = time.monotonic()
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return "exited"
        if now >= deadline:
            return "timed out"
        if stop is not None and stop.is_set():
            return "stopped"
        if now - tidy > 1.0:
            _reap_orphans(_processes())
            tidy = now


def _read(selector: selectors.BaseSelector, timeout: float) -> bool:
    if not selector.get_map():
        time.sleep(timeout)
        return False
    ready = selector.select(timeout)
    for key, _ in ready:
        data = os.read(key.fd, 65536)
        if data:
            key.data.add(data)
        else:
            selector.unregister(key.fd)
    return bool(ready)


def _drain(selector: selectors.BaseSelector, deadline: float) -> None:
    while selector.get_map() and time.monotonic() < deadline:
        if not _read(selector, 0.05):
            return


def _kill(pid: int, exclusive: bool) -> int:
    """End the child ``pid`` (0: none) and what belongs to it; how many others were alive."""
    alive, _ = _look(pid, exclusive)
    patience = time.monotonic() + (_GRACE if pid else 0.0)
    while alive and pid not in alive and time.monotonic() < patience:
        time.sleep(_POLL)
        alive, _ = _look(pid, exclusive)
    survivors = set(alive) - {pid}
    deadline = time.monotonic() + _CLEANUP
    quiet = 0
    died: Dict[int, int] = {}
    while quiet < (2 if exclusive else 1) and time.monotonic() < deadline:
        # Stop first, then kill: what forks faster than we look must not outrun us.
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for victim in alive:
                _signal(victim, number)
        if exclusive:
            _strike()
        time.sleep(0 if died else _POLL)
        alive, died = _look(pid, exclusive)
        survivors |= set(alive) - {pid}
        survivors |= {p for p, s in died.items() if exclusive and s == signal.SIGKILL}
        quiet = 0 if alive or died else quiet + 1
    return len(survivors)


def _strike() -> None:
    """Kill our direct children the moment they are read.

    A process that forks and exits in a loop has another number in every look at ``/proc``. Its
    successor comes back to us each time, and this list is short enough to win the race. As
    process 1 of a namespace no race is needed: the kernel kills all others in one go.
    """
    if os.getpid() == 1:
        _signal(-1, signal.SIGKILL)
        return
    for listing in glob.glob("/proc/self/task/*/children"):
        try:
            with open(listing, "rb") as handle:
                for word in handle.read().split():
                    _signal(int(word), signal.SIGKILL)
        except OSError:
            continue  # that thread has ended


def _look(pid: int, exclusive: bool) -> Tuple[List[int], Dict[int, int]]:
    """The living that belong to ``pid``, and the dead orphans that were collected."""
    table = _processes()
    if not table and pid:  # no /proc to look at: the child's own group is all we know
        os.killpg(pid, signal.SIGKILL)
        return [], {}
    died = _reap_orphans(table)
    with _lock:
        others = _active - {pid} if pid else set()
    if exclusive:
        mine = _below(table, os.getpid(), others)
    else:
        mine = _below(table, pid, set()) | {pid}
        mine |= {other for other, entry in table.items() if entry.session == pid}
    return sorted(p for p in mine if p in table and table[p].state not in "ZX"), died


def _below(table: Dict[int, _Process], root: int, without: Set[int]) -> Set[int]:
    """All descendants of ``root``, leaving out the subtrees of ``without``."""
    offspring: Dict[int, List[int]] = {}
    for pid, entry in table.items():
        offspring.setdefault(entry.parent, []).append(pid)
    found: Set[int] = set()
    pending = [root]
    while pending:
        for pid in offspring.get(pending.pop(), ()):
            if pid not in without and pid not in found:
                found.add(pid)
                pending.append(pid)
    return found


def _processes() -> Dict[int, _Process]:
    table: Dict[int, _Process] = {}
    try:
        names = os.listdir("/proc")
    except OSError:
        return table
    for name in names:
        if not name.isdigit():
            continue
        try:
            with open("/proc/%s/stat" % name, "rb") as handle:
                fields = handle.read().rpartition(b")")[2].split()
        except OSError:
            continue  # it ended while we looked
        if len(fields) > 3:
            table[int(name)] = _Process(fields[0].decode(), int(fields[1]), int(fields[3]))
    return table


def _reap_orphans(table: Dict[int, _Process]) -> Dict[int, int]:
    """Collect the dead that came back to us, so that they do not fill the process limit.

    Their wait statuses: one that tells of SIGKILL was alive until we struck.
    """
    own = os.getpid()
    died: Dict[int, int] = {}
    for pid, entry in table.items():
        if entry.parent == own and entry.state in "ZX":
            with _lock:
                if pid not in _active:
                    try:
                        reaped, status = os.waitpid(pid, os.WNOHANG)
                        if reaped:
                            died[pid] = status
                    except ChildProcessError:
                        pass
    return died


def _reap(process: "subprocess.Popen[bytes]") -> Tuple[Optional[int], Optional[int]]:
    """Wait status and peak memory in KiB; (None, None) for what even SIGKILL did not end."""
    deadline = time.monotonic() + _CLEANUP
    while True:
        with _lock:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                _active.discard(process.pid)
        if pid:
            process.returncode = status  # Popen must not wait for it again
            return status, usage.ru_maxrss
        if time.monotonic() >= deadline:
            process.returncode = -signal.SIGKILL
            return None, None
        _signal(process.pid, signal.SIGKILL)
        time.sleep(_POLL)


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        pass  # gone already, or another user's: the sandbox's removal ends those


def _text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")


def _not_started(exc: Exception) -> Dict[str, Any]:
    nothing: Dict[str, Any] = dict.fromkeys(("exit_code", "signal", "peak_rss_kb"))
    nothing.update(dict.fromkeys(("timed_out", "stopped"), False), channel=b"", seconds=0.0)
    nothing.update(dict.fromkeys(("stdout_bytes", "stderr_bytes", "descendants_killed"), 0))
    message = str(exc).encode("utf-8", "backslashreplace").decode()
    error = {"type": type(exc).__name__, "message": message}
    return {**nothing, "stdout": "", "stderr": "", "start_error": error}
