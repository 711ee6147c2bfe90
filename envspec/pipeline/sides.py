"""The lock that a word of the command line stands for: a lock, a spec, a folder, or a revision."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path, PurePosixPath
from typing import NoReturn

from envspec.diagnostics import DiagnosticError
from envspec.lock import file as lock_file
from envspec.lock.model import Lock
from envspec.pipeline.load import LOCK_NAME
from envspec.source import SourceFile, Span

_MOST_BYTES = 4 * lock_file.MAX_LENGTH
_SECONDS = 30


def side(word: str) -> Lock:
    """The lock that ``word`` names.

    A folder stands for the lock in it, a file that is not a lock for the lock beside it.
    `REV:PATH` is the same in a revision of the git repository around the current folder; a path
    that is there goes before that.

    Raises:
        DiagnosticError: E0401 (there is no lock), E0407.
    """
    path = Path(word)
    if not path.exists() and ":" in word:
        return _read(_from_git(word), word)
    lock = path / LOCK_NAME if path.is_dir() else path
    data = _bytes(lock, word)
    if not _is_lock(lock.name, data):
        lock = lock.with_name(LOCK_NAME)
        data = _bytes(lock, word)
    return _read(data, str(lock))


def _is_lock(name: str, data: bytes) -> bool:
    return name.endswith(".lock") or b'"envspec_lock"' in data[:200]


def _bytes(path: Path, word: str) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        _absent(word, f"there is no `{path}`")
    except OSError as error:
        _fail("E0407", str(path), f"cannot read the lock: {os.strerror(error.errno or 0).lower()}")


def _from_git(word: str) -> bytes:
    revision, _, path = word.partition(":")
    if not revision or revision.startswith("-") or "\0" in word:
        _absent(word, "`REV:PATH` needs a revision before the colon")
    there = PurePosixPath(path or ".")
    tried = [there] if there.name.endswith(".lock") else [there / LOCK_NAME]
    if not there.name.endswith(".lock") and there.suffix:
        tried.insert(0, there.with_name(LOCK_NAME))
    why = ""
    for candidate in tried:
        # A path without `./` counts from the top of the repository, with it from here.
        name = f"./{candidate}" if path.startswith(("./", "../")) or not path else str(candidate)
        data, why = _blob(f"{revision}:{name}")
        if data is not None:
            return data
    return _absent(word, why)


def _blob(name: str) -> tuple[bytes | None, str]:
    """A blob, at most a byte more than is read of any lock; else why there is none.

    `cat-file` runs no filter, no text conversion and no hook, and fetches nothing.
    """
    environment = {**os.environ, "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0"}
    try:
        with subprocess.Popen(
            ["git", "cat-file", "blob", name],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as process:
            assert process.stdout is not None
            data = process.stdout.read(_MOST_BYTES + 1)
            if len(data) > _MOST_BYTES:
                process.kill()
                return data, ""
            process.stdout.close()
            status = process.wait(_SECONDS)
    except FileNotFoundError:
        return None, "`git` is not installed, and no file has that name"
    if status:
        return None, "git knows no such file in that revision, and no file has that name"
    return data, ""


def _read(data: bytes, name: str) -> Lock:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        _fail("E0407", name, f"the lock is not UTF-8 at byte {error.start}")
    return lock_file.loads(text, SourceFile(name, text))


def _absent(word: str, why: str) -> NoReturn:
    raise DiagnosticError.of(
        "E0401",
        f"`{word}` is no lock, and has none beside it",
        source=SourceFile(word, ""),
        span=Span(0, 0),
        cause=why,
        hint="name a lock, a spec that has one, a folder, or `REV:PATH` of a git revision",
    )


def _fail(code: str, name: str, title: str) -> NoReturn:
    raise DiagnosticError.of(
        code,
        title,
        source=SourceFile(name, ""),
        span=Span(0, 0),
        hint="name a lock, or run `envspec lock`",
    )
