"""`envspec compile` in a fresh process, against hpccm and repo2docker on equal recipes.

All three write a Dockerfile for one base image and one list of pinned packages, and none of
them resolves, fetches or builds. EnvSpec also reads a lock and writes a flake, requirement
lists, a plan and a manifest.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from inputs import EXAMPLE, example_lock, pins
from measure import AT_MOST, Figure, Skipped, Times, child, interleaved, script

NAME = "compile_cold"
ROUNDS = 15


def figures(rounds: int | None) -> Iterator[Figure | Skipped]:
    """Cold, with a fresh folder and with outputs already there."""
    with tempfile.TemporaryDirectory(prefix="envspec-bench.") as name:
        yield from _measured(Path(name), rounds or ROUNDS)


def _measured(folder: Path, rounds: int) -> Iterator[Figure]:
    recipe, repository = _inputs(folder)
    for file in ("spec.env", "spec.lock", "smoke.py"):
        shutil.copy(EXAMPLE / file, folder)
    envspec: list[str | Path] = [
        script("envspec"),
        "compile",
        "--frozen",
        folder / "spec.env",
        "-o",
    ]
    fresh, there = folder / "fresh", folder / "there"
    hpccm: list[str | Path] = [script("hpccm"), "--recipe", recipe]
    # The last word repo2docker prints is the Dockerfile; --no-build asks no engine.
    repo2docker: list[str | Path] = [script("repo2docker"), "--no-build", "--debug", repository]

    def into_fresh_folder() -> Times:
        shutil.rmtree(fresh, ignore_errors=True)
        return child([*envspec, fresh])

    actions = {
        "fresh": into_fresh_folder,
        "there": lambda: child([*envspec, there]),
        "hpccm": lambda: child(hpccm),
        "repo2docker": lambda: child(repo2docker),
        "python": lambda: child([sys.executable, "-c", "pass"]),
    }
    interleaved(actions, 2)  # every module is compiled to bytecode now
    times = interleaved(actions, rounds)
    for ours, what in (("fresh", "fresh folder"), ("there", "outputs already there")):
        for peer, target in (("hpccm", 1.6), ("repo2docker", 0.7)):
            cpu = times[ours].cpu / times[peer].cpu
            yield Figure(
                f"compile, cold, {what} / {peer}",
                times[ours].wall,
                times[peer].wall,
                "s",
                AT_MOST,
                target,
                f"processor time alone: {cpu:.2f}",
            )
    yield Figure("python -c pass, for scale", times["python"].wall, None, "s", AT_MOST, None)


def _inputs(folder: Path) -> tuple[Path, Path]:
    """The same recipe as hpccm and repo2docker take it: same base, same pins."""
    lock = example_lock()
    packages = pins(lock)
    recipe = folder / "recipe.py"
    recipe.write_text(
        f"Stage0 += baseimage(image={lock.base_name!r})\n"
        f"Stage0 += pip(packages={packages!r}, pip='pip3')\n"
    )
    repository = folder / "repository"
    repository.mkdir()
    (repository / "requirements.txt").write_text("\n".join(packages) + "\n")
    (repository / "runtime.txt").write_text("python-3.11\n")
    return recipe, repository
