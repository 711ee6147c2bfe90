"""What the user already told pip: folders with wheels, the index, certificates, the proxy.

The user's pip configuration is the user's own: it is read with pip's own command and never
copied into a file of ours.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from typing import NamedTuple

# The order in which pip itself lets one section win over another, weakest first.
_SECTIONS = ("global", "download", "install", ":env:")
_LINE = re.compile(r"(?P<section>:env:|[^.=]+)\.(?P<key>[^=]+)=(?P<value>.*)")


class PipConfig(NamedTuple):
    """pip's settings that say where files are; empty where the user set nothing."""

    find_links: tuple[str, ...] = ()
    index_url: str = ""
    extra_index_urls: tuple[str, ...] = ()
    cert: str = ""
    proxy: str = ""
    keyring: str = ""


def read(environ: Mapping[str, str] | None = None) -> PipConfig:
    """Ask pip (one process, about half a second). A pip that fails has nothing configured."""
    done = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list", "--disable-pip-version-check"],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        stdin=subprocess.DEVNULL,
        env=dict(os.environ if environ is None else environ),
    )
    return parse(done.stdout if done.returncode == 0 else "")


def parse(listing: str) -> PipConfig:
    """Read the output of ``pip config list``: lines ``section.key='value'``."""
    settings: dict[str, dict[str, str]] = {}
    for line in listing.splitlines():
        match = _LINE.fullmatch(line)
        if match is None or match["section"] not in _SECTIONS:
            continue
        try:
            value = ast.literal_eval(match["value"])
        except (ValueError, SyntaxError):
            continue
        if isinstance(value, str):
            settings.setdefault(match["key"], {})[match["section"]] = value

    def get(key: str) -> str:
        values = settings.get(key, {})
        return next((values[s] for s in reversed(_SECTIONS) if s in values), "")

    return PipConfig(
        find_links=tuple(get("find-links").split()),
        index_url=get("index-url").strip(),
        extra_index_urls=tuple(get("extra-index-url").split()),
        cert=get("cert"),
        proxy=get("proxy"),
        keyring=get("keyring-provider"),
    )


def default_index() -> str:
    """The address of pip's default index, which only pip needs to know."""
    try:
        return _default_index_of_pip()
    except (ImportError, AttributeError):
        return _default_index_in_help()


def _default_index_of_pip() -> str:
    """The one private import of pip; `_default_index_in_help` stands by when it moves."""
    from pip._internal.models.index import PyPI  # noqa: PLC0415

    return str(PyPI.simple_url)


def _default_index_in_help() -> str:
    done = subprocess.run(
        [sys.executable, "-m", "pip", "download", "--help"],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1"},
    )
    match = re.search(r"--index-url\b.*?\bdefault:?\s+(https?://[^\s)]+)", done.stdout, re.DOTALL)
    return match[1] if match else ""
