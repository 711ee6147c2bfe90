"""Whether a lock holds what its spec asks for, without asking anybody. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from envspec.lock.indexes import PYPI
from envspec.lock.listing import projects_of
from envspec.lock.model import Lock, LockedPackage
from envspec.lock.request import PackageRequest, Request
from envspec.lock.target import rank, version_of

Gap = tuple[str, str]
"""The name of a package, and a clause that says what is wrong with it."""


def gaps(lock: Lock, request: Request) -> tuple[Gap, ...]:
    """What is wrong, in the order of the spec, then of the lock; empty for a whole lock."""
    return tuple(dict.fromkeys(_gaps(lock, request)))


def _gaps(lock: Lock, request: Request) -> Iterator[Gap]:
    packages = {package.name: package for package in lock.packages}
    for wanted in request.packages:
        found = packages.get(wanted.name)
        if found is None:
            yield wanted.name, "the spec asks for it, and it is not locked"
        else:
            yield from _against_spec(found, wanted)
    aliases = request.aliases
    for package in lock.packages:
        yield from _by_itself(package, aliases.get(package.name, PYPI), request)
        for child in package.requires:
            if package.name not in packages[child].why:
                yield child, f"`{package.name}` requires it, and its line does not say so"
        for parent in package.why:
            # What extensions require: see `envspec.lock.extensions.complete`.
            if parent in packages and package.name not in packages[parent].requires:
                yield package.name, f"its line names `{parent}`, which does not require it"
        if "spec" in package.why and package.name not in aliases:
            yield package.name, "its line says that the spec asks for it, and the spec does not"
    roots = [p.name for p in request.packages]
    roots.extend(name for extension in lock.extensions for name in extension.requires)
    reached = _reached(packages, roots)
    yield from ((name, "nothing asks for it") for name in packages if name not in reached)


def _against_spec(found: LockedPackage, wanted: PackageRequest) -> Iterator[Gap]:
    try:
        allowed = SpecifierSet(wanted.specifier).contains(found.version, prereleases=True)
    except (InvalidSpecifier, InvalidVersion):
        allowed = False
    if not allowed:
        yield found.name, f"{found.version} is locked, and the spec asks for {wanted.specifier}"
    if "spec" not in found.why:
        yield found.name, "the spec asks for it, and its line does not say so"


def _by_itself(package: LockedPackage, alias: str, request: Request) -> Iterator[Gap]:
    index, file = package.artefact.index, package.artefact.file
    if index != alias:
        yield package.name, f"it is locked from `{index}`, and its index is `{alias}`"
    if package.name not in projects_of(file):
        yield package.name, f"`{file}` is a file of another package"
    elif not _same(version_of(file), package.version):
        yield package.name, f"`{file}` is a file of another version than {package.version}"
    if file.endswith(".whl"):
        if rank(file, request) is None:
            yield package.name, f"`{file}` does not fit {request.platform}, Python {request.python}"
    elif package.name not in request.sdists_allowed:
        yield package.name, f"`{file}` is a source archive, which the spec does not allow"
    if not package.artefact.size:
        yield package.name, "its size is not known"


def _same(found: Version | None, stated: str) -> bool:
    try:
        return found == Version(stated)
    except InvalidVersion:
        return False


def _reached(packages: dict[str, LockedPackage], roots: list[str]) -> set[str]:
    reached: set[str] = set()
    todo = [name for name in roots if name in packages]
    while todo:
        name = todo.pop()
        if name not in reached:
            reached.add(name)
            todo.extend(packages[name].requires)
    return reached
