"""A room with fetched files, and one finished prefix that most runs share."""

from __future__ import annotations

from pathlib import Path

import pytest
from local_room import Room

from envspec.build import isolate
from envspec.build.local import LocalEngine
from envspec.build.protocol import Built


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path)


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Room, Built]:
    room = Room(tmp_path_factory.mktemp("shared"))
    return room, room.build(room.plan())


@pytest.fixture(scope="session")
def strongest() -> str:
    return isolate.strongest()


@pytest.fixture(params=[isolate.BWRAP, isolate.NAMESPACES, isolate.CHILD])
def engine(
    request: pytest.FixtureRequest, shared: tuple[Room, Built], strongest: str
) -> LocalEngine:
    """The local engine, once for each way of isolation that works on this machine."""
    ways = [isolate.CHILD, isolate.NAMESPACES, isolate.BWRAP]
    if ways.index(request.param) > ways.index(strongest):
        pytest.skip(f"{request.param} does not work here")
    return shared[0].engine(request.param)
