"""A signal that comes while outputs are written waits until they are."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from envspec.emit import publish


@pytest.fixture(params=[signal.SIGINT, signal.SIGTERM])
def struck(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """A signal with every flush to the disk; what a handler gets of it."""
    heard: list[int] = []
    flush = os.fsync

    def striking(handle: int) -> None:
        signal.raise_signal(request.param)
        assert heard == []
        flush(handle)

    def handler(number: int, _frame: object) -> None:
        heard.append(number)
        raise KeyboardInterrupt

    before = signal.signal(request.param, handler)
    monkeypatch.setattr(os, "fsync", striking)
    yield heard
    signal.signal(request.param, before)


def test_a_file(tmp_path: Path, struck: list[int]) -> None:
    with pytest.raises(KeyboardInterrupt):
        publish.write_file(tmp_path / "spec.lock", "text\n")
    assert len(struck) == 1
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("spec.lock", "text\n")]


def test_a_set(tmp_path: Path, struck: list[int]) -> None:
    files = {"a": "new", "b": "new"}
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a").write_text("old")
    with pytest.raises(KeyboardInterrupt):
        publish.publish(tmp_path / "out", files, frozenset(files))
    assert len(struck) == 1
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
    assert {p.name: p.read_text() for p in (tmp_path / "out").iterdir()} == files
