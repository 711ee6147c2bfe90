"""What every build of a flake needs: the locked installer."""

from __future__ import annotations

from pathlib import Path

import pytest

from envspec.lock.model import Artefact
from envspec.lock.store import Store
from envspec.pipeline.compile import Compiled, compiled
from envspec.pipeline.fetch import fetch
from envspec.pipeline.load import load, read_lock
from envspec.plan import model as plan

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "x-transformers" / "spec.env"


class Silence:
    """A reporter that says nothing."""

    def stage(self, title: str) -> None: ...

    def advance(self, done: int, total: int, unit: str = "") -> None: ...

    def line(self, text: str) -> None: ...


@pytest.fixture(scope="session")
def example() -> Compiled:
    """The x-transformers example with all its files in the store of the machine."""
    loaded = load(EXAMPLE)
    found = read_lock(loaded)
    assert found is not None
    made = compiled(loaded, *found)
    fetch(loaded, made.plan, Store(), Silence())
    return made


@pytest.fixture(scope="session")
def installer(example: Compiled) -> tuple[plan.Wheel, bytes]:
    """A locked uv, which every environment is made with."""
    wheel = example.plan.installer
    path = Store().path(Artefact(*wheel.file))
    return wheel, path.read_bytes()
