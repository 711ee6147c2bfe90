"""On every example uv and pip-tools come to the same set, file by file."""

from __future__ import annotations

from pathlib import Path

import pytest

from envspec.lock.earlier import Earlier
from envspec.lock.make import make
from envspec.lock.model import Lock
from envspec.pipeline.load import load, read_lock

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted(p.parent for p in (ROOT / "examples").glob("*/spec.env"))

pytestmark = pytest.mark.network


class Silent:
    def stage(self, title: str) -> None: ...

    def advance(self, done: int, total: int, unit: str = "") -> None: ...

    def line(self, text: str) -> None: ...


def locked(folder: Path, resolver: str) -> Lock:
    """A lock made anew; of the one that is there only what no resolver decides is kept."""
    loaded = load(folder / "spec.env")
    found = read_lock(loaded)
    assert found is not None
    earlier = Earlier({}, found[0])
    return make(loaded.spec, loaded.source, folder, Silent(), resolver, earlier)


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda p: p.name)
def test_both_resolvers_give_the_same_set(folder: Path) -> None:
    uv, pip = (locked(folder, resolver) for resolver in ("uv", "pip-tools"))
    assert (uv.resolver, pip.resolver) == ("uv", "pip-tools")
    assert uv.packages == pip.packages
    assert uv.extensions == pip.extensions
    assert len(uv.packages) >= 1
