"""A folder for half-done files that cannot outlive its process for long.

The folder belongs to whoever holds the lock beside it. The kernel drops the lock when the
process ends, however it ends, so the next one to open a workspace sees what was left behind and
removes it; a process that still works keeps its own.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from envspec.interrupt import finish


@contextmanager
def workspace(parent: Path) -> Iterator[Path]:
    """A fresh folder in ``parent``, removed at the end, however often somebody presses Ctrl-C.
    Sweeps what dead processes left."""
    parent.mkdir(parents=True, exist_ok=True)
    sweep(parent)
    descriptor, lock = _claim(parent)
    folder = lock.with_suffix("")
    try:
        folder.mkdir()
        yield folder
    finally:
        finish(lambda: _leave(folder, lock, descriptor))


def _leave(folder: Path, lock: Path, descriptor: int) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    lock.unlink(missing_ok=True)
    os.close(descriptor)


def sweep(parent: Path) -> int:
    """Remove the workspaces whose process is gone; the number of them."""
    removed = 0
    for lock in parent.glob("*.lock"):
        try:
            descriptor = os.open(lock, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # its owner lives, or this file system has no locks: leave it
            continue
        else:
            shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
            lock.unlink(missing_ok=True)
            removed += 1
        finally:
            os.close(descriptor)
    for folder in parent.iterdir():
        # The lock comes before its folder and goes after it, so this one is nobody's.
        if folder.suffix != ".lock" and not folder.with_suffix(".lock").exists():
            shutil.rmtree(folder, ignore_errors=True)
            removed += 1
    return removed


def _claim(parent: Path) -> tuple[int, Path]:
    """A lock file of our own, held."""
    while True:
        lock = parent / f"{secrets.token_hex(8)}.lock"
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # a sweeper got in between and removes it: take another name
            os.close(descriptor)
            continue
        except OSError:  # no locks here: works, but a killed process leaves its folder behind
            return descriptor, lock
        if lock.exists():
            return descriptor, lock
        os.close(descriptor)
