"""What a spec needs of the machine that builds it: engines, compilers, programs, packages of the
distribution. Judged from what was seen; asking dpkg is the only looking here.

What the engine `local` lacks and an image has is a note where an engine for images answers, and
broken where none does.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence

from envspec import toolchain
from envspec.build.host import Host
from envspec.facts.versions import within
from envspec.lock.model import Lock
from envspec.model import GitSource, Spec
from envspec.report.health import BROKEN, GOOD, NOTE, UNKNOWN, Finding
from envspec.wording import listed

SECTION = "this spec here"
_SECONDS = 60
_FORMAT = "${Package} ${db:Status-Abbrev}\n"


def missing_debs(names: Sequence[str]) -> tuple[str, ...] | None:
    """Which packages of the distribution this machine lacks; None where it has no dpkg to ask."""
    if not names:
        return ()
    query = ["dpkg-query", "--show", f"--showformat={_FORMAT}", "--", *names]
    try:
        asked = subprocess.run(
            query, capture_output=True, text=True, errors="replace", timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    lines = [line.split() for line in asked.stdout.splitlines()]
    there = {words[0] for words in lines if words[1:2] == ["ii"]}
    return tuple(name for name in names if name not in there)


def needs(
    host: Host, spec: Spec, lock: Lock | None, lacking: tuple[str, ...] | None
) -> Iterator[Finding]:
    """``lacking`` is what `missing_debs` gave for the packages that the spec names."""
    here = {p.name: p for p in host.programs if p.found}
    yield from _images(host, spec, lock, buildx="buildx" in here)
    sources = [spec.project.source, *(e.git for e in spec.extensions)]
    gits = sum(isinstance(source, GitSource) for source in sources)
    if gits:
        what = f"{gits} source{'s come' if gits > 1 else ' comes'} from a repository"
        hint = "" if "git" in here else "install git"
        state, said = (GOOD, what) if "git" in here else (BROKEN, f"{what}, and git is not here")
        yield Finding(SECTION, "git", state, said, hint)
    instead = NOTE if host.docker.version else BROKEN
    if spec.system:
        yield _apt(lacking, instead)
    if spec.extensions:
        names = listed(e.name for e in spec.extensions)
        if "cc" in here:
            said = f"{here['cc'].version or 'of no told version'}, for {names}"
            yield Finding(SECTION, "C compiler", GOOD, said)
        else:
            said = f"the engine `local` needs one for {names}, and `cc` is not here"
            hint = "install gcc and g++, or build in an image with `--engine docker`"
            yield Finding(SECTION, "C compiler", instead, said, hint)
        if spec.accelerator.kind == "cuda":
            found = here.get("nvcc")
            yield _nvcc(spec, found.version if found else None, instead)


def _images(host: Host, spec: Spec, lock: Lock | None, *, buildx: bool) -> Iterator[Finding]:
    """An engine for images: to ask for the distribution's packages, and to build."""
    if host.docker.version and buildx:
        yield Finding(SECTION, "images", GOOD, "docker and buildx can build them here")
        return
    lacks = "buildx is not here" if host.docker.version else "no Docker Engine answers"
    if spec.system and lock is None and not host.docker.version:
        said = f"only a container tells which packages `system` brings, and {lacks}"
        yield Finding(SECTION, "images", BROKEN, said, "start Docker, and run `envspec lock` then")
        return
    hint = "install the plugin `buildx`" if host.docker.version else "start Docker"
    yield Finding(SECTION, "images", NOTE, f"none can be built here: {lacks}", hint)


def _apt(lacking: tuple[str, ...] | None, instead: str) -> Finding:
    name = "system packages"
    if lacking is None:
        said = "this machine has no dpkg to ask, so the engine `local` cannot be used"
        return Finding(SECTION, name, UNKNOWN if instead == BROKEN else NOTE, said)
    if not lacking:
        return Finding(SECTION, name, GOOD, "all that the spec names are here")
    said = f"the engine `local` needs {', '.join(lacking)}, which {_are(lacking)} not here"
    hint = f"sudo apt-get install --no-install-recommends {' '.join(lacking)}"
    return Finding(SECTION, name, instead, said, hint)


def _are(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _nvcc(spec: Spec, version: str | None, instead: str) -> Finding:
    """``version`` is None where there is no nvcc, and ``""`` where it does not tell its own."""
    if version is None:
        said = "the engine `local` needs it to compile for CUDA, and it is not here"
        hint = "install the CUDA toolkit, or build in an image with `--engine docker`"
        return Finding(SECTION, "nvcc", instead, said, hint)
    wanted = toolchain.nvcc(spec)
    release = wanted.release if wanted else spec.accelerator.toolkit
    if not release or not version:
        said = f"{version or 'of no told version'}; which one the spec compiles with is not known"
        return Finding(SECTION, "nvcc", UNKNOWN, said)
    major_minor = ".".join(release.split(".")[:2])
    said = f"{version} is here, the spec compiles with {major_minor}"
    if within(version, major_minor, major_minor):
        return Finding(SECTION, "nvcc", GOOD, said)
    hint = "build in an image with `--engine docker`: another nvcc gives another wheel"
    return Finding(SECTION, "nvcc", instead, said, hint)
