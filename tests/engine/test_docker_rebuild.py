"""Two builds from nothing in the real engine: the same bytes, or what differs is named."""

from __future__ import annotations

import subprocess

import pytest
from docker_room import HEAD, TEST_IMAGE, Silent, Workplace, make_plan

from envspec.build import oci
from envspec.build.docker import DockerEngine
from envspec.build.failure import BuildFailed

pytestmark = pytest.mark.engine


def test_two_clean_builds_give_one_digest(
    docker_engine: DockerEngine, workplace: Workplace
) -> None:
    reporter, plan = Silent(), make_plan("rebuilt")
    found = docker_engine.rebuild(plan, workplace.context, workplace.files, reporter, workplace.log)
    first, second = found.digests
    assert first == second
    assert first.startswith("sha256:")
    assert found.differences == ()
    assert [s.rsplit(", ", 1)[-1] for s in reporter.stages] == ["1 of 2", "2 of 2"]
    assert sorted(p.name for p in workplace.files.parent.iterdir()) == [
        *("build.log", "context", "files")
    ], "the archives are gone"

    # What a stranger gets by the command in the head of the Dockerfile is what we report.
    archive = workplace.files.parent / "image.tar"
    command = [
        *("docker", "buildx", "build", "--provenance=false", "--quiet", "--no-cache"),
        *("--build-arg", f"SOURCE_DATE_EPOCH={plan.epoch}"),
        *("--build-context", f"wheels={workplace.files}"),
        *("--build-context", f"{plan.base.name}@{plan.base.digest}=docker-image://{TEST_IMAGE}"),
        "--output",
        f"type=oci,dest={archive},rewrite-timestamp=true,"
        "compression=uncompressed,force-compression=true",
        str(workplace.context),
    ]
    subprocess.run(command, check=True, capture_output=True)
    assert oci.read(archive).digest == first


def test_what_differs_is_named_with_the_line_of_the_spec(
    docker_engine: DockerEngine, workplace: Workplace
) -> None:
    script = "head -c 8 /dev/urandom | od > /odd; touch /$(cat /proc/sys/kernel/random/uuid)"
    workplace.dockerfile(
        f"{HEAD}\n# spec.env:30 step odd\nRUN --network=none \\\n    "
        f'["sh", "-ec", "{script}"]\n\n# spec.env:40 step even\nRUN ["touch", "/even"]\n'
    )
    found = docker_engine.rebuild(
        make_plan("odd"), workplace.context, workplace.files, Silent(), workplace.log
    )
    assert found.digests[0] != found.digests[1]
    assert [d for d in found.differences if d.file == "odd"] == [("odd", "content", 30)]
    alone = [d for d in found.differences if d.what == "is in one build only"]
    assert len(alone) == 2
    assert {d.line for d in found.differences} == {30}, "the other step gave the same twice"


def test_a_failure_is_that_of_any_build(docker_engine: DockerEngine, workplace: Workplace) -> None:
    workplace.dockerfile(f"{HEAD}\n# spec.env:30 step bad\nRUN exit 3\n")
    with pytest.raises(BuildFailed) as caught:
        docker_engine.rebuild(
            make_plan("bad"), workplace.context, workplace.files, Silent(), workplace.log
        )
    assert (caught.value.code, caught.value.line) == ("E0703", 30)
