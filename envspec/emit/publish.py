"""Writing a set of files so that a reader sees the old set or the new one, never a mix.

The set is written into a folder beside its destination and the two folders are exchanged in
one system call. Where the kernel cannot exchange, the old folder is moved aside first; a crash
in between leaves it beside, under a name that the next call takes back.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from envspec.diagnostics import DiagnosticError
from envspec.interrupt import finish

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_ASIDE = ".old"


def stale(folder: Path, files: Mapping[str, str]) -> tuple[str, ...]:
    """Names that are missing, different or left over in ``folder``; empty where it is fresh."""
    wrong = [name for name, text in files.items() if _read(folder / name) != text.encode()]
    with suppress(OSError):
        wrong.extend(sorted(p.name for p in folder.iterdir() if p.name not in files))
    return tuple(wrong)


def publish(folder: Path, files: Mapping[str, str], known: frozenset[str]) -> bool:
    """Make ``folder`` hold exactly ``files``. False where it already does.

    ``known`` are the names that such a set may have: a folder with anything else in it was not
    written by envspec, and is left alone.

    Raises:
        DiagnosticError: E0601 (the folder holds other files), E0504 (disk full), E0603.
    """
    if not stale(folder, files):
        return False
    try:
        with _parents(folder), _locked(folder):
            _clear_away(folder)
            _check_ours(folder, known)
            with unbroken():
                _replace(folder, files)
    except OSError as error:
        raise unwritten(error, folder, sum(map(len, files.values()))) from None
    return True


@contextmanager
def replacing(folder: Path, check: Callable[[], None]) -> Iterator[Path]:
    """A new folder beside ``folder``, which takes its place when the block ends, and is gone where
    the block fails. A block that removes it leaves ``folder`` as it is.

    ``check`` is called first, when nobody else writes there; it refuses by an error.

    Raises:
        OSError: it cannot be written. What was there is as it was.
    """
    with _parents(folder), _locked(folder):
        _clear_away(folder)
        check()
        fresh = Path(tempfile.mkdtemp(prefix=_prefix(folder), dir=folder.parent))
        try:
            yield fresh
            if fresh.is_dir():
                with unbroken():
                    fresh.chmod(0o777 & ~_umask())
                    _put(fresh, folder)
        finally:
            finish(lambda: shutil.rmtree(fresh, ignore_errors=True))


@contextmanager
def _parents(folder: Path) -> Iterator[None]:
    """The folders above it, which are gone again where the work fails."""
    missing = [p for p in folder.parents if not p.exists()]
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for parent in missing:
            with suppress(OSError):  # never made, or somebody else uses it by now
                parent.rmdir()
        raise


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One writer at a time. The lock is on the parent folder, so it leaves no file behind."""
    handle = os.open(folder.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _clear_away(folder: Path) -> None:
    """Undo what a killed call left beside; under the lock nobody else is at work."""
    for left in sorted(folder.parent.iterdir()):
        if left.name.startswith(_prefix(folder)):
            if left.name.endswith(_ASIDE) and not os.path.lexists(folder):
                left.rename(folder)
            else:
                shutil.rmtree(left, ignore_errors=True)


def _prefix(folder: Path) -> str:
    return f".{folder.name}.envspec-"


def _replace(folder: Path, files: Mapping[str, str]) -> None:
    fresh = Path(tempfile.mkdtemp(prefix=_prefix(folder), dir=folder.parent))
    try:
        for name, text in files.items():
            _write(fresh / name, text)
        fresh.chmod(0o777 & ~_umask())
        _put(fresh, folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _put(fresh: Path, folder: Path) -> None:
    _sync(fresh)
    if folder.is_dir():
        _exchange(fresh, folder)
    else:
        fresh.rename(folder)
    _sync(folder.parent)


def _exchange(fresh: Path, folder: Path) -> None:
    if _exchange_names(fresh, folder):
        return
    aside = fresh.with_name(fresh.name + _ASIDE)
    try:
        folder.rename(aside)
        fresh.rename(folder)
    except BaseException:
        if not os.path.lexists(folder):
            aside.rename(folder)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _exchange_names(a: Path, b: Path) -> bool:
    """True where the kernel swapped the two names; False where it cannot."""
    import ctypes  # noqa: PLC0415 - only a folder that changes needs it

    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    names = (ctypes.c_char_p(os.fsencode(a)), ctypes.c_char_p(os.fsencode(b)))
    if renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP}:
        return False
    raise OSError(code, os.strerror(code), str(b))


@contextmanager
def unbroken() -> Iterator[None]:
    """Within, Ctrl-C and SIGTERM wait: the work takes a moment, and half of it would stay.

    Does nothing outside the main thread, which alone gets signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {n: signal.signal(n, lambda number, _: came.append(number)) for n in numbers}
    try:
        yield
    finally:
        for held, handler in before.items():
            signal.signal(held, handler or signal.SIG_DFL)
    if came:
        signal.raise_signal(came[0])


def write_file(path: Path, text: str) -> None:
    """One file, old or new: written beside, flushed, renamed.

    Raises:
        DiagnosticError: E0504 (disk full), E0603.
    """
    with unbroken():
        _write_file(path, text)


def _write_file(path: Path, text: str) -> None:
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        os.close(handle)
        temporary = Path(name)
        try:
            _write(temporary, text)
            temporary.chmod(0o666 & ~_umask())
            temporary.replace(path)
            _sync(path.parent)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise unwritten(error, path, len(text)) from None


def _write(path: Path, text: str) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _check_ours(folder: Path, known: frozenset[str]) -> None:
    if not folder.exists() and not folder.is_symlink():
        return
    strange = (
        sorted(p.name for p in folder.iterdir() if p.name not in known)
        if folder.is_dir() and not folder.is_symlink()
        else [folder.name]
    )
    if strange:
        raise DiagnosticError.of(
            "E0601",
            f"`{folder}` holds files that envspec did not write: {', '.join(strange[:5])}",
            cause="the whole folder is replaced at once, so that it is never half old",
            hint="name a folder of its own with `-o`",
        )


def unwritten(error: OSError, path: Path, size: int) -> DiagnosticError:
    """E0504 for a full disk, E0603 for any other reason; ``size`` bytes were to be written."""
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return DiagnosticError.of(
            "E0504",
            f"no space left to write `{path}`",
            cause=f"{size:,} bytes are needed; nothing was changed",
            hint="free some space, or name another folder with `-o`",
        )
    return DiagnosticError.of(
        "E0603",
        f"cannot write `{path}`: {(error.strerror or 'unknown error').lower()}",
        cause="nothing was changed",
        hint="check its permissions, or name another folder with `-o`",
    )
