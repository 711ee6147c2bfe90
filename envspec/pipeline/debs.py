"""Whether a distribution still offers the packages of a lock: the lists of its mirror are asked in
a container of the image that was asked for the lock, where an engine has that image already."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from envspec.lock.debian.container import run
from envspec.lock.model import Deb, Lock
from envspec.report.health import BROKEN, GOOD, UNKNOWN, Finding

SECTION, NAME = "pins", "system"
_SECONDS = 20
_MOST_TOLD = 10
_SCRIPT = r"""
export LC_ALL=C
echo '@begin'
command -v apt-get >/dev/null && command -v apt-cache >/dev/null || { echo '@noapt'; exit 0; }
apt-get update -q -o APT::Update::Error-Mode=any >/dev/null 2>&1 || { echo '@noupdate'; exit 0; }
for deb; do
  echo "@deb $deb"
  apt-cache show -- "$deb" 2>/dev/null | sed -n 's/^SHA256: //p'
done
echo '@end'
"""


def offered(lock: Lock, platform: str) -> Iterator[Finding]:
    """Findings about every stage's packages. No image is pulled for this."""
    base = lock.system.asked or f"{lock.base_name}@{lock.base_digest}"
    devel = f"{lock.devel_name}@{lock.devel_digest}" if lock.devel_name else base
    for image, debs in ((base, lock.system.runtime), (devel, lock.system.build)):
        if not debs:
            continue
        why, listed = _ask(image, platform, debs)
        if why:
            said = f"{len(debs)} packages of the distribution were not asked for: {why}"
            yield Finding(SECTION, NAME, UNKNOWN, said)
        else:
            yield from judged(debs, listed)


def judged(debs: Sequence[Deb], listed: Mapping[str, frozenset[str]]) -> Iterator[Finding]:
    """Pure. ``listed`` are the digests that the mirror's lists have for each `NAME=VERSION`."""
    good = [deb for deb in debs if deb.sha256 in listed.get(_key(deb), ())]
    if good:
        said = f"{len(good)} of {len(debs)} packages of the distribution as they are locked"
        yield Finding(SECTION, NAME, GOOD, said)
    bad = [deb for deb in debs if deb not in good]
    for deb in islice(bad, _MOST_TOLD):
        if listed.get(_key(deb)):
            said = f"`{deb.file}` has another hash in the distribution's lists than in the lock"
            hint = "find out who changed it before you run `envspec lock --upgrade`"
        else:
            said = f"version {deb.version} is no longer in the distribution's lists"
            hint = "run `envspec lock --upgrade`; the file itself may still be in the cache"
        yield Finding(SECTION, deb.name, BROKEN, said, hint)
    if len(bad) > _MOST_TOLD:
        yield Finding(SECTION, NAME, BROKEN, f"{len(bad) - _MOST_TOLD} more are no longer the same")


def _ask(
    image: str, platform: str, debs: Sequence[Deb]
) -> tuple[str, Mapping[str, frozenset[str]]]:
    """Why there is no answer, ``""`` where there is one; and the answer."""
    docker = shutil.which("docker")
    if docker is None:
        return "the `docker` command is missing", {}
    try:
        there = subprocess.run(
            [docker, "image", "inspect", "--format", "{{.Id}}", "--", image],
            capture_output=True,
            timeout=_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError):
        return "the engine does not answer", {}
    if there.returncode:
        return "the engine does not have the image that would be asked", {}
    ran = run(image, platform, _SCRIPT, [_key(deb) for deb in debs])
    return (ran.failure, {}) if ran.failure else read(ran.text)


def read(text: str) -> tuple[str, Mapping[str, frozenset[str]]]:
    """The same two from what the container printed. Pure."""
    lines = text.splitlines()
    if "@noapt" in lines:
        return "the image has no apt", {}
    if "@noupdate" in lines:
        return "the distribution's mirror did not give its lists", {}
    if "@begin" not in lines or "@end" not in lines:
        return "the answer is not complete", {}
    found: dict[str, set[str]] = {}
    now: set[str] = set()
    for line in lines:
        if line.startswith("@deb "):
            now = found.setdefault(line.removeprefix("@deb "), set())
        elif not line.startswith("@"):
            now.add(line.strip())
    return "", {key: frozenset(digests) for key, digests in found.items()}


def _key(deb: Deb) -> str:
    return f"{deb.name}={deb.version}"
