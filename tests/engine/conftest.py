"""A real Docker Engine, or a skip that says what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest
from docker_room import TEST_IMAGE, Workplace, docker, make_plan

from envspec.build.docker import DockerEngine
from envspec.build.protocol import Built
from envspec.diagnostics import DiagnosticError


@pytest.fixture(scope="session")
def docker_engine() -> DockerEngine:
    """A Docker Engine with the test image, or a skip that says what is missing."""
    try:
        engine = DockerEngine.connect(TEST_IMAGE)
    except DiagnosticError as error:
        pytest.skip(f"no Docker Engine: {error.diagnostics[0].cause}")
    if not docker("image", "ls", "--quiet", TEST_IMAGE):
        pytest.skip(f"the engine has no image {TEST_IMAGE}")
    return engine


@pytest.fixture
def workplace(tmp_path: Path) -> Workplace:
    return Workplace(tmp_path)


@pytest.fixture(scope="session")
def built(docker_engine: DockerEngine, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The small image that most runs use."""
    place = Workplace(tmp_path_factory.mktemp("built"))
    return place.build(docker_engine, make_plan("shared"))
