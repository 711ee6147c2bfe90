"""Running git so that no repository decides what runs: no hook, no filter, no monitor, no helper
that a repository's own configuration names."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from envspec.credentials import masked
from envspec.diagnostics import DiagnosticError

PROTOCOLS = "https:http:ssh:git:file"
LOCAL_SECONDS = 300.0
_EXCERPT = 6
_CHUNK = 1 << 16
_KEPT = 16 << 10
# How git reaches a server is the user's own; which repository it looks at is ours.
_USERS = ("GIT_SSH", "GIT_SSL_", "GIT_HTTP_", "GIT_PROXY_", "GIT_ASKPASS", "GIT_CONFIG")
_SETTINGS = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.untrackedCache=false",
    "safe.directory=*",
    "gc.auto=0",
    "maintenance.auto=false",
    "fetch.recurseSubmodules=false",
    "http.lowSpeedLimit=1000",
    "http.lowSpeedTime=60",
    "advice.detachedHead=false",
)


class GitFailed(Exception):  # noqa: N818 - git's own verdict
    """git ended with an error, or was ended: ``said`` are its last lines, without credentials."""

    def __init__(self, said: Sequence[str], *, late: bool = False) -> None:
        super().__init__("; ".join(said))
        self.said = tuple(said)
        self.late = late


def output(arguments: Sequence[str], folder: Path, *, limit: int = 1 << 20) -> bytes:
    """What a local command of git says in ``folder``; longer than ``limit`` is an error of git.

    Raises:
        GitFailed, DiagnosticError: as `running` does.
    """
    with running(arguments, folder) as process:
        assert process.stdout is not None
        said = process.stdout.read(limit + 1)
        if len(said) > limit:
            raise GitFailed([f"git said more than {limit} bytes"])
        return said


def records(arguments: Sequence[str], folder: Path) -> Generator[bytes, None, None]:
    """What a local command of git says under ``-z``, one by one. Close it where it may not be read
    to its end: git is at work until then.

    Raises:
        GitFailed, DiagnosticError: as `running` does.
    """
    with running(arguments, folder) as process:
        assert process.stdout is not None
        rest = b""
        while chunk := process.stdout.read1(_CHUNK):  # type: ignore[attr-defined]
            *whole, rest = (rest + chunk).split(b"\0")
            yield from whole


@contextmanager
def running(
    arguments: Sequence[str],
    folder: Path,
    seconds: float = LOCAL_SECONDS,
    protocols: str = "none",
    stdin: int = subprocess.DEVNULL,
    line: Callable[[str], None] | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """A command at work, ended with all its children when the block or the time is over.

    ``protocols`` are those it may use; ``line`` gets its progress, line by line.

    Raises:
        GitFailed: it ended with an error, or did not end in time.
        DiagnosticError: E0423 there is no git.
    """
    process = subprocess.Popen(
        [_program(), "--no-pager", *(w for s in _SETTINGS for w in ("-c", s)), *arguments],
        cwd=folder,
        env=_environment(protocols),
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # also: no terminal that ssh could ask at
    )
    assert process.stderr is not None
    tail = _Tail(process.stderr, line)
    late = threading.Event()

    def stop() -> None:
        late.set()
        _end(process)

    timer = threading.Timer(seconds, stop)
    timer.daemon = True
    whole = broken = False
    try:
        timer.start()
        tail.start()
        yield process
        if process.stdin is not None:
            process.stdin.close()
        process.wait()
        whole = True
    except BrokenPipeError:
        broken = True
    finally:
        timer.cancel()
        _end(process)
        process.wait()
        tail.join(5)
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
    if late.is_set() or broken or (whole and process.returncode):
        raise GitFailed(tail.lines(), late=late.is_set())


class _Tail(threading.Thread):
    """The end of what git says of itself; its progress is handed on as it comes."""

    def __init__(self, stream: IO[bytes], line: Callable[[str], None] | None) -> None:
        super().__init__(name="envspec-git", daemon=True)
        self._stream = stream
        self._line = line
        self._kept = b""

    def run(self) -> None:
        rest = b""
        with suppress(OSError, ValueError):
            while chunk := os.read(self._stream.fileno(), _CHUNK):
                self._kept = (self._kept + chunk)[-_KEPT:]
                *whole, rest = re.split(rb"[\r\n]", rest[-_KEPT:] + chunk)
                for text in whole if self._line else ():
                    self._line(text.decode("utf-8", "replace"))  # type: ignore[misc]
        self._stream.close()

    def lines(self) -> list[str]:
        text = self._kept.decode("utf-8", "replace")
        said = [masked(part.strip()) for part in re.split(r"[\r\n]", text)]
        return ["".join(c if c.isprintable() else "?" for c in s) for s in said if s][-_EXCERPT:]


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _program() -> str:
    found = shutil.which("git")
    if found is None:
        raise DiagnosticError.of(
            "E0423",
            "git is not installed, and the source is kept by it",
            cause="no program `git` is on the search path",
            hint="install git, or pack the source and write `source archive`",
        )
    return found


def _environment(protocols: str) -> dict[str, str]:
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("GIT_", "SSH_ASKPASS")) or key.startswith(_USERS)
    }
    return kept | {
        "LC_ALL": "C",
        "GIT_ALLOW_PROTOCOL": protocols,
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "SSH_ASKPASS_REQUIRE": "never",
    }
