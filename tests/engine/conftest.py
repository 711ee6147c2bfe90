"""A real Docker Engine, or a skip that says what is missing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NoReturn

import pytest
from docker_room import TEST_IMAGE, Workplace, docker, make_plan

from envspec.build.docker import DockerEngine
from envspec.build.protocol import Built
from envspec.diagnostics import DiagnosticError


def absent(why: str) -> NoReturn:
    """Skip, or fail where CI says that an engine must be there."""
    if os.environ.get("ENVSPEC_REQUIRE_ENGINE") == "1":
        pytest.fail(why, pytrace=False)
    pytest.skip(why)


@pytest.fixture(scope="session")
def docker_engine() -> DockerEngine:
    """A Docker Engine with the test image, or a skip that says what is missing."""
    try:
        engine = DockerEngine.connect(TEST_IMAGE)
    except DiagnosticError as error:
        absent(f"no Docker Engine: {error.diagnostics[0].cause}")
    if not docker("image", "ls", "--quiet", TEST_IMAGE):
        absent(f"the engine has no image {TEST_IMAGE}")
    return engine


@pytest.fixture
def workplace(tmp_path: Path) -> Workplace:
    return Workplace(tmp_path)


@pytest.fixture(scope="session")
def built(docker_engine: DockerEngine, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The small image that most runs use."""
    place = Workplace(tmp_path_factory.mktemp("built"))
    return place.build(docker_engine, make_plan("shared"))
