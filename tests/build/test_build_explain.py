"""What a failed image build is called."""

from __future__ import annotations

import pytest
from local_room import Room
from test_build_select import GOOD, listening

from envspec.build.buildx import Failure
from envspec.build.docker import DockerEngine
from envspec.build.failure import BuildFailed
from envspec.diagnostics import DiagnosticError

DOCKERFILE = "# spec.env:6  base\nFROM a\n\n# spec.env:10  packages\nRUN a\n"
STEP = "[stage-2 2/3] RUN a"


def explain(room: Room, failure: Failure) -> BuildFailed | DiagnosticError:
    with listening(room.folder / "d.sock", GOOD) as endpoint:
        return DockerEngine(endpoint, "Docker")._explain(failure, room.plan(), DOCKERFILE)


def test_daemon_that_died_under_the_build(room: Room) -> None:
    engine = DockerEngine(f"unix://{room.folder}/gone.sock", "Docker")
    failure = Failure(STEP, 5, "rpc error: code = Unavailable", ())
    with pytest.raises(DiagnosticError, match="E0701"):
        engine._explain(failure, room.plan(), DOCKERFILE)


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
