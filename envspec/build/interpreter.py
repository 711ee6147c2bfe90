"""Finding the interpreter that a spec asks for, on this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from envspec.machines import MACHINES
from envspec.reporter import Reporter

_ANSWER_SECONDS = 10
_DOWNLOAD_SECONDS = 900
_QUESTION = (
    "import json, sys, sysconfig; print(json.dumps([list(sys.version_info[:3]), "
    "sys.base_prefix, sysconfig.get_platform(), sys.implementation.name, sys._base_executable]))"
)


class Interpreter(NamedTuple):
    """A Python that answered: its program, its full version and the folder it lives in."""

    program: Path
    version: str
    home: Path


def find(
    python: str, platform: str, uv: str, installs: Path, reporter: Reporter
) -> Interpreter | None:
    """A CPython ``python`` (``3.11``) for ``platform`` (``linux/amd64``); None without one.

    Looked for on PATH, among pyenv's versions, by uv, and last of all installed by uv into the
    folder ``installs``, which takes the network.
    """
    for candidate in _here(python):
        found = _ask(candidate, python, platform)
        if found:
            return found
    settings = {"UV_PYTHON_INSTALL_DIR": str(installs), "UV_NO_CONFIG": "1"}
    looked = _uv(uv, ["python", "find", "--no-project", "--no-python-downloads", python], settings)
    found = _ask(Path(looked), python, platform) if looked else None
    if found:
        return found
    reporter.line(f"no Python {python} on this machine; uv fetches one")
    _uv(uv, ["python", "install", "--no-bin", python], settings, _DOWNLOAD_SECONDS)
    looked = _uv(
        uv, ["python", "find", "--no-project", "--managed-python", "--offline", python], settings
    )
    return _ask(Path(looked), python, platform) if looked else None


def _here(python: str) -> Iterator[Path]:
    name = f"python{python}"
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = Path(folder or ".", name)
        if os.access(path, os.X_OK):
            yield path
    if python == f"{sys.version_info[0]}.{sys.version_info[1]}":
        yield Path(sys.base_prefix, "bin", name)
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv", "versions")
    with suppress(OSError):  # another user's folder, say
        yield from sorted(pyenv.glob(f"{python}.*/bin/{name}"), reverse=True)


def _ask(program: Path, python: str, platform: str) -> Interpreter | None:
    # A pyenv shim is a program of the right name that only says that it is not there: so ask.
    try:
        asked = subprocess.run(
            [program, "-I", "-c", _QUESTION],
            capture_output=True,
            timeout=_ANSWER_SECONDS,
            check=True,
        )
        version, home, built_for, implementation, itself = json.loads(asked.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    machine = MACHINES.get(platform, "")
    fits = [f"{version[0]}.{version[1]}", implementation] == [python, "cpython"]
    if not fits or not built_for.endswith(machine):
        return None
    # The program itself: what was asked may be a shim or stand in another environment.
    return Interpreter(Path(itself), ".".join(map(str, version)), Path(home))


def _uv(uv: str, words: list[str], settings: dict[str, str], seconds: float = 30) -> str:
    """What uv prints; empty where it fails."""
    try:
        done = subprocess.run(
            [uv, *words],
            env={**os.environ, **settings},
            capture_output=True,
            text=True,
            timeout=seconds,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
