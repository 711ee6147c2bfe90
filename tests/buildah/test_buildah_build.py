"""Dockerfiles built by buildah, which is what `podman build` runs: the same bytes twice."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from envspec.emit.outputs import outputs
from envspec.lock.store import Store
from envspec.pipeline.compile import compiled
from envspec.pipeline.fetch import fetch, wheelhouse
from envspec.pipeline.load import load, read_lock
from envspec.plan import model as plan

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("buildah")]

ROOT = Path(__file__).resolve().parents[2]
BUILDAH = ROOT / ".ci" / "buildah"
IMAGE = os.environ.get("ENVSPEC_TEST_IMAGE", "envspec-test/debian:bookworm")
EXAMPLE = ROOT / "examples" / "x-transformers"


class Silent:
    """A reporter that says nothing."""

    def stage(self, title: str) -> None: ...

    def advance(self, done: int, total: int, unit: str = "") -> None: ...

    def line(self, text: str) -> None: ...


def absent(why: str) -> NoReturn:
    """Skip, or fail where CI says that the engines must be there."""
    if os.environ.get("ENVSPEC_REQUIRE_ENGINE") == "1":
        pytest.fail(why, pytrace=False)
    pytest.skip(why)


class Room:
    """A folder that is all that buildah sees, with a base image loaded."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, *argv: str) -> str:
        """What buildah prints; the end of what it complained of where it fails."""
        done = subprocess.run(
            [BUILDAH, *argv],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, f"buildah {argv[0]}: {done.stderr[-3000:]}"
        return done.stdout.strip()

    def build(self, value: plan.Plan, files: dict[str, str], name: str) -> str:
        """The digest of the manifest of an image that is built from nothing."""
        context = self.folder / name
        context.mkdir()
        for file, text in files.items():
            (context / file).write_text(text, encoding="utf-8")
            # A clone and a wheelhouse of another day: when files were written is no input.
        now = time.time() - 86_400 * len(name)
        for path in (*context.iterdir(), *(self.folder / "wheels").rglob("*")):
            os.utime(path, (now, now))
        self.run(
            *("bud", "--no-cache", "--layers=false", "--omit-history", "--identity-label=false"),
            *("--timestamp", str(value.epoch), "--build-context", "wheels=wheels"),
            "--build-context",
            f"{value.base.name}@{value.base.digest}=container-image://localhost/{IMAGE}",
            *("--tag", f"localhost/{name}", name),
        )
        self.run(
            "push",
            "--quiet",
            "--digestfile",
            f"{name}.digest",
            f"localhost/{name}",
            f"dir:{name}.image",
        )
        shutil.rmtree(self.folder / f"{name}.image")
        return (self.folder / f"{name}.digest").read_text()

    def inside(self, name: str, *argv: str, user: str = "") -> str:
        """What a program prints in a container of an image, without network."""
        container = self.run("from", f"localhost/{name}")
        as_user = ("--user", user) if user else ()
        return self.run("run", "--network", "none", *as_user, container, "--", *argv)


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    """Everything of one module's builds in one folder, which is removed afterwards."""
    done = subprocess.run([BUILDAH, "up"], capture_output=True, text=True, timeout=900, check=False)
    if done.returncode != 0:
        absent(f"no buildah: {done.stderr.strip().splitlines()[-1:]}")
    folder = tmp_path_factory.mktemp("buildah")
    saved = subprocess.run(
        ["docker", "save", "--output", folder / "base.tar", IMAGE], capture_output=True, check=False
    )
    if saved.returncode != 0:
        absent(f"the engine has no image {IMAGE}")
    result = Room(folder)
    result.run("pull", "--quiet", "docker-archive:base.tar")
    (folder / "base.tar").unlink()
    yield result
    shutil.rmtree(folder, ignore_errors=True)


def example(folder: Path) -> tuple[plan.Plan, dict[str, str]]:
    """The plan and the outputs of the example; its files lie in the wheelhouse afterwards."""
    loaded = load(EXAMPLE / "spec.env")
    found = read_lock(loaded)
    assert found is not None
    made = compiled(loaded, *found)
    store = Store()
    fetch(loaded, made.plan, store, Silent())
    # Copied: files of the store keep the time at which they were fetched.
    wheelhouse(made.plan, store, folder / "linked")
    shutil.rmtree(folder / "wheels", ignore_errors=True)
    shutil.copytree(folder / "linked", folder / "wheels")
    shutil.rmtree(folder / "linked")
    return made.plan, made.files


def small(value: plan.Plan) -> plan.Plan:
    """The same without the framework: wheels of plain Python, the source and a step."""
    steps = [s for s in value.steps if getattr(s, "layer", "") != plan.FRAMEWORK]
    wheels = tuple(w for s in steps if isinstance(s, plan.InstallWheels) for w in s.wheels)
    plain = tuple(w for w in wheels if w.file.file.endswith("-none-any.whl"))
    steps = [s._replace(wheels=plain) if isinstance(s, plan.InstallWheels) else s for s in steps]
    note = plan.RunStep("note", ("sh", "-c", "echo \"$GREETING\" 'a  b' > note"), 30)
    return value._replace(
        steps=(*steps, note), environment=(("GREETING", 'it\'s $HOME, "said" \\ `id`'),)
    )


def test_a_small_plan(room: Room) -> None:
    value, _ = example(room.folder)
    value = small(value)
    files = outputs(value, "", "", ("docker",))
    first, second = (room.build(value, files, name) for name in ("small", "small-again"))
    assert first.startswith("sha256:")
    assert first == second
    assert room.inside("small", "cat", "note") == 'it\'s $HOME, "said" \\ `id` a  b'
    said = room.inside(
        "small", "python", "-c", "import os, einops; print(os.getcwd(), os.getuid())"
    )
    assert said == f"{plan.SOURCE} 65534"


def test_what_differs_gives_another_digest(room: Room) -> None:
    """The test above is worth something: a step that writes the moment gives two digests."""
    value, _ = example(room.folder)
    odd = plan.RunStep("odd", ("sh", "-c", "date +%N > moment"), 31)
    value = small(value)
    value = value._replace(steps=(*value.steps, odd))
    files = outputs(value, "", "", ("docker",))
    assert room.build(value, files, "odd") != room.build(value, files, "odd-again")


@pytest.mark.heavy
def test_x_transformers(room: Room) -> None:
    """The committed Dockerfile, twice, and the entry of the spec in a container of it."""
    value, files = example(room.folder)
    committed = (ROOT / "generated" / EXAMPLE.name / "Dockerfile").read_text(encoding="utf-8")
    assert files["Dockerfile"] == committed
    first, second = (room.build(value, files, name) for name in ("example", "example-again"))
    assert first == second
    program = (EXAMPLE / "smoke.py").read_text(encoding="utf-8")
    assert room.inside("example", "python", "-c", program)
    assert room.inside("example", "sh", "-c", "ls /opt") == "env\nsrc", "no installer stays"
