"""Rooms for the tests that play a user."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from local_index import Wheel, serving
from user_room import PYTHON, SUBSTITUTE, Room, adopting

from envspec.build.protocol import Reporter
from envspec.lock.indexes import Indexes
from envspec.lock.places import Locations
from envspec.lock.request import Request
from envspec.lock.resolve import installer
from envspec.lock.store import Store
from envspec.source import SourceFile


class Silent(Reporter):
    """A reporter that says nothing."""

    def stage(self, title: str) -> None: ...

    def advance(self, done: int, total: int, unit: str = "") -> None: ...

    def line(self, text: str) -> None: ...


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    """A user with a good spec, an index that answers, and an empty cache."""
    with serving() as index, adopting():
        yield Room(tmp_path, index)


@pytest.fixture(scope="session")
def real_installer() -> Wheel:
    """The uv wheel that images are built with, from the store or its index."""
    request = Request(PYTHON, "linux/amd64", "2.28", (), source=SourceFile("spec.env", ""))
    artefact = installer(request).artefact
    path = Store().fetch(artefact, Locations(Indexes()), Silent())
    return Wheel(path.name, path.read_bytes())


@pytest.fixture
def docker_room(
    room: Room, real_installer: Wheel, tmp_path: Path, engine_host: str
) -> Iterator[Room]:
    """A room whose project is its own, so that its images are too; they go at the end."""
    room.project = f"bad-input-{os.getpid()}-{tmp_path.name[-12:].lower().strip('-_')}"
    room.project = room.project.replace("_", "-")
    room.write()
    room.index.projects["uv"] = [real_installer]
    room.variables["ENVSPEC_BASE_FROM"] = SUBSTITUTE
    yield room
    argv = ["docker", "image", "ls", "--quiet", f"envspec/{room.project}"]
    listed = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.split()
    if listed:
        subprocess.run(
            ["docker", "image", "rm", "--force", *listed], capture_output=True, check=True
        )
