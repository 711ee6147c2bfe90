"""What the engine tests share: a small context, a plan for it, and the docker command."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from envspec.build.docker import DockerEngine
from envspec.build.protocol import Built
from envspec.plan import model as plan

BASE = "python:3.11-slim-bookworm"
# A digest that no registry has, so no test ever pulls and the base is always substituted.
DIGEST = "sha256:" + "e" * 64
TEST_IMAGE = os.environ.get("ENVSPEC_TEST_IMAGE", "envspec-test/debian:bookworm")

HEAD = f"""# Written for a test, in the shape that the emitter writes.

# spec.env:4  base
FROM {BASE}@{DIGEST} AS base

# stands for the folder of fetched files
FROM base AS wheels
RUN exit 1

FROM base

# spec.env:5  python
RUN --network=none --mount=type=bind,from=wheels,target=/wheels cp /wheels/made.txt /made.txt
ENV PATH=/opt/env/bin:$PATH LANG=C.UTF-8
"""


class Silent:
    """A reporter that remembers."""

    def __init__(self) -> None:
        self.stages: list[str] = []
        self.lines: list[str] = []

    def stage(self, title: str) -> None:
        self.stages.append(title)

    def advance(self, done: int, total: int, unit: str = "") -> None:
        pass

    def line(self, text: str) -> None:
        self.lines.append(text)


class Workplace:
    """A compile output folder, a folder of fetched files, and a log to write."""

    def __init__(self, folder: Path) -> None:
        self.context = folder / "context"
        self.files = folder / "files"
        self.log = folder / "build.log"
        self.context.mkdir()
        self.files.mkdir()
        self.files.joinpath("made.txt").write_text("from outside\n")
        self.dockerfile(HEAD)

    def dockerfile(self, text: str) -> None:
        (self.context / "Dockerfile").write_text(text)

    def build(
        self, engine: DockerEngine, plan_: plan.Plan, reporter: Silent | None = None
    ) -> Built:
        return engine.build(plan_, self.context, self.files, reporter or Silent(), self.log)


def make_plan(marker: str) -> plan.Plan:
    """A plan whose digest is its own: ``marker`` goes into the environment."""
    wheel = plan.Wheel("uv", "0.9.0", plan.File("pypi", "uv-0.9.0-any.whl", "a" * 64, 1))
    archive = plan.File("pypi", "demo-1.tar.gz", "b" * 64, 1)
    return plan.Plan(
        project="engine-tests",
        spec="spec.env",
        platform="linux/amd64",
        base=plan.Base(BASE, DIGEST),
        base_line=4,
        python="3.11",
        glibc="2.28",
        accelerator=plan.Accelerator("none", "", "", ()),
        nixpkgs=plan.Nixpkgs(*("",) * len(plan.Nixpkgs._fields)),
        installer=wheel,
        steps=(
            plan.CreateEnvironment(plan.PREFIX, "3.11", 5),
            plan.UnpackSource(archive, plan.SOURCE, 3),
        ),
        environment=(("MARKER", marker),),
        import_roots=(plan.SOURCE,),
        entries=(),
        optional_imports=(),
        claims=(),
    )


def docker(*arguments: str) -> str:
    """What the docker command line prints."""
    done = subprocess.run(["docker", *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()
