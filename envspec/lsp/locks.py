"""The locks beside open documents. Each is read again when it has changed on the disk, and never
written."""

from __future__ import annotations

from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple

from envspec.diagnostics import Diagnostic, DiagnosticError
from envspec.lock import file as lock_file
from envspec.pipeline.load import LOCK_NAME, lock_text, versions
from envspec.source import SourceFile


class Beside(NamedTuple):
    """A lock as it is on the disk: its text, why it cannot be read, and the versions of the
    packages and extensions in it."""

    text: SourceFile | None = None
    unreadable: tuple[Diagnostic, ...] = ()
    versions: tuple[tuple[str, str], ...] = ()


NO_LOCK = Beside()


class Locks:
    """What is known of the locks; the same `Beside` is given while a lock stays as it is."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[tuple[int, ...], Beside]] = {}

    def beside(self, document: Path | None) -> Beside:
        """The lock of a document; `NO_LOCK` where there is none."""
        if document is None:
            return NO_LOCK
        path = document.with_name(LOCK_NAME)
        try:
            status = path.stat()
        except (OSError, ValueError):
            self._known.pop(path, None)
            return NO_LOCK
        # A pipe of that name would be waited for without end.
        if not S_ISREG(status.st_mode):
            return NO_LOCK
        state = (status.st_mtime_ns, status.st_size, status.st_ino)
        known = self._known.get(path)
        if known is None or known[0] != state:
            known = self._known[path] = (state, _read(document))
        return known[1]


def _read(document: Path) -> Beside:
    try:
        text = lock_text(document)
    except DiagnosticError as error:
        return Beside(None, error.diagnostics)
    if text is None:
        return NO_LOCK
    try:
        lock = lock_file.loads(text.text, text)
    except DiagnosticError:  # found again, and told, by the check
        return Beside(text)
    held = {**versions(lock), **{e.name: e.version for e in lock.extensions}}
    return Beside(text, (), tuple(held.items()))
