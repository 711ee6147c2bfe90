"""Running uv, which makes the environment and installs its wheels: no network, no configuration."""

from __future__ import annotations

import os
import signal
import subprocess
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple

from envspec.build import unpack
from envspec.build.failure import BuildFailed
from envspec.build.interpreter import Interpreter
from envspec.build.protocol import Completed, Invocation
from envspec.build.tail import printable
from envspec.build.tree import hash_file
from envspec.plan.model import File, Plan, Wheel
from envspec.reporter import Reporter

EXCERPT_LINES = 30
STEP_SECONDS = 7200.0
"""How long one step of a spec may take, or the build of one extension."""
_NO_SPACE = "no space left on device"


class Work(NamedTuple):
    """What a build works with. ``claim`` is the lock's descriptor: uv inherits it, so that
    nobody takes a prefix for abandoned into which an orphaned uv still writes. ``run`` runs a
    program in the sandbox, where it may write to ``folder``."""

    plan: Plan
    files: Path
    folder: Path
    installs: Path
    reporter: Reporter
    log: IO[bytes]
    claim: int
    run: Callable[[Invocation, Interpreter], Completed]


def fetched(work: Work, file: File) -> Path:
    """Where a file of the plan lies: in the folder of its layer, or straight in ``files``."""
    for layer, members in work.plan.layers:
        if file in members and (work.files / layer / file.file).is_file():
            return work.files / layer / file.file
    return work.files / file.file


def unpack_archive(work: Work, archive: File, destination: Path, line: int) -> None:
    """Unpack an archive of the plan, after a last look at its hash: what stands in the store under
    a name may have been changed since.

    Raises:
        BuildFailed: E0706.
    """
    path = fetched(work, archive)
    cause = ""
    if hash_file(path) != archive.sha256:
        cause = "it is not the file that is locked: its sha256 is another one"
    else:
        try:
            unpack.unpack(path, destination)
        except unpack.Refused as refusal:
            cause = printable(str(refusal))
    if cause:
        raise BuildFailed(
            "E0706",
            f"the source archive `{printable(archive.file)}` is refused",
            line=line,
            cause=cause,
            hint="look at it with `tar -tvf`; an archive made by `python -m build --sdist` or "
            "`git archive` is fine",
        )


def uv_program() -> str:
    """Where uv is."""
    import uv  # noqa: PLC0415 - only a build needs it

    return os.fsdecode(uv.find_uv_bin())


def run_uv(work: Work, arguments: Sequence[str], line: int, failed: str) -> None:
    """Run uv without network or configuration; its output goes to the log."""
    argv = [uv_program(), *arguments, "--no-config", "--offline", "--no-progress"]
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


def install_wheels(
    work: Work, wheels: Sequence[Wheel], environment: Path, line: int, what: str
) -> None:
    """Install wheels of the plan; uv compares every file with its digest, so one that was changed
    in the store is refused."""
    wanted = work.folder / "wanted.txt"
    wanted.write_text(
        "".join(f"{w.name}=={w.version} --hash=sha256:{w.file.sha256}\n" for w in wheels)
    )
    arguments = ["pip", "install", "--python", str(environment / "bin" / "python")]
    arguments += ["--no-index", "--no-deps", "--require-hashes", "--no-build"]
    # Hard links out of a cache of this prefix's own: each file is written once, and no other
    # prefix shares it.
    arguments += ["--link-mode", "hardlink", "--requirements", str(wanted)]
    for folder in sorted({fetched(work, wheel.file).parent for wheel in wheels}):
        arguments += ["--find-links", str(folder)]
    run_uv(work, arguments, line, f"installing {what} failed")
    wanted.unlink()
    forget_times(environment)


def forget_times(environment: Path) -> None:
    """Remove uv's notes on when the file of a wheel was last changed, and the lines about them in
    the lists of installed files: they are others on every machine."""
    for note in environment.glob("lib/python*/site-packages/*.dist-info/uv_cache.json"):
        record = note.with_name("RECORD")
        lines = record.read_text("utf-8").splitlines(keepends=True)
        kept = "".join(line for line in lines if "/uv_cache.json," not in line)
        record.unlink()  # a hard link of the cache's
        record.write_text(kept, "utf-8")
        note.unlink()


def refuse_failed(done: Completed, title: str, line: int) -> None:
    """Go on where a program of the sandbox ended well.

    Raises:
        BuildFailed: E0703, with the end of its output.
    """
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
        title,
        line=line,
        cause=cause,
        hint="the whole log is kept; the last lines are below",
        excerpt=[printable(text) for text in output if text.strip()][-EXCERPT_LINES:],
    )
