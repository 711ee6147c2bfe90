"""Hash and size of a file that an index offers, where it did not tell them itself."""

from __future__ import annotations

import hashlib

from envspec.lock.indexes import Indexes, UnreachableError
from envspec.lock.listing import local_path
from envspec.lock.request import Chosen
from envspec.lock.transfer import hash_file


def digest(file: Chosen, alias: str, indexes: Indexes) -> tuple[str, int]:
    """(sha256, size in bytes). Asks for no more than is missing.

    Raises:
        UnreachableError: the index does not hand the file over.
    """
    if file.sha256 and file.size:
        return file.sha256, file.size
    path = local_path(file.url)
    if path is not None:
        try:
            return file.sha256 or hash_file(path), path.stat().st_size
        except OSError as error:
            raise UnreachableError(alias, f"{file.filename} cannot be read") from error
    from envspec.lock.web import AbsentError, WebError  # noqa: PLC0415

    client = indexes.client()
    attempt = 0
    while True:
        try:
            return _ask(file, indexes)
        except AbsentError:
            raise UnreachableError(
                alias, f"it lists {file.filename} but has no such file"
            ) from None
        except WebError as error:
            if not error.again or attempt >= client.patience.retries:
                raise indexes.unreachable(alias, error.reason, error.status) from None
        client.pause(attempt)
        attempt += 1


def _ask(file: Chosen, indexes: Indexes) -> tuple[str, int]:
    with indexes.client().stream(file.url) as (announced, chunks):
        if file.sha256 and announced:
            return file.sha256, announced
        hasher, size = hashlib.sha256(), 0
        for chunk in chunks:
            hasher.update(chunk)
            size += len(chunk)
    return file.sha256 or hasher.hexdigest(), size
