"""Compiling an extension on this machine, and installing what came of it.

Everything is in a folder of the prefix that is gone afterwards. The source's code runs in the
sandbox, as steps of the spec do.
"""

from __future__ import annotations

import shutil

from envspec.build.installer import (
    STEP_SECONDS,
    Work,
    forget_times,
    install_wheels,
    refuse_failed,
    run_uv,
    unpack_archive,
    uv_program,
)
from envspec.build.interpreter import Interpreter
from envspec.build.marker import BUILD, ENV
from envspec.build.places import SYSTEM_PATH
from envspec.build.protocol import BuiltWheel, Invocation
from envspec.build.tree import hash_file
from envspec.plan import model as plan

_UV = f"{plan.BUILD_ROOT}/uv"


def build(work: Work, step: plan.BuildExtension, found: Interpreter) -> BuiltWheel:
    """Build the wheel of ``step`` without network or isolation, and install it.

    Its digest is not compared with a recorded one: that is the wheel of the image, from the
    image's compiler.

    Raises:
        BuildFailed: E0703 the build failed, E0706 the source archive is refused.
    """
    work.reporter.line(f"compiling {step.name} {step.version}")
    folder = work.folder / BUILD
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shutil.copy2(uv_program(), folder / "uv")
    environment = folder / "env"
    said = f"making the environment that builds `{step.name}` failed"
    run_uv(
        work,
        ["venv", "--no-project", "--python", str(found.program), str(environment)],
        step.line,
        said,
    )
    install_wheels(work, step.wheels, environment, step.line, f"what `{step.name}` is built with")
    unpack_archive(work, step.archive, folder / "source", step.line)
    argv: tuple[str, ...] = (
        _UV,
        "build",
        "--wheel",
        "--no-build-isolation",
        "--offline",
        "--no-cache",
        "--no-config",
    )
    argv += ("--python", f"{plan.BUILD_PREFIX}/bin/python", "--out-dir", plan.BUILD_DIST)
    path = f"{plan.BUILD_PREFIX}/bin:{SYSTEM_PATH}"
    variables = (("PATH", path), ("PYTHONPATH", ""), *step.environment)
    done = work.run(
        Invocation((*argv, plan.BUILD_SOURCE), variables, plan.BUILD_SOURCE, (), STEP_SECONDS),
        found,
    )
    refuse_failed(done, f"compiling `{step.name}` failed", step.line)
    # By its name: a build that made another package fails.
    arguments = ["pip", "install", "--python", str(work.folder / ENV / "bin" / "python")]
    arguments += ["--no-index", "--no-deps", "--prerelease", "allow"]
    arguments += ["--find-links", str(folder / "dist"), step.name]
    said = f"the build of `{step.name}` gave no wheel of it"
    run_uv(work, arguments, step.line, said)
    forget_times(work.folder / ENV)
    wheel = next((folder / "dist").glob("*.whl"))
    return BuiltWheel(step.name, wheel.name, hash_file(wheel))
