"""Building the image of examples/x-transformers, against a plain Dockerfile that uses pip.

Both install the same wheels from the same folder, on the same base. Clean builds have nothing
cached; the rebuild has all of the build before, and another version of one small package, which a
plain Dockerfile answers by installing everything again. The size is that of the files in the image,
beside those of the base and of the wheels as they are unpacked.
"""

from __future__ import annotations

import hashlib
import os
import statistics
import subprocess
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from engine import base_from, build, cache, covered, forget, remove, why_no_engine
from inputs import EXAMPLE, example_lock
from measure import AT_MOST, Figure, Skipped, child, script

from envspec.build import buildx
from envspec.plan.model import EPOCH

NAME = "image_build"
ROUNDS = 3
INSTALL, BUILD = "install the locked set / pip install", "clean build / plain pip Dockerfile"
REBUILD = "rebuild, one small package changed / plain pip Dockerfile"
SIZE = "files of the image / those of base and wheels"
_SMALL, _OTHER = "loguru", "0.7.2"
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
        yield from (Skipped(name, why) for name in (INSTALL, BUILD, REBUILD, SIZE))
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
    yield Figure(BUILD, own.whole, pip.whole, "s", AT_MOST, 0.5, note)
    yield from _again(folder, recipes[0], pip.whole, rounds)


def _again(folder: Path, ours: Recipe, plain: float, rounds: int) -> Iterator[Figure]:
    """Build once, look at the size, and build again and again with the package changed."""
    before = cache()
    argv = [word for word in ours.argv if word != "--no-cache"]
    try:
        build(argv)
        wheels = _unpacked(folder / "layers")
        made, base = _files(ours.tag), _files(_base())
        note = f"image {made >> 20} MiB, base {base >> 20}, wheels {wheels >> 20}"
        size = Figure(
            SIZE, made / (1 << 20), (base + wheels) / (1 << 20), "MiB", AT_MOST, 1.02, note
        )
        seconds = []
        for _ in range(rounds):
            _change(folder)
            # What was cached of the same change a round before would be no rebuild.
            known = cache()
            seconds.append(build(argv)[0])
            forget(cache() - known)
    finally:
        remove(ours.tag)
        forget(cache() - before)
    note = f"{_SMALL} {_OTHER}; the layer of torch stays"
    yield Figure(REBUILD, statistics.median(seconds), plain, "s", AT_MOST, 0.15, note)
    yield size


def _change(folder: Path) -> None:
    """The other version of one package in the folder and in the list of its layer; at the next
    call the first one again."""
    layer, listed = (
        folder / "layers" / "packages",
        folder / "context" / "requirements.packages.lock",
    )
    aside = folder / "aside"
    if not aside.exists():
        aside.mkdir()
        child(
            [
                *(script("pip"), "download", "--quiet", "--no-deps", "--disable-pip-version-check"),
                *("--dest", aside, f"{_SMALL}=={_OTHER}"),
            ]
        )
    here, there = (next(f.glob(f"{_SMALL}-*.whl")) for f in (layer, aside))
    here.rename(folder / here.name)
    there.rename(layer / there.name)
    (folder / here.name).rename(aside / here.name)
    digest = hashlib.sha256((layer / there.name).read_bytes()).hexdigest()
    version = there.name.split("-")[1]
    lines = [
        f"{_SMALL}=={version} --hash=sha256:{digest}" if line.startswith(f"{_SMALL}==") else line
        for line in listed.read_text().splitlines()
    ]
    listed.write_text("\n".join(lines) + "\n")


def _unpacked(layers: Path) -> int:
    """Bytes of what the wheels hold; the installer is no part of an image."""
    total = 0
    for path in layers.glob("*/*.whl"):
        if path.parent.name != "tools":
            with zipfile.ZipFile(path) as wheel:
                total += sum(member.file_size for member in wheel.infolist())
    return total


def _files(image: str) -> int:
    """Bytes of the files that a container of an image shows."""
    made = subprocess.run(
        ["docker", "create", image, "true"], capture_output=True, text=True, check=True
    )
    container = made.stdout.strip()
    try:
        with subprocess.Popen(["docker", "export", container], stdout=subprocess.PIPE) as export:
            with tarfile.open(fileobj=export.stdout, mode="r|") as members:
                total = sum(member.size for member in members if member.isreg())
            assert export.stdout is not None
            export.stdout.read()
    finally:
        subprocess.run(["docker", "rm", "--force", container], capture_output=True, check=False)
    return total


def _base() -> str:
    lock = example_lock()
    return base_from() or f"{lock.base_name}@{lock.base_digest}"


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
    output = buildx.image_output(tag, {})
    argv = buildx.arguments(context, contexts, "linux/amd64", EPOCH, output)
    argv[argv.index("plain")] = "rawjson"
    return Recipe([*argv, "--no-cache"], tag, "pip install", ("[installer ", '"venv"'))


def _plain(folder: Path) -> Recipe:
    """The same wheels in one flat folder and a Dockerfile that installs them with pip."""
    wheels, context = folder / "flat", folder / "plain"
    wheels.mkdir()
    context.mkdir()
    lock = example_lock()
    for wheel in (folder / "layers").glob("*/*.whl"):
        if wheel.name != lock.installer.artefact.file:
            (wheels / wheel.name).hardlink_to(wheel)
    base = _base()
    (context / "Dockerfile").write_text(_PLAIN.format(base=base, python=_PYTHON))
    pins = "".join(f"{p.name}=={p.version}\n" for p in lock.packages)
    (context / "requirements.txt").write_text(pins)
    tag = f"{_NAME}:plain"
    argv = ["docker", "build", "--no-cache", "--progress", "rawjson", "--tag", tag]
    argv += ["--build-context", f"wheels={wheels}", str(context)]
    return Recipe(argv, tag, "bin/pip install", (f"python{_PYTHON} -m venv",))
