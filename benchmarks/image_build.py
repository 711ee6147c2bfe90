"""Building the image of examples/x-transformers, against a plain Dockerfile that uses pip.

Both install the same wheels from the same folder, on the same base, with nothing cached.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from engine import base_from, build, cache, covered, forget, remove, why_no_engine
from inputs import EXAMPLE, example_lock
from measure import AT_MOST, Figure, Skipped, child, script

from envspec.build import buildx

NAME = "image_build"
ROUNDS = 3
INSTALL, BUILD = "install the locked set / pip install", "clean build / plain pip Dockerfile"
_NAME = f"envspec-bench-{os.getpid()}"
_PYTHON = "3.11"
# What a person writes who knows pip and Docker; the virtual environment stands where ours does.
_PLAIN = """\
FROM {base}
RUN python{python} -m venv /opt/env
COPY requirements.txt /requirements.txt
RUN --mount=type=bind,from=wheels,target=/wheels /opt/env/bin/pip install --no-index \
--find-links /wheels --no-cache-dir --disable-pip-version-check -r /requirements.txt
ENV PATH=/opt/env/bin:$PATH
"""


class Recipe(NamedTuple):
    """A build to time, its image's tag, and how BuildKit names the steps that install wheels
    and those that only prepare for it."""

    argv: list[str]
    tag: str
    installs: str
    prepares: tuple[str, ...]


class Round(NamedTuple):
    """Seconds of one clean build: the whole of it, its installing and its preparing steps."""

    whole: float
    install: float
    prepare: float


def figures(rounds: int | None) -> Iterator[Figure | Skipped]:
    """Install steps, and whole builds."""
    why = why_no_engine()
    if why:
        yield from (Skipped(name, why) for name in (INSTALL, BUILD))
        return
    with tempfile.TemporaryDirectory(prefix="envspec-bench.") as name:
        yield from _measured(Path(name), rounds or ROUNDS)


def _measured(folder: Path, rounds: int) -> Iterator[Figure]:
    recipes = _ours(folder), _plain(folder)
    seen: tuple[list[Round], list[Round]] = [], []
    for _ in range(rounds):
        for recipe, runs in zip(recipes, seen, strict=True):
            runs.append(_round(recipe))
    own, pip = (Round(*map(statistics.median, zip(*runs, strict=True))) for runs in seen)
    prepared = (own.install + own.prepare) / (pip.install + pip.prepare)
    note = f"with installer and empty environment on both sides: {prepared:.2f}"
    yield Figure(INSTALL, own.install, pip.install, "s", AT_MOST, 0.5, note)
    note = "ours exports uncompressed, as `envspec verify` does"
    yield Figure(BUILD, own.whole, pip.whole, "s", AT_MOST, 0.45, note)


def _round(recipe: Recipe) -> Round:
    """One build without cache; its image and its records in the build cache are removed."""
    before = cache()
    try:
        whole, steps = build(recipe.argv)
    finally:
        remove(recipe.tag)
        forget(cache() - before)
    installs = [s for s in steps if recipe.installs in s.name]
    prepares = [s for s in steps if any(words in s.name for words in recipe.prepares)]
    if not installs or not prepares:
        raise RuntimeError("the build's log names no install step")
    return Round(whole, covered(installs), covered(prepares))


def _ours(folder: Path) -> Recipe:
    """What `envspec verify` builds, by its own argument list, but clean and timed."""
    spec, context, files = EXAMPLE / "spec.env", folder / "context", folder / "layers"
    child([script("envspec"), "compile", "--frozen", spec, "-o", context])
    child([script("envspec"), "fetch", spec, "-o", files])
    contexts = {"wheels": str(files)}
    lock = example_lock()
    substitute = base_from()
    if substitute:
        contexts[f"{lock.base_name}@{lock.base_digest}"] = f"docker-image://{substitute}"
    tag = f"{_NAME}:ours"
    argv = buildx.arguments(context, contexts, tag, {}, "linux/amd64")
    argv[argv.index("plain")] = "rawjson"
    return Recipe([*argv, "--no-cache"], tag, '"pip", "install"', ("[installer ", '"venv"'))


def _plain(folder: Path) -> Recipe:
    """The same wheels in one flat folder and a Dockerfile that installs them with pip."""
    wheels, context = folder / "flat", folder / "plain"
    wheels.mkdir()
    context.mkdir()
    lock = example_lock()
    for wheel in (folder / "layers").glob("*/*.whl"):
        if wheel.name != lock.installer.artefact.file:
            (wheels / wheel.name).hardlink_to(wheel)
    base = base_from() or f"{lock.base_name}@{lock.base_digest}"
    (context / "Dockerfile").write_text(_PLAIN.format(base=base, python=_PYTHON))
    pins = "".join(f"{p.name}=={p.version}\n" for p in lock.packages)
    (context / "requirements.txt").write_text(pins)
    tag = f"{_NAME}:plain"
    argv = ["docker", "build", "--no-cache", "--progress", "rawjson", "--tag", tag]
    argv += ["--build-context", f"wheels={wheels}", str(context)]
    return Recipe(argv, tag, "bin/pip install", (f"python{_PYTHON} -m venv",))
