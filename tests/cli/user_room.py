"""A user at the command line: a spec, an index on the loopback device, and nothing else.

The package `tiny` and the source archive are made by hand, so a lock takes a second and a
verification a few. What a command writes, starts and leaves behind is looked at from outside.
"""

from __future__ import annotations

import ctypes
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from local_index import LocalIndex, Wheel, make_wheel

from envspec.lock.uvrun import uv_version

ENVSPEC = str(Path(sys.executable).with_name("envspec"))
PYTHON = "3.11"
# A digest that no registry has: nothing is ever pulled, and the base is substituted.
BASE = "python:3.11-slim-bookworm@sha256:" + "e" * 64
SUBSTITUTE = os.environ.get("ENVSPEC_TEST_IMAGE", "envspec-test/debian:bookworm")
_KEPT = ("PATH", "HOME", "LANG", "DOCKER_HOST", "DOCKER_CONFIG", "DOCKER_CONTEXT", "PYENV_ROOT")
_PR_SET_CHILD_SUBREAPER = 36
_GONE_SECONDS = 15.0


class Done(NamedTuple):
    """How a command ended. ``returncode`` is negative for death by a signal."""

    returncode: int
    stdout: str
    stderr: str
    pid: int


class Room:
    """One user with a folder, a cache and a spec in ``home``."""

    def __init__(self, folder: Path, index: LocalIndex, project: str = "bad-input") -> None:
        self.index = index
        self.project = project
        self.home = folder / "home"
        self.cache = folder / "cache"
        self.temporary = folder / "tmp"
        self.home.mkdir()
        self.temporary.mkdir()
        self.pids: set[int] = set()
        self.variables: dict[str, str] = {}
        self.base = BASE
        index.add(make_wheel("tiny", "1.0"), fake_installer())
        self.archive = tar(self.home / "demo-1.0.tar.gz", {"demo.py": "import tiny\n"})
        (self.home / "smoke.py").write_text("import demo\nprint(demo.tiny.NAME)\n")
        self.write()

    @property
    def spec(self) -> Path:
        return self.home / "spec.env"

    def write(
        self,
        packages: str = "tiny >=1",
        *,
        more: str = "",
        entry: str = 'script "smoke.py"',
        timeout: str = "2m",
        archive: str = "",
    ) -> None:
        """The spec, anew; ``more`` stands behind its packages."""
        self.spec.write_text(
            f"envspec 1\n\nproject {self.project} {{\n"
            f'  source archive "demo-1.0.tar.gz" sha256 "{archive or self.archive}"\n}}\n\n'
            f'platform linux/amd64 {{\n  base   "{self.base}"\n  python {PYTHON}\n}}\n\n'
            f"packages {{\n  {packages}\n}}\n{more}\n"
            f"entry smoke {{\n  level   c1\n  {entry}\n  timeout {timeout}\n}}\n",
            encoding="utf-8",
        )

    def environment(self) -> dict[str, str]:
        """Nothing of this machine's pip, uv or envspec settings decides a test."""
        return {
            **{name: os.environ[name] for name in _KEPT if name in os.environ},
            "ENVSPEC_CACHE": str(self.cache),
            "ENVSPEC_INDEX_PYPI": self.index.url,
            "NO_PROXY": "127.0.0.1",
            "PIP_CONFIG_FILE": os.devnull,
            "TMPDIR": str(self.temporary),
            "UV_CACHE_DIR": str(self.cache / "uv"),
            "UV_HTTP_RETRIES": "0",
            **self.variables,
        }

    def start(self, *argv: str, prefix: tuple[str, ...] = ()) -> subprocess.Popen[str]:
        """The command under way, in a process group of its own, as in a terminal."""
        process = subprocess.Popen(
            [*prefix, ENVSPEC, *argv],
            cwd=self.home,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.pids.add(process.pid)
        return process

    def run(self, *argv: str) -> Done:
        return end(self.start(*argv), 240)

    def good(self, *argv: str) -> Done:
        """A command that has to succeed."""
        done = self.run(*argv)
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    def at(self, words: str, path: Path | None = None) -> tuple[int, int]:
        """Line and column, from 1, of the first occurrence of ``words`` in the spec."""
        before, found, _ = (path or self.spec).read_text("utf-8").partition(words)
        assert found, words
        return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1

    def refused(
        self, *argv: str, code: str, at: str | tuple[int, int] = (1, 1), spec: str = "spec.env"
    ) -> dict[str, Any]:
        """Run a command that has to fail with ``code`` at a place of the spec: said as text and
        as JSON, and nothing is written, running or left behind. Gives the finding as data."""
        line, column = self.at(at) if isinstance(at, str) else at
        before = self.snapshot()
        text = self.run(*argv)
        assert text.returncode == 1, text.stdout + text.stderr
        assert text.stdout == ""
        assert f"error[{code}]: " in text.stderr, text.stderr
        assert f"--> {spec}:{line}:{column}\n" in text.stderr, text.stderr
        assert " = hint: " in text.stderr
        self.nothing_left(before)
        found = self.findings(*argv)
        self.nothing_left(before)
        chosen = next(d for d in found if d["code"] == code)
        assert chosen["file"] == spec
        for label in chosen["labels"][:1]:
            assert (label["line"], label["column"]) == (line, column)
        assert chosen["hint"]
        return chosen

    def findings(self, *argv: str) -> list[dict[str, Any]]:
        """What a command that fails says with ``--format json``: data, on stdout alone."""
        done = self.run(*argv, "--format", "json")
        assert done.returncode == 1, done.stdout + done.stderr
        assert done.stderr == ""
        document = json.loads(done.stdout)
        assert document["schema"] == 1
        found: list[dict[str, Any]] = document["diagnostics"]
        return found

    def snapshot(self) -> dict[str, str]:
        return snapshot(self.home)

    def nothing_left(self, before: dict[str, str]) -> None:
        """No change in the user's folder, no process, no container, nothing half done."""
        after = self.snapshot()
        assert after == before, sorted(after.items() ^ before.items())
        self.no_remains()

    def no_remains(self) -> None:
        assert processes_left() == []
        assert containers_of(self.pids) == []
        assert sorted(p.name for p in self.temporary.iterdir()) == []
        for folder in ("store/tmp", "work", "runs"):
            assert sorted(p.name for p in (self.cache / folder).glob("*")) == []
        prefixes = [p for p in (self.cache / "prefixes").glob("*") if p.is_dir()]
        assert [p.name for p in prefixes if not (p / "built.json").is_file()] == []


def end(process: subprocess.Popen[str], seconds: float) -> Done:
    """Wait for it; never more than ``seconds``."""
    try:
        stdout, stderr = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        stdout, stderr = process.communicate()
        raise AssertionError(f"still running after {seconds} s: {stdout}{stderr}") from None
    assert "Traceback" not in stderr, stderr
    assert "bug in envspec" not in stderr, stderr
    return Done(process.returncode, stdout, stderr, process.pid)


def snapshot(folder: Path) -> dict[str, str]:
    """Every path below ``folder`` and what it is."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = f"-> {path.readlink()}"
        elif path.is_file():
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        else:
            found[name] = "a folder"
    return found


def fake_installer() -> Wheel:
    """A file with the installer's name: enough to lock and fetch, and for the local engine,
    which uses the uv that envspec came with."""
    tag = "py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64"
    return make_wheel("uv", uv_version(), tag=tag)


def tar(path: Path, members: dict[str, str]) -> str:
    """A source archive whose bytes depend on its members alone; its sha256."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as packed:
        for name, text in members.items():
            info = tarfile.TarInfo(f"demo-1.0/{name}")
            info.size = len(text.encode())
            packed.addfile(info, io.BytesIO(text.encode()))
    path.write_bytes(gzip.compress(raw.getvalue(), mtime=0))
    return hashlib.sha256(path.read_bytes()).hexdigest()


@contextmanager
def adopting() -> Iterator[None]:
    """Within, a process whose parent ends becomes a child of ours, so that it is seen."""
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    try:
        yield
    finally:
        libc.prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def processes_left(seconds: float = _GONE_SECONDS) -> list[str]:
    """Descendants of this process, as command lines. One that was just killed may take a
    moment to go, so that is waited for."""
    deadline = time.monotonic() + seconds
    while (found := _descendants()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def _descendants() -> list[str]:
    children: dict[int, list[int]] = {}
    states: dict[int, str] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with suppress(OSError):
                fields = (entry / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
                states[int(entry.name)] = fields[0]
                children.setdefault(int(fields[1]), []).append(int(entry.name))
    found, todo = [], [os.getpid()]
    while todo:
        for child in children.get(todo.pop(), []):
            todo.append(child)
            if states[child] == "Z":
                with suppress(ChildProcessError):
                    os.waitpid(child, os.WNOHANG)
                continue
            with suppress(OSError):
                words = Path(f"/proc/{child}/cmdline").read_bytes().replace(b"\0", b" ")
                found.append(f"{child} {words.decode('utf-8', 'replace')[:120]}")
    return found


def containers_of(pids: set[int]) -> list[str]:
    """Containers that one of these processes started and that are still there."""
    docker = shutil.which("docker")
    if docker is None:
        return []
    argv = [docker, "ps", "--all", "--no-trunc", "--filter", "label=org.envspec.run"]
    argv += ["--format", '{{.ID}} {{.Label "org.envspec.owner"}}']
    asked = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
    owners = [re.search(r"/(\d+)/", line) for line in asked.stdout.splitlines()]
    return [o.string for o in owners if o and int(o[1]) in pids]
