"""Ending on SIGTERM as on Ctrl-C: with everything cleaned up on the way out."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def terminable() -> Iterator[None]:
    """Within, SIGTERM raises `KeyboardInterrupt`, so that ``finally`` blocks run.

    Does nothing outside the main thread (only it may set handlers) and where the program has
    a handler of its own.
    """
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def finish(work: Callable[[], None]) -> None:
    """Do ``work`` to its end, even when a further Ctrl-C comes while it is under way.

    The work is in a thread that the interpreter waits for; an interrupt stops only our waiting.
    Errors of the work are raised here.
    """
    failures: list[BaseException] = []
    done = threading.Event()

    def guarded() -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)
        finally:
            done.set()

    threading.Thread(target=guarded, name="envspec-clean-up").start()
    # Not `join`: one that is interrupted takes the thread for ended (CPython up to 3.12), and the
    # interpreter would not wait for it any more.
    done.wait()
    if failures:
        raise failures[0]
