"""A package index on the loopback device, a pip without configuration, a hasty client."""

from __future__ import annotations

import http.server
import os
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from local_index import LocalIndex, Wheel, make_wheel, send, serving

from envspec.lock.indexes import Indexes
from envspec.lock.pipconfig import PipConfig
from envspec.lock.web import Patience

HASTY = Patience(connect=2, read=0.8, grace=0.5, slowest=1000, retries=2, backoff=0.01)


@pytest.fixture
def local_index(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[LocalIndex]:
    """An index that `pypi` stands for, and a pip without any configuration."""
    with serving() as index:
        monkeypatch.setenv("ENVSPEC_INDEX_PYPI", index.url)
        plain_pip(monkeypatch, tmp_path)
        yield index


def plain_pip(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing of this machine's pip configuration may decide a test."""
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    for name in PIP_SETTINGS:
        monkeypatch.delenv(f"PIP_{name}", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv-cache"))
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")


class Notes:
    """A reporter that remembers."""

    def __init__(self) -> None:
        self.stages: list[str] = []
        self.amounts: list[tuple[int, int, str]] = []
        self.lines: list[str] = []

    def stage(self, title: str) -> None:
        self.stages.append(title)

    def advance(self, done: int, total: int, unit: str = "") -> None:
        self.amounts.append((done, total, unit))

    def line(self, text: str) -> None:
        self.lines.append(text)


PIP_SETTINGS = ("FIND_LINKS", "INDEX_URL", "EXTRA_INDEX_URL", "CERT", "CONSTRAINT", "PROXY")


def make_indexes(declared: Mapping[str, str] | None = None) -> Indexes:
    """Indexes that give up soon. Where a test sets nothing of pip's, pip need not be asked:
    `test_nothing_configured` says that it would tell the same."""
    indexes = Indexes(declared, HASTY)
    if not any(f"PIP_{name}" in os.environ for name in PIP_SETTINGS):
        indexes._pip = PipConfig()
    return indexes


class Kit(NamedTuple):
    """What the tests here share, as one fixture: test modules import nothing of each other."""

    wheel: Callable[..., Wheel]
    send: Callable[..., None]
    notes: type[Notes]
    patience: Patience
    indexes: Callable[..., Indexes]
    drip: Callable[[http.server.BaseHTTPRequestHandler], None]


def drip(handler: http.server.BaseHTTPRequestHandler) -> None:
    """A body that never ends and hardly begins."""
    handler.send_response(200)
    handler.end_headers()
    while True:
        handler.wfile.write(b"x")
        handler.wfile.flush()
        time.sleep(0.05)


@pytest.fixture
def kit() -> Kit:
    return Kit(make_wheel, send, Notes, HASTY, lambda declared=None: Indexes(declared, HASTY), drip)
