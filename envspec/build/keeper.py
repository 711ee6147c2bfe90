"""A program: runs one command and lets nothing of it outlive the run. Stdlib only.

Started by `envspec.build.supervise`, with an order (one JSON line) on its standard input, which
then stays open: when it closes, because the deadline passed or because EnvSpec itself died,
every descendant is killed. Being the subreaper of them all, it also finds those that left their
session or lost their parent. It watches memory and the number of tasks, kills what goes past
them, and ends with one JSON line on the report descriptor.

With ``namespaces`` in the order it puts the command into a network, pid and ipc namespace of
its own, which needs no program on the machine.
"""

# This starts at every run: pathlib alone would double its start-up time.
# ruff: noqa: PTH110, PTH123, PTH208

from __future__ import annotations

import ctypes
import fcntl
import json
import math
import os
import resource
import select
import signal
import socket
import struct
import sys
import time
from contextlib import suppress

POLL_SECONDS = 0.1
KILL_SECONDS = 5.0
_PAGE = resource.getpagesize()

_PR_SET_PDEATHSIG, _PR_CAPBSET_DROP, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 24, 36, 38
_NEW_MOUNTS, _NEW_IPC, _NEW_USER, _NEW_PID, _NEW_NET = (
    0x20000,
    0x8000000,
    0x10000000,
    0x20000000,
    0x40000000,
)
_MS_REC, _MS_PRIVATE = 0x4000, 0x40000
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 0x1

_LISTED = os.path.exists(f"/proc/self/task/{os.getpid()}/children")
_libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Read the order, run it, report."""
    order = json.loads(_first_line())
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    wake, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    child = os.fork()
    if child == 0:
        _become(order)
    stopped = ""
    status = None
    while status is None and not stopped:
        ready, _, _ = select.select([0, wake], [], [], POLL_SECONDS)
        if wake in ready:
            os.read(wake, 4096)
        if 0 in ready and not os.read(0, 4096):
            stopped = "ordered"
        status = _reap(child)
        if status is None and not stopped:
            stopped = _excess(order)
    at_end = _kill_all(child)
    answer = {"status": at_end if status is None else status, "stopped": stopped}
    os.write(order["report"], json.dumps(answer).encode() + b"\n")


def _first_line() -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        part = os.read(0, 1 << 16)
        if not part:
            sys.exit(1)
        line += part
    return line


def _reap(child: int) -> int | None:
    """Collect everyone who ended; the child's status once it is among them."""
    status = None
    with suppress(ChildProcessError):
        while True:
            pid, how = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            if pid == child:
                status = _code(how)
    return status


def _code(how: int) -> int:
    code = os.waitstatus_to_exitcode(how)
    return code if code >= 0 else 128 - code


def _descendants() -> list[int]:
    found: list[int] = []
    pending = [os.getpid()]
    while pending:
        children = _children(pending.pop())
        found += children
        pending += children
    return found


def _children(pid: int) -> list[int]:
    children: list[int] = []
    if not _LISTED:
        return _scan(pid)
    with suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with suppress(OSError), open(f"/proc/{pid}/task/{task}/children") as listed:
                children += map(int, listed.read().split())
    return children


def _scan(parent: int) -> list[int]:
    """The children of a process on kernels that do not list them: slower, and the same."""
    children: list[int] = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with suppress(OSError), open(f"/proc/{name}/stat", errors="replace") as stat:
            if int(stat.read().rpartition(")")[2].split()[1]) == parent:
                children.append(int(name))
    return children


def _excess(order: dict) -> str:  # type: ignore[type-arg]
    """``memory`` or ``tasks`` where the descendants hold more than they may; else empty."""
    tasks = pages = 0
    for pid in _descendants():
        with suppress(OSError, ValueError):
            tasks += len(os.listdir(f"/proc/{pid}/task"))
            with open(f"/proc/{pid}/statm") as sizes:
                _, resident, shared, *_ = map(int, sizes.read().split())
            pages += resident - shared
    if pages * _PAGE > order["memory"]:
        return "memory"
    return "tasks" if tasks > order["tasks"] + order["overhead"] else ""


def _kill_all(child: int) -> int:
    """Kill every descendant, however fast they fork; the child's status."""
    status = 128 + signal.SIGKILL
    until = time.monotonic() + KILL_SECONDS
    while time.monotonic() < until:
        # Stopped first, so that none forks while others are being killed.
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in _descendants():
                with suppress(OSError):
                    os.kill(pid, number)
        collected = _reap(child)
        status = status if collected is None else collected
        if not _children(os.getpid()):
            break
        time.sleep(0.005)
    return status


def _become(order: dict) -> None:  # type: ignore[type-arg]
    """The rest of the life of the child: set limits, then be the command."""
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.setsid()
        os.close(order["report"])
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.closerange(3, 256)
        if order["namespaces"]:
            _enter_namespaces(order["network"])
        _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        if not order["powers"]:
            # Root without its powers; for anyone else there is nothing to drop, and it fails.
            for capability in range(64):
                _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
        for kind, value in (
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_FSIZE, order["file_size"]),
            (resource.RLIMIT_NOFILE, order["files"]),
        ):
            _, most = resource.getrlimit(kind)
            allowed = value if most == resource.RLIM_INFINITY else min(value, most)
            resource.setrlimit(kind, (allowed, allowed))
        if order["cpus"]:
            allowed_cpus = sorted(os.sched_getaffinity(0))
            os.sched_setaffinity(0, allowed_cpus[: math.ceil(order["cpus"])])
        os.umask(0o022)
        os.chdir(order["cwd"])
        os.execve(order["argv"][0], order["argv"], order["env"])  # noqa: S606
    except OSError as error:
        os.write(2, f"{order['argv'][0]}: {error.strerror}\n".encode(errors="replace"))
        os._exit(126 if isinstance(error, PermissionError) else 127)


def _enter_namespaces(network: bool) -> None:
    """Go on as the first ordinary process of new namespaces; the callers in between wait."""
    flags = _NEW_MOUNTS | _NEW_IPC | _NEW_PID | (0 if network else _NEW_NET)
    uid, gid = os.getuid(), os.getgid()
    if _libc.unshare(flags | _NEW_USER) == 0:
        # The same ids inside as outside; no others exist in there.
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{uid} {uid} 1"),
            ("gid_map", f"{gid} {gid} 1"),
        ):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    elif _libc.unshare(flags) != 0:
        raise OSError(ctypes.get_errno(), "namespaces are not allowed here")
    _libc.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None)
    if not network:
        _raise_loopback()
    _wait_for_fork()
    # First process of the pid namespace: when it ends, the kernel ends all others.
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    _libc.mount(b"proc", b"/proc", b"proc", 0, None)
    _wait_for_fork()


def _wait_for_fork() -> None:
    """Fork; the child returns, and the parent ends as the child does."""
    child = os.fork()
    if child == 0:
        return
    while True:
        pid, how = os.wait()
        if pid == child:
            os._exit(_code(how))


def _raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack_from("h", fcntl.ioctl(any_socket, _GET_FLAGS, request), 16)[0]
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sh14x", b"lo", flags | _UP))


if __name__ == "__main__":
    main()
