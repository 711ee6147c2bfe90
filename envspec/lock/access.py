"""Who we are to an index: credentials, where they were looked for, and what must never be told.

An address is split from its credentials as soon as it is read. From then on the two travel apart:
addresses in our own requests and files, credentials in a header or in a child's environment.
"""

from __future__ import annotations

import base64
import netrc
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote, urlsplit, urlunsplit

KEYRING = "keyring"
KEYRING_SECONDS = 60
_SHORTEST_MASKED = 6
"""A shorter word is one that other texts hold too: to mask it would spoil them and hide nothing."""
_SHORTEST_IN_NAMES = 8


class Login(NamedTuple):
    """Credentials, and the name of the source that had them. Never shown: not by `repr` either."""

    user: str
    password: str
    source: str = ""

    def __repr__(self) -> str:
        return f"Login(from {self.source})"


class Access(NamedTuple):
    """An address without credentials, the credentials if there are any, and who was asked."""

    address: str
    login: Login | None
    looked: tuple[str, ...]


def variable(prefix: str, name: str) -> str:
    """``ENVSPEC_INDEX_`` and an alias as one variable name; uv forms its own the same way."""
    return prefix + "".join(c if c.isascii() and c.isalnum() else "_" for c in name).upper()


def split(address: str) -> tuple[str, Login | None]:
    """An address, and the credentials that stood in it.

    Raises:
        ValueError: the address is none.
    """
    parts = urlsplit(address)
    info, at, host = parts.netloc.rpartition("@")
    if not at:
        return address, None
    user, _, password = info.partition(":")
    bare = urlunsplit(parts._replace(netloc=host))
    return bare, Login(unquote(user), unquote(password), "the address")


def joined(address: str, login: Login | None) -> str:
    """One address for a program that has no other way to be told credentials."""
    parts = urlsplit(address)
    if login is None or parts.scheme not in {"http", "https"} or "@" in parts.netloc:
        return address
    info = f"{quote(login.user, safe='')}:{quote(login.password, safe='')}"
    return urlunsplit(parts._replace(netloc=f"{info}@{parts.netloc}"))


def find(
    address: str,
    names: Iterable[tuple[str, str]] = (),
    keyring: bool = False,
    environ: Mapping[str, str] | None = None,
) -> Access:
    """Credentials for an address, from the first source that has a password.

    The sources: the address itself, variables ``<name>_USERNAME`` and ``_PASSWORD`` for each
    (prefix, alias) in ``names``, the netrc file, and the program `keyring` where ``keyring``.

    Raises:
        ValueError: the address is none.
    """
    values = os.environ if environ is None else environ
    bare, own = split(address)
    looked = ["the address"]
    parts = urlsplit(bare)
    if parts.scheme not in {"http", "https"}:
        return Access(bare, None, ())
    if own and own.password:
        return Access(bare, own, tuple(looked))
    user = own.user if own else ""
    for prefix, alias in names:
        stem = variable(prefix, alias)
        looked.append(f"`{stem}_USERNAME` and `{stem}_PASSWORD`")
        password = values.get(f"{stem}_PASSWORD", "")
        user = user or values.get(f"{stem}_USERNAME", "")
        if password:
            return Access(bare, Login(user, password, looked[-1]), tuple(looked))
    looked.append("the netrc file")
    login = _netrc(parts.hostname or "", user, values)
    if login is None and keyring:
        looked.append("the program `keyring`")
        login = _keyring(bare, parts.netloc, user)
    if login is None and user:
        # A token alone, in the place of the user, is how some indexes take one.
        login = Login(user, "", "the address" if own else looked[1])
    return Access(bare, login, tuple(looked))


def _netrc(host: str, user: str, values: Mapping[str, str]) -> Login | None:
    own = values.get("NETRC")
    paths = [Path(own)] if own else [Path.home() / ".netrc", Path.home() / "_netrc"]
    for path in paths:
        try:
            found = netrc.netrc(path).authenticators(host)
        except (OSError, netrc.NetrcParseError, ValueError):
            continue
        if found and found[2] and user in {"", found[0]}:
            return Login(found[0], found[2], "the netrc file")
    return None


def _keyring(address: str, host: str, user: str) -> Login | None:
    """Ask the program, by the address and then by the host, as pip and uv do.

    It takes a user's name as an argument and has no other way; without one, it is not told any.
    """
    program = shutil.which(KEYRING)
    if program is None:
        return None
    for service in (address, host):
        words = ["get", service, user] if user else ["--mode", "creds", "get", service]
        try:
            done = subprocess.run(
                [program, *words],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=KEYRING_SECONDS,
                check=False,
                env={**os.environ, "PYTHONIOENCODING": "utf-8"},
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        lines = done.stdout.splitlines() if done.returncode == 0 else []
        if user and lines and lines[0]:
            return Login(user, lines[0], "the program `keyring`")
        if not user and len(lines) >= 2 and lines[1]:
            return Login(lines[0], lines[1], "the program `keyring`")
    return None


class Kept:
    """Credentials in use: which belong to an address, and whether a text repeats one."""

    def __init__(self) -> None:
        self._rooms: list[tuple[str, Login]] = []
        self._files: dict[str, Login] = {}
        self._secrets: dict[str, bool] = {}

    def add(self, address: str, login: Login | None) -> None:
        """From now on ``login`` goes to what is below ``address``, and to its host besides."""
        if login is None or (address, login) in self._rooms:
            return
        self._rooms.append((address, login))
        self.hide(login)

    def listed(self, room: str, addresses: Iterable[str], login: Login | None) -> None:
        """Files that a page below ``room`` names: two indexes of one host may differ in who is let
        in, and keep their files side by side."""
        if login is not None:
            self._files |= {a: login for a in addresses if _origin(a) == _origin(room)}

    def hide(self, login: Login) -> None:
        """Know credentials in a text, plainly, as part of an address and as a header."""
        basic = f"{login.user}:{login.password}".encode()
        whole = [login.password, base64.b64encode(basic).decode(), basic.decode()]
        whole += [base64.b64encode(login.password.encode()).decode().rstrip("=")]
        for word in [*whole, *([] if login.password else [login.user])]:
            for form in (word, quote(word, safe="")):
                self._secrets[form] = True
        self._secrets.setdefault(login.user, False)

    def login(self, address: str) -> Login | None:
        """Credentials for an address: of the page that listed it, else of the nearest room on its
        host, and never of another host."""
        if address in self._files:
            return self._files[address]
        found, length = None, -1
        for room, login in self._rooms:
            if _origin(room) == _origin(address):
                below = len(room) if address.startswith(room) else 0
                if below > length:
                    found, length = login, below
        return found

    def masked(self, text: str) -> str:
        """The text with stars for what is in use here."""
        for secret in sorted(self._secrets, key=len, reverse=True):
            if len(secret) >= _SHORTEST_MASKED:
                text = re.sub(re.escape(secret), "****", text, flags=re.IGNORECASE)
        return text

    def repeats(self, name: str) -> bool:
        """True where a name holds a password or a token that is in use here, in capitals or not:
        versions are compared, and so written, without regard to that."""
        return any(
            whole and len(secret) >= _SHORTEST_IN_NAMES and secret.lower() in name.lower()
            for secret, whole in self._secrets.items()
        )


def _origin(address: str) -> tuple[str, str, int | None]:
    parts = urlsplit(address)
    try:
        port = parts.port
    except ValueError:
        port = -1
    standard = {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, parts.hostname or "", port or standard
