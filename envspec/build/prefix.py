"""Building a plan into a folder of this machine: interpreter, wheels, source, steps."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple

from envspec.build import interpreter, unpack
from envspec.build.failure import BuildFailed
from envspec.build.interpreter import Interpreter
from envspec.build.marker import ENV, SRC
from envspec.build.protocol import Completed
from envspec.build.tail import printable
from envspec.plan.model import (
    CreateEnvironment,
    File,
    InstallSystem,
    InstallWheels,
    Plan,
    RunStep,
    UnpackSource,
)
from envspec.reporter import Reporter

EXCERPT_LINES = 30
_DPKG_FORMAT = "${Package} ${db:Status-Abbrev}\n"
_NO_SPACE = "no space left on device"


class Work(NamedTuple):
    """What a build works with. ``claim`` is the lock's descriptor: uv inherits it, so that
    nobody takes a prefix for abandoned into which an orphaned uv still writes."""

    plan: Plan
    files: Path
    folder: Path
    installs: Path
    reporter: Reporter
    log: IO[bytes]
    claim: int
    run_step: Callable[[RunStep, Interpreter], Completed]


def build(work: Work) -> Interpreter:
    """Carry out every step of the plan in ``work.folder``, which is new and empty.

    Raises:
        BuildFailed: E0703 a step failed, E0704 no interpreter, E0705 a system package is
            missing, E0706 the source archive is refused.
        OSError: the folder cannot be written.
    """
    found: Interpreter | None = None
    for number, step in enumerate(work.plan.steps):
        work.reporter.advance(number, len(work.plan.steps), "steps")
        if isinstance(step, InstallSystem):
            _check_system(step)
        elif isinstance(step, CreateEnvironment):
            found = _create(work, step)
        elif isinstance(step, InstallWheels):
            _install(work, step)
        elif isinstance(step, UnpackSource):
            _unpack(work, step)
        else:
            assert found is not None, "a plan creates the environment before it runs anything"
            _run(work, step, found)
    shutil.rmtree(work.folder / "cache", ignore_errors=True)
    assert found is not None
    return found


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
    uv = _uv_program()
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
    _uv(work, arguments, step.line, f"making an environment with {found.program} failed")
    return found


def _install(work: Work, step: InstallWheels) -> None:
    work.reporter.line(f"installing {len(step.wheels)} wheels ({step.layer})")
    wanted = work.folder / f"{step.layer}.txt"
    # uv compares every file with its digest, so a file that was changed in the store is refused.
    wanted.write_text(
        "".join(f"{w.name}=={w.version} --hash=sha256:{w.file.sha256}\n" for w in step.wheels)
    )
    folders = sorted({_fetched(work, wheel.file).parent for wheel in step.wheels})
    arguments = ["pip", "install", "--python", str(work.folder / ENV / "bin" / "python")]
    arguments += ["--no-index", "--no-deps", "--require-hashes", "--no-build"]
    # Hard links out of a cache of this prefix's own: each file is written once, and no other
    # prefix shares it.
    arguments += ["--link-mode", "hardlink", "--requirements", str(wanted)]
    for folder in folders:
        arguments += ["--find-links", str(folder)]
    _uv(work, arguments, step.line, f"installing the wheels of `{step.layer}` failed")
    wanted.unlink()


def _unpack(work: Work, step: UnpackSource) -> None:
    work.reporter.line(f"unpacking {step.archive.file}")
    try:
        unpack.unpack(_fetched(work, step.archive), work.folder / SRC)
    except unpack.Refused as refusal:
        raise BuildFailed(
            "E0706",
            f"the source archive `{printable(step.archive.file)}` is refused",
            line=step.line,
            cause=printable(str(refusal)),
            hint="look at it with `tar -tvf`; an archive made by `python -m build --sdist` or "
            "`git archive` is fine",
        ) from None


def _run(work: Work, step: RunStep, found: Interpreter) -> None:
    work.reporter.line(f"step {step.name}")
    done = work.run_step(step, found)
    if done.exit_code == 0:
        return
    output = (done.stdout + done.stderr).decode("utf-8", "replace").split("\n")
    if done.timed_out:
        cause = "it did not end within two hours"
    elif done.signal is not None:
        cause = f"it was killed by signal {done.signal}"
    else:
        cause = f"it ended with exit code {done.exit_code}"
    raise BuildFailed(
        "E0703",
        f"the step `{step.name}` failed",
        line=step.line,
        cause=cause,
        hint="the whole log is kept; the last lines are below",
        excerpt=[printable(text) for text in output if text.strip()][-EXCERPT_LINES:],
    )


def _fetched(work: Work, file: File) -> Path:
    """Where a file of the plan lies: in the folder of its layer, or straight in ``files``."""
    for layer, members in work.plan.layers:
        if file in members and (work.files / layer / file.file).is_file():
            return work.files / layer / file.file
    return work.files / file.file


def _uv_program() -> str:
    import uv  # noqa: PLC0415 - only a build needs it

    return os.fsdecode(uv.find_uv_bin())


def _uv(work: Work, arguments: Sequence[str], line: int, failed: str) -> None:
    """Run uv without network or configuration; its output goes to the log."""
    argv = [_uv_program(), *arguments, "--no-config", "--offline", "--no-progress"]
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(work.folder),
        "LANG": "C.UTF-8",
        "UV_CACHE_DIR": str(work.folder / "cache"),
        "UV_PYTHON_DOWNLOADS": "never",
    }
    process = subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        start_new_session=True,
        pass_fds=(work.claim,),
        umask=0o022,
    )
    assert process.stdout is not None
    last: deque[str] = deque(maxlen=EXCERPT_LINES)
    try:
        for raw in process.stdout:
            work.log.write(raw)
            last.append(printable(raw.decode("utf-8", "replace").rstrip("\n")))
        code = process.wait()
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.stdout.close()
        process.wait()
    if code == 0:
        return
    if any(_NO_SPACE in text.lower() for text in last):
        raise OSError(28, "no space left on device")
    raise BuildFailed(
        "E0703",
        failed,
        line=line,
        cause=f"uv ended with status {code}",
        hint="the whole log is kept; the last lines are below",
        excerpt=last,
    )
