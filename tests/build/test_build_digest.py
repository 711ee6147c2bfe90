"""What names a built environment, and what does not."""

from __future__ import annotations

import pytest
from local_room import Room

from envspec.plan import model as plan
from envspec.plan.digest import build_digest


def test_is_a_sha256_and_the_same_every_time(room: Room) -> None:
    digest = build_digest(room.plan())
    assert len(digest) == 64
    assert int(digest, 16) >= 0
    assert build_digest(room.plan()) == digest


@pytest.mark.parametrize(
    "change",
    [
        {"project": "other"},
        {"spec": "other.env"},
        {"base_line": 99},
        {"glibc": "2.31"},
        {"claims": (plan.Claim("c1", "pass", "", 1),)},
        {"optional_imports": (plan.OptionalImport("x", "because", 1),)},
        {"entries": (plan.Entry("e", "c1", ("true",), None, 1, 1, (), False, 1),)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_checks_names_and_lines_do_not_count(room: Room, change: dict[str, object]) -> None:
    before = room.plan()
    assert build_digest(before._replace(**change)) == build_digest(before)


def test_line_numbers_of_steps_do_not_count(room: Room) -> None:
    before = room.plan(plan.RunStep("s", ("true",), 20))
    moved = tuple(step._replace(line=step.line + 7) for step in before.steps)
    assert build_digest(before._replace(steps=moved)) == build_digest(before)


def test_where_a_file_came_from_does_not_count(room: Room) -> None:
    before = room.plan()
    file = before.installer.file._replace(index="mirror", size=7)
    after = before._replace(installer=before.installer._replace(file=file))
    assert build_digest(after) == build_digest(before)


@pytest.mark.parametrize(
    "change",
    [
        {"platform": "linux/arm64"},
        {"base": plan.Base("python:3.11-slim-bookworm", "sha256:" + "f" * 64)},
        {"python": "3.12"},
        {"environment": ()},
        {"import_roots": ("/opt/src/lib",)},
        {"steps": ()},
        {"devel": plan.Base("nvidia/cuda:12.8.1-devel-ubuntu22.04", "sha256:" + "f" * 64)},
        {"accelerator": plan.Accelerator("cuda", "", "", (), "525.60.13")},
        {"resources": plan.Resources(shm=1)},
        {"epoch": 1},
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_decides_the_content_counts(room: Room, change: dict[str, object]) -> None:
    before = room.plan()
    assert build_digest(before._replace(**change)) != build_digest(before)


# What the environment is the same without.
NOT_CONTENT = {"line", "modules", "version"}


def test_every_part_of_every_step_counts(room: Room) -> None:
    made = room.plan(plan.RunStep("s", ("a", "b"), 20), system=("libc6",))
    file = plan.File("pypi", "x", "b" * 64, 1)
    system = made.steps[0]._replace(debs=(plan.Deb("libc6", "1", file),))
    wheels = (plan.Wheel("torch", "1", file),)
    built = plan.BuildExtension("e", "1", file, wheels, (("A", "1"),), ("e",), "e.whl", "a", 3)
    before = made._replace(steps=(system, *made.steps[1:], built))
    seen = {build_digest(before)}
    expected = 1
    for number, step in enumerate(before.steps):
        for name, value in step._asdict().items():
            if name in NOT_CONTENT:
                continue
            changed = value + "x" if isinstance(value, str) else value[:-1]
            if isinstance(value, plan.File):
                changed = value._replace(sha256="c" * 64)
            steps = list(before.steps)
            steps[number] = step._replace(**{name: changed})
            seen.add(build_digest(before._replace(steps=tuple(steps))))
            expected += 1
    assert len(seen) == expected
