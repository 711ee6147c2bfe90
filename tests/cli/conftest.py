"""A room for the tests that play a user."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from local_index import serving
from user_room import Room, adopting


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    """A user with a good spec, an index that answers, and an empty cache."""
    with serving() as index, adopting():
        yield Room(tmp_path, index)
