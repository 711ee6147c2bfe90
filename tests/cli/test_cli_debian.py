"""Packages of the distribution, as a user has them: chosen by the image's own apt, locked by
their bytes, brought from its mirrors, installed without a network."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator

import pytest
from user_room import SUBSTITUTE, Room

pytestmark = [pytest.mark.engine, pytest.mark.network]

SYSTEM = """
system {
  runtime libgomp1
  build   tcc libc6-dev
}

step compile {
  run "sh" "-c" "echo 'int seven(void) { return 7; }' >s.c && tcc -shared -o s.so s.c"
}
"""
SMOKE = """
import ctypes, shutil
ctypes.CDLL("libgomp.so.1")
assert ctypes.CDLL("/opt/src/s.so").seven() == 7
assert shutil.which("tcc") is None, "what compiles is not in the image"
"""


@pytest.fixture
def debian(docker_room: Room) -> Room:
    """A user whose base is an image that the engine really has."""
    found = subprocess.run(
        ["docker", "image", "inspect", SUBSTITUTE, "--format", "{{.Id}}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    docker_room.variables.pop("ENVSPEC_BASE_FROM")
    docker_room.base = f"{SUBSTITUTE}@{found.stdout.strip()}"
    (docker_room.home / "smoke.py").write_text(SMOKE)
    docker_room.write(more=SYSTEM)
    return docker_room


def lock_of(room: Room) -> dict[str, object]:
    return json.loads((room.home / "spec.lock").read_text())


def test_locked_brought_and_installed_offline_twice_to_the_same_bytes(debian: Room) -> None:
    debian.good("lock")
    system = lock_of(debian)["system"]
    assert system["asked"] == ""
    assert list(system["suites"]) == ["bookworm"]
    runtime, build = ({d["name"] for d in system[stage]} for stage in ("runtime", "build"))
    assert "libgomp1" in runtime
    assert {"tcc", "libc6-dev", "linux-libc-dev"} <= build
    assert not runtime & build
    before = (debian.home / "spec.lock").read_bytes()
    debian.good("lock", "--upgrade")
    assert (debian.home / "spec.lock").read_bytes() == before, "the same day, the same lock"

    debian.good("verify", "--engine", "docker", "--rebuild")
    report = json.loads((debian.home / "report.json").read_text())
    assert report["rebuild"]["verdict"] == "pass"
    assert report["rungs"]["c1"]["verdict"] == "pass"

    # What is there by now needs no mirror: the image that was asked may be gone.
    debian.variables["DOCKER_HOST"] = "unix:///nowhere.sock"
    debian.good("fetch", "-o", "wheels")
    wheels = {p.name for p in (debian.home / "wheels" / "debs").iterdir()}
    assert {d["file"] for d in system["runtime"]} == wheels


def test_e0502_another_file_under_the_name(debian: Room) -> None:
    debian.good("lock")
    deb = lock_of(debian)["system"]["runtime"][0]
    lock = debian.home / "spec.lock"
    lock.write_text(lock.read_text().replace(deb["sha256"], "0" * 64))
    found = debian.refused("fetch", "-o", "w", code="E0502", at="libgomp1")
    assert deb["sha256"] in found["cause"]


def test_e0414_a_version_that_no_mirror_has_any_more(debian: Room) -> None:
    debian.good("lock")
    lock = debian.home / "spec.lock"
    pool = lock_of(debian)["system"]["runtime"][0]["pool"]
    lock.write_text(lock.read_text().replace(pool, "pool/main/n/none/none_1_amd64.deb"))
    found = debian.refused("fetch", "-o", "w", code="E0414", at="libgomp1")
    assert "envspec lock --upgrade" in found["hint"]


def test_e0411_a_package_that_the_release_does_not_have(debian: Room) -> None:
    debian.write(more="\nsystem { runtime no-such-package-anywhere }\n")
    found = debian.refused("lock", code="E0411", at="no-such-package-anywhere")
    assert "`no-such-package-anywhere`" in found["title"]


def test_e0412_packages_that_exclude_each_other(debian: Room) -> None:
    debian.write(more="\nsystem { runtime exim4-daemon-light postfix }\n")
    debian.refused("lock", code="E0412", at="exim4-daemon-light")


def test_e0413_no_engine_that_could_be_asked(debian: Room) -> None:
    debian.variables["DOCKER_HOST"] = "unix:///nowhere.sock"
    debian.refused("lock", code="E0413", at="libgomp1")


@pytest.fixture
def foreign() -> Iterator[str]:
    """An image that is no Debian: it holds nothing at all."""
    made = subprocess.run(
        ["docker", "import", "--change", "CMD x", "-", "envspec-test/empty:1"],
        input=b"\0" * 10240, capture_output=True, check=True,
    )  # fmt: skip
    assert made.stdout
    yield "envspec-test/empty:1"
    subprocess.run(["docker", "image", "rm", "envspec-test/empty:1"], check=False)


def test_e0413_an_image_that_is_no_debian(debian: Room, foreign: str) -> None:
    debian.refused("lock", "--base-from", foreign, code="E0413", at="libgomp1")


def test_an_image_that_was_asked_in_place_of_the_base_stands_in_the_lock(debian: Room) -> None:
    debian.base = "python:3.11-slim-bookworm@sha256:" + "e" * 64
    debian.write(more="\nsystem { runtime libgomp1 }\n")
    debian.good("lock", "--base-from", SUBSTITUTE)
    assert lock_of(debian)["system"]["asked"] == SUBSTITUTE
