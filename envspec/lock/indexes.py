"""Where an index alias is, and what it offers.

Our files name an index by its alias alone. Its address is found at run time, in this order:
``ENVSPEC_INDEX_<ALIAS>`` (a mirror of the user's own), what the spec declares, what pip is
configured with (``pypi``), what pip or uv know by themselves (``pypi``, ``pytorch-<backend>``).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from envspec.diagnostics import DiagnosticError
from envspec.lock import pipconfig
from envspec.lock.listing import IndexFile, local_path, read_folder
from envspec.names import normalise
from envspec.source import SourceFile, Span

if TYPE_CHECKING:
    from envspec.lock.web import Client, Patience

PYPI = "pypi"
TORCH_PREFIX = "pytorch-"


class UnreachableError(Exception):
    """An index gave no answer of use. ``reason`` is a clause about "it", ours to show."""

    def __init__(self, alias: str, reason: str) -> None:
        super().__init__(f"{alias}: {reason}")
        self.alias = alias
        self.reason = reason

    def finding(self, source: SourceFile | None, span: Span | None) -> DiagnosticError:
        """The same as E0501, at a place in the spec."""
        variable = environment_variable(self.alias)
        return DiagnosticError.of(
            "E0501",
            f"the index `{self.alias}` gave no usable answer",
            source=source,
            span=span,
            cause=f"asked for files, {self.reason}",
            hint=f"check the network and proxy, or set {variable} to a mirror that answers",
        )


def environment_variable(alias: str) -> str:
    """The variable in which a user says where an alias is."""
    return "ENVSPEC_INDEX_" + alias.upper().replace("-", "_").replace(".", "_")


class Indexes:
    """Aliases and their files. One instance per command; answers are kept for its life.

    ``declared`` maps aliases to the addresses in the spec. May be used by several threads.
    """

    def __init__(
        self, declared: Mapping[str, str] | None = None, patience: Patience | None = None
    ) -> None:
        self.declared = dict(declared or {})
        self._patience = patience
        self._urls: dict[str, str] = {}
        self._files: dict[tuple[str, str], tuple[IndexFile, ...] | None] = {}
        self._down: dict[str, UnreachableError] = {}
        self._lock = threading.RLock()
        self._pip: pipconfig.PipConfig | None = None
        self._client: Client | None = None

    @property
    def pip(self) -> pipconfig.PipConfig:
        """What pip is configured with, asked for once, when it first matters."""
        with self._lock:
            if self._pip is None:
                self._pip = pipconfig.read()
            return self._pip

    def client(self) -> Client:
        """The web client, which is slow to import and so comes with the first question."""
        from envspec.lock.web import Client  # noqa: PLC0415

        with self._lock:
            if self._client is None:
                self._client = Client(self.pip.cert, self.pip.proxy, self._patience)
            return self._client

    def url(self, alias: str) -> str:
        """Address of an index, without a slash at the end. It may hold a password: never show it.

        Raises:
            UnreachableError: nobody knows where the alias is, or the address is none.
        """
        with self._lock:
            if alias not in self._urls:
                self._urls[alias] = self._find_url(alias)
            return self._urls[alias]

    def files(self, alias: str, project: str) -> tuple[IndexFile, ...] | None:
        """Files of a project on an index; None where the index does not know the project.

        Raises:
            UnreachableError: no answer. The index is not asked again.
        """
        return self._ask(alias, lambda: self.url(alias), project)

    def find_links(self) -> tuple[Path, ...]:
        """Local folders (and pages) in which pip is told to look for files."""
        paths = (local_path(link) for link in self.pip.find_links)
        return tuple(path for path in paths if path is not None and path.exists())

    def local_files(self) -> tuple[IndexFile, ...]:
        """Every file of the local find-links, in pip's order."""
        return tuple(file for folder in self.find_links() for file in read_folder(folder))

    def linked_files(self) -> tuple[tuple[str, IndexFile], ...]:
        """Files of find-links pages on the web, as (what to call the place, file).

        A page that does not answer is skipped: it is an extra, the index remains.
        """
        links = [link for link in self.pip.find_links if local_path(link) is None]
        return self._extras("find-links page", links, "")

    def mirror_files(self, project: str) -> tuple[tuple[str, IndexFile], ...]:
        """Files of a project on pip's extra indexes, as (what to call the place, file).

        Good only for bytes whose hash is already known: which file to take is never decided
        by an extra index. One that does not answer is skipped.
        """
        return self._extras("extra index", self.pip.extra_index_urls, project)

    def _extras(
        self, what: str, addresses: Sequence[str], project: str
    ) -> tuple[tuple[str, IndexFile], ...]:
        found: list[tuple[str, IndexFile]] = []
        for number, address in enumerate(addresses, 1):
            place = f"{what} {number} of pip's configuration"
            try:
                files = self._ask(place, lambda address=address: address, project)  # type: ignore[misc]
            except UnreachableError:
                continue
            found.extend((place, file) for file in files or ())
        return tuple(found)

    def _ask(
        self, alias: str, address: Callable[[], str], project: str
    ) -> tuple[IndexFile, ...] | None:
        """Files by project, asked for once; who did not answer once is not asked again."""
        if alias in self._down:
            raise self._down[alias]
        key = (alias, normalise(project))
        if key not in self._files:
            try:
                base = address().rstrip("/")
                self._files[key] = self._page(f"{base}/{key[1]}/" if project else base, alias)
            except UnreachableError as error:
                self._down[alias] = error
                raise
        return self._files[key]

    def _page(self, address: str, alias: str) -> tuple[IndexFile, ...] | None:
        folder = local_path(address)
        if folder is not None:
            try:
                return read_folder(folder) if folder.exists() else None
            except OSError as error:
                raise UnreachableError(alias, "its folder cannot be read") from error
        from envspec.lock.web import AbsentError, WebError  # noqa: PLC0415

        try:
            return self.client().page(address)
        except AbsentError:
            return None
        except WebError as error:
            raise UnreachableError(alias, error.reason) from None

    def _find_url(self, alias: str) -> str:
        address = os.environ.get(environment_variable(alias), "") or self.declared.get(alias, "")
        if not address and alias == PYPI:
            address = self.pip.index_url or pipconfig.default_index()
        if not address and alias.startswith(TORCH_PREFIX):
            from envspec.lock.uvindex import torch_index  # noqa: PLC0415

            address = torch_index(alias, self.pip)
        if not address:
            raise UnreachableError(alias, "nobody knows where it is: the spec declares no address")
        try:
            good = urlsplit(address).scheme in {"http", "https", "file", ""}
        except ValueError:
            good = False
        if not good or not address.isprintable():
            raise UnreachableError(alias, "its address is neither a web address nor a folder")
        return address.rstrip("/")
