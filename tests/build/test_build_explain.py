"""What a failed image build is called."""

from __future__ import annotations

import pytest
from local_room import Room

from envspec.build import image_failure
from envspec.build.buildx import Failure
from envspec.build.docker import DockerEngine
from envspec.build.failure import BuildFailed
from envspec.diagnostics import DiagnosticError
from envspec.plan import model as plan

DOCKERFILE = "# spec.env:6  base\nFROM a\n\n# spec.env:10  packages\nRUN a\n"
STEP = "[stage-2 2/3] RUN a"


def explain(room: Room, failure: Failure, base_from: str = "") -> BuildFailed | DiagnosticError:
    return image_failure.explain(failure, room.plan(), DOCKERFILE, base_from)


def test_daemon_that_died_under_the_build(room: Room) -> None:
    engine = DockerEngine(f"unix://{room.folder}/gone.sock", "Docker")
    failure = Failure(STEP, 5, "rpc error: code = Unavailable", ())
    with pytest.raises(DiagnosticError, match="E0701"):
        engine._explained(failure, room.plan(), room.context)


def test_full_disk(room: Room) -> None:
    found = explain(room, Failure(STEP, 5, "write /x: no space left on device", ()))
    assert isinstance(found, DiagnosticError)
    assert found.diagnostics[0].code == "E0504"


def test_full_disk_inside_a_step(room: Room) -> None:
    said = ("OSError: [Errno 28] No space left on device",)
    found = explain(room, Failure(STEP, 5, "exit code: 1", said))
    assert isinstance(found, DiagnosticError)
    assert found.diagnostics[0].code == "E0504"


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        ('process "a" did not complete successfully: exit code: 3', "exit code 3"),
        ('process "a" did not complete successfully: exit code: 137', "memory ran out"),
        ("failed to compute cache key: not found", "before the step had run"),
    ],
)
def test_failing_step(room: Room, error: str, cause: str) -> None:
    found = explain(room, Failure(STEP, 5, error, ("last words",)))
    assert isinstance(found, BuildFailed)
    assert (found.code, found.line, found.excerpt) == ("E0703", 10, ("last words",))
    assert cause in found.cause


@pytest.mark.parametrize(
    "step",
    [
        "[internal] load metadata for docker.io/library/python:3.11-slim-bookworm",
        "[base 1/1] FROM docker.io/library/python:3.11-slim-bookworm@sha256:eee",
    ],
)
def test_base_that_cannot_be_had(room: Room, step: str) -> None:
    found = explain(room, Failure(step, 2, "no such host", ()))
    assert isinstance(found, BuildFailed)
    assert (found.code, found.line) == ("E0702", 6)


def test_a_base_that_was_replaced_is_named_as_what_it_is(room: Room) -> None:
    found = explain(room, Failure("[context x]", 2, "not found", ()), "local:1")
    assert isinstance(found, BuildFailed)
    assert "`local:1` that replaces the base" in found.title


@pytest.mark.parametrize(
    "step", ["[internal] load metadata for docker.io/nvidia/cuda:devel", "[toolchain 1/2] FROM x"]
)
def test_an_image_to_compile_in_that_cannot_be_had(room: Room, step: str) -> None:
    devel = plan.Base("nvidia/cuda:devel", "sha256:" + "d" * 64)
    made = room.plan()._replace(devel=devel, devel_line=8)
    found = image_failure.explain(Failure(step, 2, "no such host", ()), made, DOCKERFILE, "")
    assert isinstance(found, BuildFailed)
    assert (found.code, found.line) == ("E0702", 8)
    assert "nvidia/cuda:devel@" in found.title
