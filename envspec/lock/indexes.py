"""Where an index alias is, and what it offers.

Our files name an index by its alias alone. Its address is found at run time, in this order:
``ENVSPEC_INDEX_<ALIAS>`` (a mirror of the user's own), what the spec declares, what pip is
configured with (``pypi``), what pip or uv know by themselves (``pypi``, ``pytorch-<backend>``).
A mirror that the spec names is at ``ENVSPEC_MIRROR_<NAME>``, and is skipped where that is not set.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from envspec.diagnostics import DiagnosticError
from envspec.lock import access, pipconfig
from envspec.lock.listing import IndexFile, local_path, read_folder
from envspec.names import normalise
from envspec.source import SourceFile, Span

if TYPE_CHECKING:
    from envspec.lock.web import Client, Patience

PYPI = "pypi"
INDEX_VARIABLE, MIRROR_VARIABLE, UV_VARIABLE = "ENVSPEC_INDEX_", "ENVSPEC_MIRROR_", "UV_INDEX_"
TORCH_PREFIX = "pytorch-"
_PROXIES = tuple(
    form(f"{scheme}_PROXY") for scheme in ("HTTP", "HTTPS", "ALL") for form in (str, str.lower)
)


class UnreachableError(Exception):
    """An index gave no answer of use. ``reason`` is a clause about "it", ours to show.

    ``status`` is 401 or 403 where it refused access; ``login`` then says where credentials came
    from (``""``: there were none), and ``looked`` where they were looked for.
    """

    def __init__(
        self,
        alias: str,
        reason: str,
        status: int = 0,
        login: str = "",
        looked: tuple[str, ...] = (),
    ) -> None:
        super().__init__(f"{alias}: {reason}")
        self.alias = alias
        self.reason = reason
        self.status = status
        self.login = login
        self.looked = looked

    def finding(self, source: SourceFile | None, span: Span | None) -> DiagnosticError:
        """The same as E0501, or E0416 where access was refused, at a place in the spec."""
        if self.status:
            return self._refused(source, span)
        variable = environment_variable(self.alias)
        return DiagnosticError.of(
            "E0501",
            f"the index `{self.alias}` gave no usable answer",
            source=source,
            span=span,
            cause=f"asked for files, {self.reason}",
            hint=f"check the network and proxy, or set {variable} to a mirror that answers",
        )

    def _refused(self, source: SourceFile | None, span: Span | None) -> DiagnosticError:
        stem = environment_variable(self.alias)
        sent = f"credentials from {self.login} were sent" if self.login else "no credentials were"
        where = "; looked for them in: " + ", ".join(self.looked) if self.looked else ""
        return DiagnosticError.of(
            "E0416",
            f"the index `{self.alias}` refused access with HTTP {self.status}",
            source=source,
            span=span,
            cause=f"{sent if self.login else sent + ' found'}{where}",
            hint=f"set `{stem}_USERNAME` and `{stem}_PASSWORD`, or mend what is in its source"
            if self.login
            else f"set `{stem}_USERNAME` and `{stem}_PASSWORD`, or add its host to the netrc file",
        )


def environment_variable(alias: str) -> str:
    """The variable in which a user says where an alias is."""
    return access.variable(INDEX_VARIABLE, alias)


def mirror_variable(name: str) -> str:
    """The variable in which a user says where a mirror is."""
    return access.variable(MIRROR_VARIABLE, name)


class Indexes:
    """Aliases and their files. One instance per command; answers are kept for its life.

    ``declared`` maps aliases to the addresses in the spec; ``mirrors`` are the spec's, as (name,
    alias of the index). May be used by several threads.
    """

    def __init__(
        self,
        declared: Mapping[str, str] | None = None,
        patience: Patience | None = None,
        mirrors: Sequence[tuple[str, str]] = (),
    ) -> None:
        self.declared = dict(declared or {})
        self.mirrors = tuple(mirrors)
        self.kept = access.Kept()
        self._patience = patience
        self._access: dict[str, access.Access] = {}
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
                self._hide_proxies()
                self._client = Client(self.pip.cert, self.pip.proxy, self._patience, self.kept)
            return self._client

    def url(self, alias: str) -> str:
        """Address of an index, without credentials and without a slash at the end. It may hold a
        token all the same: never show it.

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

    def login(self, alias: str) -> access.Login | None:
        """The credentials for an index, after `url` found its address."""
        with self._lock:
            found = self._access.get(alias)
        return found.login if found else None

    def unreachable(self, alias: str, reason: str, status: int = 0) -> UnreachableError:
        """What to raise of an index that did not answer usefully."""
        with self._lock:
            found = self._access.get(alias)
        login = found.login.source if found and found.login else ""
        return UnreachableError(alias, reason, status, login, found.looked if found else ())

    def masked(self, text: str) -> str:
        """A program's words without the credentials in use here."""
        self._hide_proxies()
        return self.kept.masked(text)

    def named_mirrors(self, alias: str) -> tuple[tuple[str, bool], ...]:
        """The spec's mirrors of an index, as (name, whether this machine says where it is)."""
        return tuple(
            (name, bool(os.environ.get(mirror_variable(name))))
            for name, index in self.mirrors
            if index == alias
        )

    def on_mirror(self, name: str, project: str) -> tuple[IndexFile, ...] | None:
        """Files of a project on a mirror that the spec names; None where it lists none.

        As with `mirror_files`: good for bytes whose hash is known, and for nothing else.

        Raises:
            UnreachableError: the mirror gives no answer.
        """
        key = f"mirror {name}"

        def address() -> str:
            return self._enter(
                key,
                os.environ.get(mirror_variable(name), ""),
                ((MIRROR_VARIABLE, name),),
            )

        return self._ask(key, address, project)

    def _enter(self, alias: str, address: str, names: Sequence[tuple[str, str]]) -> str:
        """Part an address from its credentials and keep these for the requests to it."""
        try:
            good = urlsplit(address).scheme in {"http", "https", "file", ""}
            asked = self.pip.keyring == "subprocess" or _uv_asks_keyring()
            found = access.find(address, names, asked) if good and address.isprintable() else None
        except ValueError:
            found = None
        if found is None or not found.address:
            raise UnreachableError(alias, "its address is neither a web address nor a folder")
        bare = found.address.rstrip("/")
        self._access[alias] = found
        self.kept.add(bare, found.login)
        return bare

    def _hide_proxies(self) -> None:
        """A proxy's password is none to show either."""
        for address in (self.pip.proxy, *(os.environ.get(name, "") for name in _PROXIES)):
            try:
                login = access.split(address if "://" in address else f"http://{address}")[1]
            except ValueError:
                continue
            if login:
                self.kept.hide(login)

    def _extras(
        self, what: str, addresses: Sequence[str], project: str
    ) -> tuple[tuple[str, IndexFile], ...]:
        found: list[tuple[str, IndexFile]] = []
        for number, address in enumerate(addresses, 1):
            place = f"{what} {number} of pip's configuration"
            try:
                files = self._ask(place, partial(self._enter, place, address, ()), project)
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
            login = self.login(alias)
            files = self.client().page(address, login)
            self.kept.listed(address, (file.url for file in files), login)
        except AbsentError:
            return None
        except WebError as error:
            raise self.unreachable(alias, error.reason, error.status) from None
        # A server that writes what it was sent into the names of files would have it locked.
        return tuple(file for file in files if not self.kept.repeats(file.filename))

    def _find_url(self, alias: str) -> str:
        address = os.environ.get(environment_variable(alias), "") or self.declared.get(alias, "")
        if not address and alias == PYPI:
            address = self.pip.index_url or _uv_default() or pipconfig.default_index()
        if not address and alias.startswith(TORCH_PREFIX):
            from envspec.lock.uvindex import torch_index  # noqa: PLC0415

            address = torch_index(alias, self.pip)
        if not address:
            raise UnreachableError(alias, "nobody knows where it is: the spec declares no address")
        return self._enter(alias, address, ((INDEX_VARIABLE, alias), (UV_VARIABLE, alias)))


def _uv_default() -> str:
    """The address that uv is told in the environment, where pip is told none."""
    return os.environ.get("UV_DEFAULT_INDEX", "") or os.environ.get("UV_INDEX_URL", "")


def _uv_asks_keyring() -> bool:
    return os.environ.get("UV_KEYRING_PROVIDER") == "subprocess"
