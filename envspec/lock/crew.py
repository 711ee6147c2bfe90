"""A few jobs at a time, their progress told from one thread, and an end that does not wait."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from queue import Empty, SimpleQueue
from typing import TypeVar

from envspec.lock.transfer import Desk
from envspec.reporter import Reporter

_Result = TypeVar("_Result")
_Event = int | str | BaseException | None


class _StoppedError(Exception):
    """Raised in a job when the crew no longer wants its result."""


def run(
    jobs: Iterable[Callable[[Desk], None]],
    total: int,
    reporter: Reporter | None,
    hands: int,
    unit: str = "B",
) -> None:
    """Run all jobs, ``hands`` at a time; ``total`` is what they will move, in ``unit``, if known.

    The first failure is raised at once and stops the rest. So does Ctrl-C: the threads are
    daemons and see at their next chunk that nobody waits, so a stalled server delays no exit.
    """
    todo: SimpleQueue[Callable[[Desk], None]] = SimpleQueue()
    events: SimpleQueue[_Event] = SimpleQueue()
    stopped = threading.Event()
    pending = 0
    for job in jobs:
        todo.put(job)
        pending += 1

    def moved(count: int) -> None:
        if stopped.is_set() and count > 0:
            raise _StoppedError
        events.put(count)

    def work() -> None:
        desk = Desk(moved, events.put)
        while not stopped.is_set():
            try:
                job = todo.get_nowait()
            except Empty:
                return
            try:
                job(desk)
            except BaseException as error:
                events.put(error)
            else:
                events.put(None)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(min(hands, pending))]
    for thread in threads:
        thread.start()
    done = 0
    try:
        while pending:
            event = events.get()
            if isinstance(event, BaseException):
                raise event
            if event is None:
                pending -= 1
            elif reporter is not None and isinstance(event, str):
                reporter.line(event)
            elif reporter is not None and isinstance(event, int):
                done += event
                reporter.advance(min(done, total), total, unit)
    finally:
        stopped.set()
        for thread in threads:
            thread.join(timeout=0.2)


def ahead(job: Callable[[], _Result]) -> Callable[[], _Result]:
    """Begin a job now; what comes back waits for its end, and returns or raises what it did.

    Where nobody waits for it any more, it delays no exit.
    """
    found: list[_Result] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            found.append(job())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()

    def result() -> _Result:
        thread.join()
        if failed:
            raise failed[0]
        return found[0]

    return result
