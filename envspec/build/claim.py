"""One builder of a prefix at a time, any number of users, and no builder under a user."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from envspec.reporter import Reporter

# The locks of this process, by path. A prefix stays claimed for use until the process ends, so
# that no other process rebuilds it under a running program.
_held: dict[Path, int] = {}
_guard = threading.Lock()
_AGAIN_SECONDS = 0.2


@contextmanager
def claim(path: Path, ready: Callable[[], bool], reporter: Reporter) -> Iterator[int | None]:
    """Within, either ``ready()`` holds, or this process alone may make it so.

    Yields None where it holds; else the lock's descriptor, for children that must keep the
    claim should we be killed. Afterwards the claim goes on as a shared one.
    """
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        if _acquire(lock, path, ready, reporter):
            os.ftruncate(lock, 0)
            os.pwrite(lock, str(os.getpid()).encode(), 0)
            yield lock
            fcntl.flock(lock, fcntl.LOCK_SH)
        else:
            fcntl.flock(lock, fcntl.LOCK_SH)
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


def _acquire(lock: int, path: Path, ready: Callable[[], bool], reporter: Reporter) -> bool:
    """Take the lock for use, where ``ready``, or else for building; True for building."""
    told = False
    while True:
        if not _try(lock, fcntl.LOCK_SH):
            told = told or _tell(lock, reporter)
            fcntl.flock(lock, fcntl.LOCK_SH)
        if ready():
            return False
        _release(path)
        if _try(lock, fcntl.LOCK_EX):
            # Whoever had it a moment ago may have built it.
            return not ready()
        # It is used as it is, or someone else wants to build it too: the trial above has let
        # go of our share, so one of those who try gets it.
        told = told or _tell(lock, reporter)
        time.sleep(_AGAIN_SECONDS)


def _try(lock: int, kind: int) -> bool:
    try:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _tell(lock: int, reporter: Reporter) -> bool:
    holder = os.pread(lock, 20, 0).decode("ascii", "replace")
    name = f"process {holder}" if holder.isdecimal() else "another process"
    reporter.line(f"waiting for {name}, which holds the same environment")
    return True


def _release(path: Path) -> None:
    with _guard:
        before = _held.pop(path, None)
    if before is not None:
        os.close(before)
