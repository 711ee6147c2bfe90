"""One builder of a prefix at a time, any number of users, and no builder under a user."""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from envspec.build.protocol import Reporter

# The locks of this process, by path. A prefix stays claimed for use until the process ends, so
# that no other process rebuilds it under a running program.
_held: dict[Path, int] = {}
_guard = threading.Lock()


@contextmanager
def claim(path: Path, ready: Callable[[], bool], reporter: Reporter) -> Iterator[int | None]:
    """Within, either ``ready()`` holds, or this process alone may make it so.

    Yields None where it holds; else the lock's descriptor, for children that must keep the
    claim should we be killed. Afterwards the claim goes on as a shared one.
    """
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        _take(lock, fcntl.LOCK_SH, reporter)
        if not ready():
            _release(path)
            _take(lock, fcntl.LOCK_EX, reporter)
            os.ftruncate(lock, 0)
            os.pwrite(lock, str(os.getpid()).encode(), 0)
            # Whoever had it before us may have built it.
            yield None if ready() else lock
            fcntl.flock(lock, fcntl.LOCK_SH)
        else:
            yield None
    except BaseException:
        os.close(lock)
        raise
    with _guard:
        before = _held.pop(path, None)
        _held[path] = lock
    if before is not None:
        os.close(before)


def unclaimed(path: Path) -> bool:
    """Whether nobody builds or uses what the lock at ``path`` stands for."""
    try:
        lock = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(lock)
    return True


def _take(lock: int, kind: int, reporter: Reporter) -> None:
    try:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(lock, 20, 0).decode("ascii", "replace")
        name = f"process {holder}" if holder.isdecimal() else "another process"
        reporter.line(f"waiting for {name}, which holds the same environment")
        fcntl.flock(lock, kind)


def _release(path: Path) -> None:
    with _guard:
        before = _held.pop(path, None)
    if before is not None:
        os.close(before)
