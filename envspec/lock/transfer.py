"""Bringing one file from one place into a temporary file, and hashing it on the way."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from envspec.lock.model import Artefact
from envspec.lock.places import Place

if TYPE_CHECKING:
    from envspec.lock.web import Client

_CHUNK = 4 << 20
_LARGEST = 64 << 30
"""Where nobody said how long a file is, a longer one is not read to its end."""


class Desk(NamedTuple):
    """Where a job tells of itself: bytes done (less than zero when they were for nothing)."""

    moved: Callable[[int], None]
    say: Callable[[str], None]


class DownloadError(Exception):
    """A place that has the file did not hand it over; ``reason`` is a clause about "it", and
    ``status`` is 401 or 403 where it refused access."""

    def __init__(self, reason: str, status: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status


def hash_file(path: Path, moved: Callable[[int], None] | None = None) -> str:
    """The sha256 of a file."""
    digest = hashlib.sha256()
    buffer = bytearray(_CHUNK)
    view = memoryview(buffer)
    with path.open("rb", buffering=0) as file:
        while count := file.readinto(buffer):
            digest.update(view[:count])
            if moved:
                moved(count)
    return digest.hexdigest()


def link_or_copy(source: Path, target: Path) -> None:
    """A hard link where the file system allows one, else a copy safe on disk."""
    source = source.resolve(strict=True)
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise
        shutil.copyfile(source, target)
        with target.open("rb+") as file:
            os.fsync(file.fileno())


def move(temporary: Path, target: Path) -> None:
    """Put a finished file under its name, atomically."""
    temporary.replace(target)
    # Renaming onto another link of the same file does nothing, by POSIX: tidy up.
    temporary.unlink(missing_ok=True)


def bring(
    place: Place, temporary: Path, artefact: Artefact, client: Callable[[], Client], desk: Desk
) -> str:
    """Put the bytes of a place into ``temporary``; their sha256, or ``""`` where it has none.

    Raises:
        DownloadError: no whole answer, after the retries.
        OSError: nothing can be written.
    """
    temporary.unlink(missing_ok=True)
    if place.write is not None:
        place.write(temporary)
        return hash_file(temporary, desk.moved)
    if place.path is None:
        return _download(place.url, temporary, artefact, client(), desk)
    try:
        # A pipe or a device under the right name would never end.
        regular = stat.S_ISREG(place.path.stat().st_mode)
    except OSError:
        return ""
    if not regular or not os.access(place.path, os.R_OK):
        return ""
    link_or_copy(place.path, temporary)
    return hash_file(temporary, desk.moved)


def _download(url: str, temporary: Path, artefact: Artefact, client: Client, desk: Desk) -> str:
    from envspec.lock.web import AbsentError, WebError  # noqa: PLC0415

    attempt = 0
    while True:
        try:
            return _attempt(url, temporary, artefact, client, desk)
        except AbsentError:
            return ""
        except WebError as error:
            if not error.again or attempt >= client.patience.retries:
                raise DownloadError(error.reason, error.status) from None
        client.pause(attempt)
        attempt += 1


def _attempt(url: str, temporary: Path, artefact: Artefact, client: Client, desk: Desk) -> str:
    from envspec.lock.web import WebError  # noqa: PLC0415

    if artefact.size > shutil.disk_usage(temporary.parent).free:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    digest, received = hashlib.sha256(), 0
    most = artefact.size or _LARGEST
    try:
        with client.stream(url) as (announced, chunks), temporary.open("wb") as file:
            for chunk in chunks:
                digest.update(chunk)
                file.write(chunk)
                received += len(chunk)
                desk.moved(len(chunk))
                if received > most:  # another file, or one without an end
                    break
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        desk.moved(-received)
        raise
    if received < artefact.size and announced is None:
        # Where a server announces no length, only the size shows that it broke off.
        desk.moved(-received)
        raise WebError(f"it broke off after {received} of {artefact.size} bytes", again=True)
    return digest.hexdigest()
