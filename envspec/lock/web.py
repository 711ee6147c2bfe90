"""Asking a server for bytes, patiently but not for ever. The only importer of ``requests``.

Addresses may carry passwords, and the libraries' messages carry addresses: what leaves this
module is a reason in our own words, never either of the two.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple, NoReturn
from urllib.parse import urlsplit
from urllib.request import getproxies

import requests
import urllib3

from envspec import __version__
from envspec.lock.access import Kept, Login
from envspec.lock.listing import ACCEPT, IndexFile, parse

MAX_PAGE = 64 << 20
"""Longest project page that is read, in bytes."""

_CHUNK = 1 << 18
_RETRY_STATUS = frozenset({408, 429, 500, 502, 503, 504})


class Patience(NamedTuple):
    """How long to wait. Seconds, except ``slowest`` (bytes a second) and ``retries``.

    A body that, ``grace`` seconds after it began, came slower than ``slowest`` is given up.
    """

    connect: float = 10.0
    read: float = 30.0
    grace: float = 60.0
    slowest: int = 1024
    retries: int = 3
    backoff: float = 0.5


class WebError(Exception):
    """No answer that is of use. ``reason`` is ours to show; ``again`` whether a retry may help;
    ``status`` is 401 or 403 where the server wants other credentials."""

    def __init__(self, reason: str, again: bool = False, status: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.again = again
        self.status = status


class AbsentError(Exception):
    """The server answered: there is no such thing."""


class Client:
    """A patient reader of web pages and files; may be used by several threads."""

    def __init__(
        self,
        cert: str = "",
        proxy: str = "",
        patience: Patience | None = None,
        kept: Kept | None = None,
    ) -> None:
        self.patience = patience or Patience()
        self._cert = certificate(cert)
        self._proxy = proxy
        self._kept = kept or Kept()
        self._local = threading.local()

    def page(self, address: str, login: Login | None = None) -> tuple[IndexFile, ...]:
        """Files that a project page lists; ``login`` where it is known better than by address.

        Raises:
            AbsentError: there is no such page.
            WebError: no readable answer, after the retries.
        """
        return self._again(lambda: self._page(address, login))

    @contextmanager
    def stream(self, address: str) -> Iterator[tuple[int | None, Iterator[bytes]]]:
        """(Length if announced, bytes) behind an address, one attempt: who writes the bytes
        down retries.

        Raises (also while iterating):
            AbsentError, WebError: as for `page`.
        """
        with self._open(address, "*/*") as response:
            # As sent: a ``.gz`` served with a content encoding must not be unpacked on the way.
            length = response.headers.get("content-length", "")
            yield int(length) if length.isdecimal() else None, self._body(response, decode=False)

    def pause(self, attempt: int) -> None:
        """Wait before the next attempt: longer each time."""
        time.sleep(self.patience.backoff * 2**attempt)

    def _again(self, ask: Callable[[], tuple[IndexFile, ...]]) -> tuple[IndexFile, ...]:
        for attempt in range(self.patience.retries):
            try:
                return ask()
            except WebError as error:
                if not error.again:
                    raise
            self.pause(attempt)
        return ask()

    def _page(self, address: str, login: Login | None) -> tuple[IndexFile, ...]:
        body = bytearray()
        with self._open(address, ACCEPT, login) as response:
            for chunk in self._body(response, decode=True):
                body += chunk
                if len(body) > MAX_PAGE:
                    raise WebError(f"its page is longer than {MAX_PAGE >> 20} MiB")
            kind = response.headers.get("content-type", "")
            try:
                return parse(bytes(body), kind, response.url)
            except ValueError as error:
                raise WebError("its page is in no known form") from error

    @contextmanager
    def _open(
        self, address: str, accept: str, login: Login | None = None
    ) -> Iterator[requests.Response]:
        patience, login = self.patience, login or self._kept.login(address)
        proxies = proxies_for(address, self._proxy)
        via = shown(requests.utils.select_proxy(address, proxies) or "")
        basic = requests.auth.HTTPBasicAuth
        try:
            response = self._session.get(
                address,
                stream=True,
                headers={"Accept": accept},
                timeout=(patience.connect, patience.read),
                auth=login and basic(login.user.encode(), login.password.encode()),
                proxies=proxies,
            )
        except (requests.RequestException, OSError, ValueError) as error:
            _reword(error, via)
        with response:
            secure = [r.url.startswith("https:") for r in (*response.history, response)]
            if any(secure) and not secure[-1]:
                raise WebError("it redirects to an address without encryption")
            status = response.status_code
            if status in {404, 410}:
                raise AbsentError
            if status == 407:
                raise WebError(f"the proxy {via} refused our credentials (HTTP 407)")
            if status in {401, 403}:
                raise WebError(f"it refused access (HTTP {status})", status=status)
            if status >= 300:
                raise WebError(f"it answered HTTP {status}", again=status in _RETRY_STATUS)
            yield response

    def _body(self, response: requests.Response, *, decode: bool) -> Iterator[bytes]:
        raw = response.raw
        # read1 returns what is there; read would wait for a full chunk, and so would never
        # notice a server that sends a byte now and then. Only urllib3 1 lacks read1.
        read = getattr(raw, "read1", raw.read)
        began, received = time.monotonic(), 0
        while True:
            try:
                chunk = read(_CHUNK, decode_content=decode)
            except (urllib3.exceptions.HTTPError, OSError) as error:
                _reword(error)
            if not chunk:
                return
            received += len(chunk)
            elapsed = time.monotonic() - began
            if elapsed > self.patience.grace and received < elapsed * self.patience.slowest:
                raise WebError(f"it sent {received} bytes in {elapsed:.0f} seconds", again=True)
            yield chunk

    @property
    def _session(self) -> requests.Session:
        session: requests.Session | None = getattr(self._local, "session", None)
        if session is None:
            session = self._local.session = requests.Session()
            session.headers["User-Agent"] = f"envspec/{__version__}"
            session.headers["Accept-Encoding"] = "identity"
            # requests itself honours REQUESTS_CA_BUNDLE, which is the first that
            # `certificate` looks at, and the netrc file.
            if self._cert:
                session.verify = self._cert
        return session


def certificate(cert: str) -> str:
    """The file of certificates to trust: one choice for our own requests, for pip and for uv.
    ``cert`` is what pip is configured with."""
    own = os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("CURL_CA_BUNDLE")
    return own or cert or os.environ.get("SSL_CERT_FILE", "")


def proxies_for(address: str, proxy: str) -> dict[str, str]:
    """The proxies on the way to an address: pip's own setting, else the environment's. Hosts in
    NO_PROXY are asked without."""
    if requests.utils.should_bypass_proxies(address, no_proxy=None):
        return {}
    if proxy:
        return {"http": proxy, "https": proxy}
    return getproxies()


def shown(proxy: str) -> str:
    """A proxy by scheme, host and port: what stands before the `@` is a password."""
    if not proxy:
        return ""
    try:
        parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "whose address is none"
    said = f"{parts.scheme}://{host}" + (f":{port}" if port else "")
    return f"`{said}`" if said.isprintable() else "whose address is none"


def _reword(error: Exception, via: str = "") -> NoReturn:
    """Raise what went wrong, in our words, from what the libraries raised."""
    chain, cause = [error], error.__cause__ or error.__context__
    while cause is not None and len(chain) < 10:
        chain.append(cause)  # type: ignore[arg-type]
        cause = cause.__cause__ or cause.__context__
    nested = [e for x in chain for e in (x, getattr(x, "reason", None), *x.args)]
    names = {type(e).__name__ for e in nested}
    again = True
    if names & {"SSLError", "SSLCertVerificationError", "SSLZeroReturnError"}:
        reason, again = "its certificate was not accepted", False
    elif names & {"ProxyError", "InvalidProxyURL"}:
        reason, again = f"the proxy {via} did not let the request through", False
    elif names & {"ReadTimeoutError", "ReadTimeout", "ConnectTimeout", "ConnectTimeoutError"}:
        reason = "it did not answer in time"
    elif names & {"IncompleteRead", "ChunkedEncodingError"}:
        reason = "it broke off in the middle of the answer"
    elif names & {"NameResolutionError"} or any(isinstance(e, socket.gaierror) for e in nested):
        reason = "its host name is not known here"
    elif any(isinstance(e, ConnectionRefusedError) for e in nested):
        reason = f"the proxy {via} refused the connection" if via else "it refused the connection"
    elif names & {"InvalidURL", "InvalidSchema", "MissingSchema", "LocationParseError"}:
        reason, again = "its address is not one", False
    elif "TooManyRedirects" in names:
        reason, again = "it redirects for ever", False
    elif type(error) is OSError:
        # What requests raises for a bundle that is not there, before it connects.
        reason, again = "the configured certificate file cannot be read", False
    else:
        reason = "the connection broke"
    raise WebError(reason, again) from None
