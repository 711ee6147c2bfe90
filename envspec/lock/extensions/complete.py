"""Whether a lock holds the extensions that its spec asks for, without asking anybody. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from envspec.lock.extensions.needs import needs_of
from envspec.lock.extensions.releases import ENDING, alias_of
from envspec.lock.graph import SPEC
from envspec.lock.listing import projects_of
from envspec.lock.model import Lock, LockedExtension, LockedPackage
from envspec.lock.request import Request
from envspec.lock.target import rank, version_of
from envspec.model import Extension, Spec

Gap = tuple[str, str]
"""As in `envspec.lock.complete`."""


def extension_gaps(lock: Lock, spec: Spec, request: Request) -> tuple[Gap, ...]:
    """What is wrong with the extensions of a lock, in the spec's order, then in the lock's."""
    return tuple(dict.fromkeys(_gaps(lock, spec, request)))


def _gaps(lock: Lock, spec: Spec, request: Request) -> Iterator[Gap]:
    locked = {e.name: e for e in lock.extensions}
    written = {e.name: e for e in spec.extensions}
    for extension in spec.extensions:
        found = locked.get(extension.name)
        if found is None:
            yield extension.name, "the spec has it as an extension, and it is not locked"
        else:
            yield from _archive(found, extension)
            yield from _build(found, extension, lock, request)
    packages = {p.name: p for p in lock.packages}
    before: set[str] = set()
    for found in lock.extensions:
        if found.name not in written:
            yield found.name, "it is locked as an extension, and the spec has no such extension"
        if found.name in packages:
            yield found.name, "it is locked as an extension and as a package"
        before.add(found.name)
        for name in found.requires:
            if name in locked:
                if name not in before and found.name not in locked[name].requires:
                    yield name, f"`{found.name}` requires it and is built before it"
            elif name not in packages:
                yield name, f"extension `{found.name}` requires it, and it is not locked"
            elif found.name not in packages[name].why:
                yield name, f"extension `{found.name}` requires it, and its line does not say so"
        yield from _wheel(found)
    for package in lock.packages:
        for parent in package.why:
            if parent in locked and package.name not in locked[parent].requires:
                yield package.name, f"its line names `{parent}`, which does not require it"


def _archive(found: LockedExtension, wanted: Extension) -> Iterator[Gap]:
    artefact = found.artefact
    if not artefact.size:
        yield found.name, "its size is not known"
    if wanted.git is not None:
        return
    alias = alias_of(wanted)
    if artefact.index != alias:
        yield found.name, f"it is locked from `{artefact.index}`, and its index is `{alias}`"
    if projects_of(artefact.file)[:1] != (found.name,) or not artefact.file.endswith(ENDING):
        yield found.name, f"`{artefact.file}` is no source archive of it"
    elif not _same(version_of(artefact.file), found.version):
        yield found.name, f"`{artefact.file}` is a file of another version than {found.version}"
    try:
        allowed = SpecifierSet(wanted.specifier).contains(found.version, prereleases=True)
    except (InvalidSpecifier, InvalidVersion):
        allowed = False
    if not allowed:
        yield found.name, f"{found.version} is locked, and the spec asks for {wanted.specifier}"


def _build(
    found: LockedExtension, wanted: Extension, lock: Lock, request: Request
) -> Iterator[Gap]:
    """The set of a build: whole, no larger than it has to be, of wheels that fit, and in step with
    the packages of the lock."""
    who = f"the build of `{found.name}`"
    there = {p.name: p for p in found.build}
    needs = needs_of(wanted)
    for name in needs:
        if name not in there:
            yield name, f"{who} needs it, and it is not locked for that"
        elif SPEC not in there[name].why:
            yield name, f"{who} needs it, and its line there does not say so"
    held = {p.name: p for p in lock.packages}
    for package in found.build:
        yield from _tool(package, held.get(package.name), who, request)
    reached, waiting = set[str](), [name for name in needs if name in there]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting.extend(child for child in there[name].requires if child in there)
    yield from ((name, f"nothing asks for it in {who}") for name in there if name not in reached)


def _tool(
    package: LockedPackage, held: LockedPackage | None, who: str, request: Request
) -> Iterator[Gap]:
    if held is not None and held.artefact != package.artefact:
        yield package.name, f"{who} has another file of it than the environment"
    file = package.artefact.file
    if rank(file, request) is None:
        yield package.name, f"`{file}` of {who} is no wheel for this target"
    elif package.name not in projects_of(file) or not _same(version_of(file), package.version):
        yield package.name, f"`{file}` of {who} is a file of something else"
    if not package.artefact.size:
        yield package.name, f"its size in {who} is not known"


def _wheel(found: LockedExtension) -> Iterator[Gap]:
    if not found.wheel:
        return
    try:
        right = found.name == str(parse_wheel_filename(found.wheel)[0])
    except (InvalidWheelFilename, InvalidVersion):
        right = False
    if not right:
        yield found.name, f"the wheel `{found.wheel}` that is recorded is of another package"


def _same(found: Version | None, stated: str) -> bool:
    try:
        return found == Version(stated)
    except InvalidVersion:
        return False
