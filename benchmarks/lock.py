"""`envspec lock`: where nothing changed, and from nothing against `uv pip compile`.

The peer gets the same packages, Python, platform and index, hashes included. Both have uv's cache
filled by a run before, and both ask the index: without an answer from it the figure is skipped.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from inputs import EXAMPLE
from measure import AT_MOST, Figure, Skipped, Times, child, interleaved, median, script

NAME = "lock"
ROUNDS = 7
PACKAGES = ("torch", "einops", "matplotlib")
_SPEC = """\
envspec 1

project bench {{
  source archive "bench-1.0.tar.gz" sha256 "{sha256}"
}}

platform linux/amd64 {{
  base   "python:3.11-slim-bookworm@sha256:{digest}"
  python 3.11
}}

packages {{
{packages}
}}

entry smoke {{
  level   c1
  run     "python" "-c" "import torch"
  timeout 1m
}}
"""


def figures(rounds: int | None) -> Iterator[Figure | Skipped]:
    """The two figures."""
    with tempfile.TemporaryDirectory(prefix="envspec-bench.") as name:
        yield _noop(Path(name), rounds or ROUNDS)
    with tempfile.TemporaryDirectory(prefix="envspec-bench.") as name:
        yield _from_nothing(Path(name), rounds or ROUNDS)


def _noop(folder: Path, rounds: int) -> Figure:
    for file in ("spec.env", "spec.lock"):
        shutil.copy(EXAMPLE / file, folder)
    argv = [script("envspec"), "lock", "--quiet", "spec.env"]
    child(argv, cwd=folder)
    times = median([child(argv, cwd=folder) for _ in range(rounds)])
    note = f"by processor time: {times.cpu:.2f} s"
    return Figure("lock, nothing changed", times.wall, None, "s", AT_MOST, 0.3, note)


def _from_nothing(folder: Path, rounds: int) -> Figure | Skipped:
    name = f"lock with uv: {', '.join(PACKAGES)}"
    archive = folder / "bench-1.0.tar.gz"
    archive.write_bytes(b"no archive, but a file with a hash")
    sha256 = hashlib.sha256(archive.read_bytes()).hexdigest()
    lines = "\n".join(f"  {package}" for package in PACKAGES)
    text = _SPEC.format(sha256=sha256, digest="e" * 64, packages=lines)
    (folder / "spec.env").write_text(text, encoding="utf-8")
    (folder / "bench.in").write_text("\n".join(PACKAGES) + "\n", encoding="utf-8")
    actions = {"ours": lambda: _ours(folder), "peer": lambda: _peer(folder)}
    try:
        interleaved(actions, 1)
    except RuntimeError as error:
        return Skipped(name, f"the index gave no answer: {str(error).splitlines()[0]}")
    times = interleaved(actions, rounds)
    ours, peer = times["ours"], times["peer"]
    note = f"by processor time: {ours.cpu:.2f} s against {peer.cpu:.2f} s"
    return Figure(name, ours.wall, peer.wall, "s", AT_MOST, 1.15, note)


def _ours(folder: Path) -> Times:
    (folder / "spec.lock").unlink(missing_ok=True)
    return child([script("envspec"), "lock", "--quiet", "spec.env"], cwd=folder)


def _peer(folder: Path) -> Times:
    (folder / "bench.txt").unlink(missing_ok=True)
    return child(
        [
            *(script("uv"), "pip", "compile", "--quiet", "--no-config", "--generate-hashes"),
            *("--only-binary", ":all:", "--python-version", "3.11"),
            *("--python-platform", "x86_64-manylinux_2_28", "bench.in", "-o", "bench.txt"),
        ],
        cwd=folder,
    )
