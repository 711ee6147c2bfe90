"""Looking at this machine, and at what a lock needs of it and of the indexes.

Looking is done in `examine`, by the rooms below; what was seen is judged by functions that are
pure. What could not be looked at is said to be not checked, and never passes for good.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from envspec.build.host import Host, free, look, size
from envspec.diagnostics import DiagnosticError
from envspec.facts.versions import older
from envspec.lock import surroundings
from envspec.lock.indexes import PYPI, Indexes, UnreachableError, environment_variable
from envspec.lock.model import Artefact, Lock, artefacts
from envspec.lock.offered import CHANGED, GONE, SAME, SILENT, UNTOLD, YANKED, Offer, offers
from envspec.lock.sources import changed_source, origins_of
from envspec.lock.store import Store, cache_folder
from envspec.model import PathSource, Spec
from envspec.names import normalise
from envspec.pipeline import debs, load, needs
from envspec.pipeline.load import Loaded
from envspec.pipeline.machine import disks, graphics, network, programs, said_bytes, system
from envspec.report.health import BROKEN, GOOD, UNKNOWN, Finding
from envspec.reporter import Reporter

_ASKED_FOR = "pip"
"""A project that every general index has."""


def examine(path: Path | None, reporter: Reporter) -> tuple[Finding, ...]:
    """Everything; with ``path``, also what that spec and its lock need.

    Raises:
        DiagnosticError: the spec cannot be read, or is wrong.
    """
    loaded = load.load(path, use_lock=False) if path else None
    reporter.stage("looking at this machine")
    host = look()
    spec = loaded.spec if loaded else None
    indexes = Indexes({i.name: i.url for i in spec.indexes if i.url} if spec else {})
    found = [*programs(host, surroundings.tools()), *system(host), *graphics(host, spec)]
    found += disks(_folders(), size(cache_folder()))
    found += network(surroundings.settings(indexes.pip))
    reporter.stage("asking the indexes")
    found += _reachable(indexes, spec)
    if loaded:
        found += _lock(loaded, host, indexes, reporter)
    return tuple(found)


# --- judging, pure ----------------------------------------------------------------------------


def against_lock(host: Host, spec: Spec, lock: Lock | None) -> Iterator[Finding]:
    """The machine against what the spec and its lock need of it."""
    section, accelerator = "this spec here", spec.accelerator
    if spec.resources.memory and host.memory:
        enough = host.memory >= spec.resources.memory
        said = f"{said_bytes(spec.resources.memory)} stated, {said_bytes(host.memory)} here"
        yield Finding(section, "memory", GOOD if enough else BROKEN, said)
    if accelerator.kind != "cuda":
        return
    floor = max(
        (f for f in (accelerator.driver, lock.driver_floor if lock else "") if f),
        key=_numbers,
        default="",
    )
    if not floor:
        yield Finding(section, "driver", UNKNOWN, "no floor is known for what is locked")
    elif not host.nvidia.driver:
        yield Finding(section, "driver", UNKNOWN, f"{floor} or newer is needed, and none is here")
    else:
        good = not older(host.nvidia.driver, floor)
        said = f"{floor} or newer is needed, {host.nvidia.driver} is here"
        hint = "" if good else f"install driver {floor} or newer, or lock an older CUDA"
        yield Finding(section, "driver", GOOD if good else BROKEN, said, hint)
    if not accelerator.gpus:
        return
    stated, here = set(accelerator.gpus), {g.architecture for g in host.nvidia.gpus}
    said = f"the spec is for {', '.join(sorted(stated))}"
    if not here or "" in here:
        yield Finding(section, "gpus", UNKNOWN, f"{said}; what is here is not known")
    elif other := here - stated:
        said += f", and here is {', '.join(sorted(other))}"
        hint = "add it to `gpus`, or hide the GPU with CUDA_VISIBLE_DEVICES"
        yield Finding(section, "gpus", BROKEN, said, hint)
    else:
        yield Finding(section, "gpus", GOOD, f"{said}, and so is this machine")


def pins(found: Sequence[Offer], names: Mapping[str, str] | None = None) -> Iterator[Finding]:
    """What became of each locked file; those that are as they were are counted. ``names`` are the
    packages of files whose own names do not tell."""
    section = "pins"
    same = sum(offer.state == SAME for offer in found)
    if same:
        yield Finding(section, "offered", GOOD, f"{same} of {len(found)} as they are locked")
    for offer in found:
        file, index = offer.artefact.file, offer.artefact.index
        place = f"the index `{index}`" if index else "the spec's folder"
        name = (names or {}).get(file) or file.partition("-")[0]
        if file.endswith(".whl"):
            name = normalise(name)
        again = f"run `envspec lock -P {name}`"
        if offer.state == YANKED:
            said = f"`{file}` was yanked from {place}: its makers advise against it"
            yield Finding(section, name, BROKEN, said, again)
        elif offer.state == GONE:
            said = f"`{file}` is no longer in {place}"
            hint = again if index else "put the file back"
            yield Finding(section, name, BROKEN, said, f"{hint}; a copy in find-links will do too")
        elif offer.state == CHANGED:
            said = f"`{file}` in {place} has another hash than the lock"
            hint = f"find out who changed it before you {again}"
            yield Finding(section, name, BROKEN, said, hint)
        elif offer.state == UNTOLD:
            said = f"`{file}` is listed in {place}, which tells no hash to compare"
            yield Finding(section, name, UNKNOWN, said)
        elif offer.state == SILENT:
            yield Finding(section, name, UNKNOWN, f"{place} was asked for `{file}`: {offer.reason}")


# --- looking ----------------------------------------------------------------------------------


def _folders() -> list[tuple[str, tuple[int, int] | None]]:
    found = [
        ("cache", free(cache_folder())),
        ("temporary files", free(Path(tempfile.gettempdir()))),
    ]
    uv = os.environ.get("UV_CACHE_DIR")
    return [*found, ("uv's cache", free(Path(uv)))] if uv else found


def _reachable(indexes: Indexes, spec: Spec | None) -> list[Finding]:
    wanted = {PYPI: _ASKED_FOR}
    for package in spec.packages if spec else ():
        if package.index:
            wanted.setdefault(package.index, package.name)
    return [_index(indexes, alias, project) for alias, project in wanted.items()]


def _index(indexes: Indexes, alias: str, project: str) -> Finding:
    try:
        indexes.files(alias, project)
    except UnreachableError as error:
        hint = f"check network and proxy, or set {environment_variable(alias)} to a mirror"
        return Finding("indexes", alias, UNKNOWN, f"gave no usable answer: {error.reason}", hint)
    return Finding("indexes", alias, GOOD, "answers")


def _lock(loaded: Loaded, host: Host, indexes: Indexes, reporter: Reporter) -> Iterator[Finding]:
    lock, problem = None, None
    try:
        found = load.read_lock(loaded)
        lock = found[0] if found else None
        title = f"there is no `{load.LOCK_NAME}` beside the spec"
    except DiagnosticError as error:
        problem, title = error.diagnostics[0], error.diagnostics[0].title
    if lock is None:
        hint = f"run `envspec lock {loaded.argument}`"
        state = BROKEN if problem else UNKNOWN
        yield Finding("pins", load.LOCK_NAME, state, title, hint)
    yield from against_lock(host, loaded.spec, lock)
    named = [package.name for package in loaded.spec.system]
    yield from needs.needs(host, loaded.spec, lock, needs.missing_debs(named))
    if lock is None:
        return
    files = artefacts(lock)
    yield from _room(files)
    reporter.stage("looking for the locked files")
    made = origins_of(loaded.spec, loaded.source, reporter)
    names = {e.artefact.file: e.name for e in lock.extensions}
    listed = [a for a in files if a.index or a.file not in made]
    yield from pins(offers(listed, indexes, loaded.path.parent, reporter), names)
    for artefact in files:
        if artefact not in listed:
            yield _made(loaded, artefact, names.get(artefact.file, "source"))
    if lock.system.runtime or lock.system.build:
        reporter.stage("asking the distribution")
        yield from debs.offered(lock, loaded.spec.platform.os_arch)


def _made(loaded: Loaded, artefact: Artefact, name: str) -> Finding:
    """An archive that is packed here: from a folder, which is looked at, or from a repository,
    which is not asked where a copy is kept."""
    is_folder = name == "source" and isinstance(loaded.spec.project.source, PathSource)
    if is_folder:
        try:
            changed = changed_source(loaded.spec, loaded.source, artefact)
        except DiagnosticError as error:
            changed = error.diagnostics[0]
        if changed is None:
            return Finding("pins", name, GOOD, "the folder is as it is locked")
        return Finding("pins", name, BROKEN, changed.title, changed.hint)
    if Store().has(artefact):
        return Finding("pins", name, GOOD, f"`{artefact.file}` is kept in the cache")
    said = "its repository was not asked for the commit, and no copy is in the cache"
    return Finding("pins", name, UNKNOWN, said)


def _room(files: Sequence[Artefact]) -> Iterator[Finding]:
    store, room = Store(), free(cache_folder())
    missing = sum(a.size for a in files if not store.path(a).is_file())
    if room is not None and missing:
        said = f"{said_bytes(missing)} are to be fetched, {said_bytes(room[0])} are free"
        enough = room[0] > missing
        hint = "" if enough else "make room, or set ENVSPEC_CACHE to a folder on another disk"
        yield Finding("this spec here", "disk", GOOD if enough else BROKEN, said, hint)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdecimal())
