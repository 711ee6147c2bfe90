"""One server for most tests: each opens documents of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from editor import Editor, editor


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    """A session that has begun."""
    with editor(tmp_path_factory.mktemp("lsp")) as session:
        yield session


@pytest.fixture
def uri(tmp_path: Path, shared: Editor) -> Iterator[str]:
    """A document that is closed again after the test; its folder is empty."""
    name = (tmp_path / "spec.env").as_uri()
    yield name
    if name in shared.texts:
        shared.close(name)
