"""The x-transformers example, built by Nix and by a Docker Engine from the same files."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from interpreters import interpreters
from nix_room import Room, absent

from envspec.build import buildx
from envspec.lock.store import Store
from envspec.pipeline.compile import Compiled
from envspec.pipeline.fetch import wheelhouse
from envspec.plan import model as plan

pytestmark = pytest.mark.xdist_group("nix")
PROGRAM = Path(__file__).with_name("package_set.py")
TEST_IMAGE = os.environ.get("ENVSPEC_TEST_IMAGE", "envspec-test/debian:bookworm")


@pytest.fixture(scope="module")
def room(example: Compiled, tmp_path_factory: pytest.TempPathFactory) -> Room:
    version = example.plan.python
    python = next(interpreters(version), None)
    if python is None:
        absent(f"there is no Python {version} on this machine")
    found = Room(tmp_path_factory.mktemp("nix"), Path(python).resolve(), version)
    found.write({n: t for n, t in example.files.items() if n.startswith(("flake", "require"))})
    wheelhouse(example.plan, Store(), found.wheels)
    return found


@pytest.fixture(scope="module")
def held(room: Room) -> dict[str, Any]:
    """What the environment that Nix built holds."""
    argv = [str(room.build("environment") / "bin" / "python"), "-I", str(PROGRAM)]
    return dict(json.loads(subprocess.run(argv, capture_output=True, check=True).stdout))


def differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Every name, version and file that two environments do not share."""
    found: list[str] = []
    first, second = one["distributions"], other["distributions"]
    for name in sorted(first.keys() | second.keys()):
        a, b = (d.get(name, {"version": None, "files": {}}) for d in (first, second))
        if a["version"] != b["version"]:
            found.append(f"{name}: {a['version']} and {b['version']}")
        found += _files(a["files"], b["files"])
    return found + _files(one["others"], other["others"])


def _files(one: dict[str, str], other: dict[str, str]) -> list[str]:
    return [n for n in sorted(one.keys() | other.keys()) if one.get(n) != other.get(n)]


def test_the_environment_imports_torch_and_runs_its_c1_entry(room: Room) -> None:
    out = room.build()
    code = "import torch, x_transformers; print(torch.__version__, x_transformers.__file__)"
    done = subprocess.run(
        [out / "bin" / "python", "-c", code], capture_output=True, text=True, check=True, env={}
    )
    version, where = done.stdout.split()
    assert version == "2.13.0+cpu"
    assert Path(where).is_relative_to((out / "src").resolve())
    found = room.build("checks.x86_64-linux.c0").read_text()
    assert found.startswith("distributions: 17 locked, 17 installed")
    assert found.endswith("nothing is wrong\n")
    ran = room.run("run", f"path:{room.flake}#smoke")
    assert ran.stdout.startswith("loss "), ran.stdout
    assert "smoke: status 0, 0 expected" in room.build("checks.x86_64-linux.c1").read_text()


def test_every_locked_wheel_is_there_and_nothing_else(
    held: dict[str, Any], example: Compiled
) -> None:
    def canonical(name: str) -> str:
        return name.lower().replace("_", "-")

    there = {canonical(n): d["version"] for n, d in held["distributions"].items()}
    assert there == {w.name: w.version for w in example.plan.wheels}
    assert sum(len(d["files"]) for d in held["distributions"].values()) > 10_000
    bare = {n for n in held["others"] if not Path(n).name.startswith(("activate", "deactivate"))}
    assert bare == {"bin/pydoc.bat", ".gitignore", ".lock", "CACHEDIR.TAG"}, "what uv leaves"


@pytest.mark.engine
def test_image_and_nix_environment_hold_the_same_packages(
    held: dict[str, Any], example: Compiled, tmp_path: Path
) -> None:
    """0 differences of name, version and file. What is left out is said in package_set.py. The
    stand-in patches no file; the real hook changes what ELF files say of where libraries are."""
    context, files = tmp_path / "context", tmp_path / "wheels"
    context.mkdir()
    for name, text in example.files.items():
        (context / name).write_text(text, encoding="utf-8")
    wheelhouse(example.plan, Store(), files)
    base = f"{example.plan.base.name}@{example.plan.base.digest}"
    contexts = {"wheels": str(files), base: f"docker-image://{TEST_IMAGE}"}
    tag = f"envspec-test/nix-{os.getpid()}"
    output = buildx.image_output(tag, {})
    argv = buildx.arguments(context, contexts, example.plan.platform, example.plan.epoch, output)
    subprocess.run(argv, check=True, capture_output=True)
    try:
        run = ["docker", "run", "--rm", "-i", "--network", "none", tag, plan.INTERPRETER, "-I", "-"]
        with PROGRAM.open("rb") as program:
            done = subprocess.run(run, stdin=program, capture_output=True, check=True)
    finally:
        subprocess.run(["docker", "image", "rm", tag], check=False, capture_output=True)
    assert differences(held, json.loads(done.stdout)) == []


def test_differences_are_seen(held: dict[str, Any]) -> None:
    """One other version, one other byte, one file more: each is told."""
    for change in _changes():
        other = json.loads(json.dumps(held))
        change(other)
        assert len(differences(held, other)) == 1


def _changes() -> Iterator[Callable[[dict[str, Any]], None]]:
    yield lambda d: d["distributions"]["einops"].update(version="9")
    yield lambda d: d["distributions"]["einops"]["files"].update(
        {next(iter(d["distributions"]["einops"]["files"])): "0" * 64}
    )
    yield lambda d: d["others"].update({"lib/more": "0" * 64})
