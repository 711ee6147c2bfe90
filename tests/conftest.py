"""Fixtures that several folders share, and the rule for tests that need a Docker Engine."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from functools import lru_cache
from pathlib import Path

import pytest
from browsers import browser

from envspec.build.local import LocalEngine
from envspec.lock import file as lock_file
from envspec.lock.indexes import Indexes
from envspec.lock.places import Locations
from envspec.lock.store import Store, cache_folder
from envspec.pipeline.compile import compiled
from envspec.pipeline.fetch import fetch, wheelhouse
from envspec.pipeline.load import load, read_lock
from envspec.plan.model import INTERPRETER
from envspec.source import SourceFile

# Helpers that assert, and are no test modules: their failures are to say what was compared.
pytest.register_assert_rewrite("user_room")

ROOT = Path(__file__).resolve().parents[1]
SHORT_BYTES = 24
NO_ENGINE = "no Docker Engine answers"
NO_BROWSER = "no Chromium is installed"


@lru_cache(maxsize=1)
def engine_answers() -> bool:
    """Whether a Docker Engine with BuildKit is here."""
    docker = shutil.which("docker")
    if docker is None:
        return False
    try:
        for argv in (["version"], ["buildx", "version"]):
            done = subprocess.run([docker, *argv], capture_output=True, timeout=30, check=False)
            if done.returncode != 0:
                return False
    except subprocess.TimeoutExpired:
        return False
    return True


def pytest_configure() -> None:
    """A shell's background job begins with Ctrl-C ignored, and everything it starts would too."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Without an engine or a browser its tests are skipped, or fail where CI says that one must
    be there."""
    for marker, there, lacking in (
        ("engine", engine_answers, NO_ENGINE),
        ("browser", browser, NO_BROWSER),
    ):
        if item.get_closest_marker(marker) and not there():
            required = f"ENVSPEC_REQUIRE_{marker.upper()}"
            if os.environ.get(required) == "1":
                pytest.fail(f"{lacking}, and {required}=1 asks for one", pytrace=False)
            pytest.skip(lacking)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Long bytes are named by their argument: an archive may carry the time it was packed at."""
    return argname if isinstance(val, (bytes, bytearray)) and len(val) > SHORT_BYTES else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Count aloud what was not tested."""
    skipped = terminalreporter.stats.get("skipped", [])
    for kind, lacking in (("engine", NO_ENGINE), ("browser", NO_BROWSER)):
        left_out = [r for r in skipped if lacking in str(r.longrepr)]
        if left_out:
            terminalreporter.write_line(
                f"NOT TESTED: {len(left_out)} {kind} tests, since {lacking}", yellow=True
            )


class Silence:
    """A reporter that says nothing."""

    def stage(self, title: str) -> None: ...

    def advance(self, done: int, total: int, unit: str = "") -> None: ...

    def line(self, text: str) -> None: ...


@pytest.fixture(scope="session")
def sdist() -> Path:
    """The source archive of the x-transformers example, from the store or its index."""
    path = ROOT / "examples" / "x-transformers" / "spec.lock"
    lock = lock_file.loads(path.read_text(), SourceFile("spec.lock", ""))
    return Store().fetch(lock.source, Locations(Indexes()), Silence())


@pytest.fixture
def engine_host() -> str:
    """A Docker Engine that answers; `pytest_runtest_setup` has seen to it."""
    return os.environ.get("DOCKER_HOST", "the default socket")


@pytest.fixture(scope="session")
def example_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The interpreter of the x-transformers example, built by the local engine: it has torch."""
    spec = ROOT / "examples" / "x-transformers" / "spec.env"
    loaded = load(spec)
    found = read_lock(loaded)
    assert found is not None
    made = compiled(loaded, *found)
    folder = tmp_path_factory.mktemp("example")
    store = Store()
    fetch(loaded, made.plan, store, Silence())
    wheelhouse(made.plan, store, folder / "wheels")
    for name, text in made.files.items():
        (folder / name).write_text(text)
    engine = LocalEngine(cache_folder())
    built = engine.build(made.plan, folder, folder / "wheels", Silence(), folder / "build.log")
    return built.locate(INTERPRETER)
