"""Running one command of the local engine: under a keeper, with a deadline and bounded output."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple

from envspec.build.protocol import Completed, Limits
from envspec.build.status import ended
from envspec.build.tail import Tail

KEEPER = Path(__file__).with_name("keeper.py")
_CHUNK = 1 << 16
# After the order to stop: the keeper kills within five seconds, and then reports.
_STOP_SECONDS = 10.0
_DRAIN_SECONDS = 1.0


class Command(NamedTuple):
    """What to run, as the machine sees it: ``argv[0]`` and ``cwd`` are absolute.

    ``namespaces`` asks the keeper for namespaces of its own; ``overhead`` is how many tasks of
    the isolation's own (bwrap, say) do not count against the limit, and ``powers`` leaves root
    its capabilities, which bwrap needs to set things up (it takes them away itself).
    """

    argv: Sequence[str]
    environment: Mapping[str, str]
    cwd: str
    namespaces: bool = False
    network: bool = False
    overhead: int = 0
    powers: bool = False


def run(
    command: Command, seconds: float, limits: Limits, echo: IO[bytes] | None = None
) -> Completed:
    """Run it to its end or its deadline. Nothing of it is left, however we leave.

    ``echo`` also gets the output as it comes, up to 16 MiB.

    Raises:
        OSError: not even the keeper could be started.
    """
    receive, report = os.pipe()
    order = {
        "argv": list(command.argv),
        "env": dict(command.environment),
        "cwd": command.cwd,
        "namespaces": command.namespaces,
        "network": command.network,
        "overhead": command.overhead,
        "powers": command.powers,
        "memory": limits.memory,
        "tasks": limits.processes,
        "files": limits.open_files,
        "file_size": limits.scratch,
        "cpus": limits.cpus,
        "report": report,
    }
    try:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(KEEPER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(report,),
            start_new_session=True,
            bufsize=0,
        )
    except BaseException:
        os.close(receive)
        raise
    finally:
        os.close(report)
    watch = _Watch(process, receive, limits.output, echo)
    try:
        return watch.go(json.dumps(order).encode() + b"\n", seconds)
    finally:
        watch.close()


class _Watch:
    def __init__(
        self, process: subprocess.Popen[bytes], receive: int, limit: int, echo: IO[bytes] | None
    ) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._process = process
        self._order = process.stdin
        self._receive = receive
        self._said = b""
        self._streams = {process.stdout: Tail(limit), process.stderr: Tail(limit)}
        self._echo = echo
        self._echo_left = 16 << 20
        self._selector = selectors.DefaultSelector()
        self._selector.register(receive, selectors.EVENT_READ)
        for stream in self._streams:
            self._selector.register(stream, selectors.EVENT_READ)

    def go(self, order: bytes, seconds: float) -> Completed:
        begun = time.monotonic()
        with suppress(BrokenPipeError):
            self._order.write(order)
        timed_out = not self._read(begun + seconds, until_report=True)
        if timed_out:
            self._order.close()
            self._read(time.monotonic() + _STOP_SECONDS, until_report=True)
        took = time.monotonic() - begun
        self._read(time.monotonic() + _DRAIN_SECONDS, until_report=False)
        # A keeper that was killed said nothing; what it kept then counts as killed.
        answer = json.loads(self._said or b"{}")
        stopped = answer.get("stopped", "")
        code, number = ended(answer.get("status", 128 + signal.SIGKILL))
        if stopped in {"memory", "tasks"}:
            code, number = None, int(signal.SIGKILL)
        out, err = self._streams.values()
        return Completed(
            exit_code=None if timed_out else code,
            signal=None if timed_out else number,
            timed_out=timed_out,
            out_of_memory=stopped == "memory",
            stdout=out.content,
            stderr=err.content,
            truncated=out.truncated or err.truncated,
            seconds=took,
        )

    def _read(self, deadline: float, *, until_report: bool) -> bool:
        """Read what comes; whether the awaited end came before the deadline."""
        while self._selector.get_map():
            if until_report and self._receive not in self._selector.get_map():
                return True
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            for key, _ in self._selector.select(left):
                data = os.read(key.fd, _CHUNK)
                if not data:
                    self._selector.unregister(key.fileobj)
                elif key.fd == self._receive:
                    self._said += data
                else:
                    self._take(key.fileobj, data)
        return True

    def _take(self, stream: object, data: bytes) -> None:
        for known, tail in self._streams.items():
            if known is stream:
                tail.add(data)
        if self._echo is not None and self._echo_left > 0:
            self._echo.write(data)
            self._echo_left -= len(data)

    def close(self) -> None:
        """End the keeper, and so everything under it."""
        self._selector.close()
        if not self._order.closed:
            self._order.close()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            pass
        finally:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            os.close(self._receive)
            for stream in self._streams:
                stream.close()
