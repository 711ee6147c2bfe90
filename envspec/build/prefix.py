"""Building a plan into a folder of this machine: interpreter, wheels, source, steps."""

from __future__ import annotations

import shutil
import subprocess

from envspec.build import extension, interpreter
from envspec.build.failure import BuildFailed
from envspec.build.installer import (
    STEP_SECONDS,
    Work,
    install_wheels,
    refuse_failed,
    run_uv,
    unpack_archive,
    uv_program,
)
from envspec.build.interpreter import Interpreter
from envspec.build.marker import BUILD, ENV, SRC
from envspec.build.protocol import BuiltWheel, Invocation
from envspec.plan.model import (
    SOURCE,
    BuildExtension,
    CreateEnvironment,
    InstallSystem,
    InstallWheels,
    RunStep,
    UnpackSource,
)

_DPKG_FORMAT = "${Package} ${db:Status-Abbrev}\n"


def build(work: Work) -> tuple[Interpreter, tuple[BuiltWheel, ...]]:
    """Carry out every step of the plan in ``work.folder``, which is new and empty; gives the
    interpreter that was found, and the wheels that were compiled.

    Raises:
        BuildFailed: E0703 a step failed, E0704 no interpreter, E0705 a system package is
            missing, E0706 the source archive is refused.
        OSError: the folder cannot be written.
    """
    found: Interpreter | None = None
    wheels: list[BuiltWheel] = []
    for number, step in enumerate(work.plan.steps):
        work.reporter.advance(number, len(work.plan.steps), "steps")
        if isinstance(step, InstallSystem):
            _check_system(step)
        elif isinstance(step, CreateEnvironment):
            found = _create(work, step)
        elif isinstance(step, InstallWheels):
            _install(work, step)
        elif isinstance(step, BuildExtension):
            assert found is not None, "a plan creates the environment before it builds for it"
            wheels.append(extension.build(work, step, found))
        elif isinstance(step, UnpackSource):
            _unpack(work, step)
        else:
            assert found is not None, "a plan creates the environment before it runs anything"
            _run(work, step, found)
    for name in ("cache", BUILD):
        shutil.rmtree(work.folder / name, ignore_errors=True)
    assert found is not None
    return found, tuple(wheels)


def _check_system(step: InstallSystem) -> None:
    query = ["dpkg-query", "--show", f"--showformat={_DPKG_FORMAT}", *step.packages]
    try:
        asked = subprocess.run(query, capture_output=True, text=True, timeout=60, check=False)
        lines = asked.stdout.splitlines()
        cause = "the local engine checks system packages and installs none"
    except (OSError, subprocess.SubprocessError):
        lines = []
        cause = "this machine has no dpkg to ask, and the local engine knows no other way"
    there = {line.split()[0] for line in lines if line.split()[1:2] == ["ii"]}
    missing = [name for name in step.packages if name not in there]
    if missing:
        names = " ".join(missing)
        raise BuildFailed(
            "E0705",
            f"system packages are missing on this machine: {', '.join(missing)}",
            line=step.line,
            cause=cause,
            hint=f"run `sudo apt-get install --no-install-recommends {names}`, or build in an "
            "image with `--engine docker`",
        )


def _create(work: Work, step: CreateEnvironment) -> Interpreter:
    plan = work.plan
    work.reporter.line(f"Python {step.python}")
    uv = uv_program()
    found = interpreter.find(step.python, plan.platform, uv, work.installs, work.reporter)
    if found is None:
        raise BuildFailed(
            "E0704",
            f"there is no Python {step.python} for {plan.platform} on this machine",
            line=step.line,
            cause=f"no `python{step.python}` on PATH answers, and uv could not fetch one",
            hint=f"install it (`sudo apt-get install python{step.python}`, or `uv python install "
            f"{step.python}` where there is a network), or build with `--engine docker`",
        )
    arguments = ["venv", "--no-project", "--python", str(found.program), str(work.folder / ENV)]
    run_uv(work, arguments, step.line, f"making an environment with {found.program} failed")
    return found


def _install(work: Work, step: InstallWheels) -> None:
    work.reporter.line(f"installing {len(step.wheels)} wheels ({step.layer})")
    install_wheels(work, step.wheels, work.folder / ENV, step.line, f"the wheels of `{step.layer}`")


def _unpack(work: Work, step: UnpackSource) -> None:
    work.reporter.line(f"unpacking {step.archive.file}")
    unpack_archive(work, step.archive, work.folder / SRC, step.line)


def _run(work: Work, step: RunStep, found: Interpreter) -> None:
    work.reporter.line(f"step {step.name}")
    done = work.run(Invocation(step.argv, (), SOURCE, (), STEP_SECONDS), found)
    refuse_failed(done, f"the step `{step.name}` failed", step.line)
