"""Which source archive of an extension: the newest release that its statement allows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from envspec.diagnostics import DiagnosticError
from envspec.lock.indexes import PYPI, Indexes, UnreachableError
from envspec.lock.listing import IndexFile, projects_of
from envspec.lock.request import Request
from envspec.lock.target import python_allowed, version_of
from envspec.model import Extension
from envspec.stated import exact

ENDING = ".tar.gz"
"""What the stage that compiles unpacks. PEP 625 names a source archive so; a few are zip files."""

CODE = "E0430"


class Release(NamedTuple):
    """A source archive on an index, and its version."""

    version: Version
    file: IndexFile


def alias_of(extension: Extension) -> str:
    """The index that an extension comes from."""
    return extension.index or PYPI


def choose(extension: Extension, request: Request, indexes: Indexes) -> Release:
    """The release that ``request.pins`` names, where it still fits; else the newest that does.

    A release that was withdrawn (yanked) fits only where the spec pins it with ``==``; so does one
    that was uploaded after ``request.exclude_newer``, or whose index does not tell the day. A
    pre-release fits only where the specifier names one.

    Raises:
        DiagnosticError: E0430 none fits, E0501 the index gave no answer.
    """
    alias = alias_of(extension)
    try:
        files = indexes.files(alias, extension.name)
    except UnreachableError as error:
        raise error.finding(request.source, extension.span) from None
    own = [f for f in files or () if projects_of(f.filename)[:1] == (extension.name,)]
    fitting = list(_fitting(extension, own, request))
    if not fitting:
        raise _none(extension, own, request, known=files is not None)
    kept = request.pins.get(extension.name)
    return next((r for r in fitting if str(r.version) == kept), max(fitting, key=_key))


def _key(release: Release) -> tuple[Version, str]:
    return release.version, release.file.filename


def _fitting(
    extension: Extension, files: Iterable[IndexFile], request: Request
) -> Iterator[Release]:
    pinned = exact(extension.specifier)
    wanted = _specifier(extension.specifier)
    for release in _archives(files):
        if not python_allowed(release.file, request) or not _allows(wanted, release.version):
            continue
        if pinned or (not release.file.yanked and not _too_new(release.file, request)):
            yield release


def _archives(files: Iterable[IndexFile]) -> Iterator[Release]:
    for file in files:
        version = version_of(file.filename) if file.filename.endswith(ENDING) else None
        if version is not None:
            yield Release(version, file)


def _specifier(text: str) -> SpecifierSet:
    try:
        return SpecifierSet(text)
    except InvalidSpecifier:  # the language lets none through
        return SpecifierSet("==0.dev0")


def _allows(wanted: SpecifierSet, version: Version) -> bool:
    """Whether a specifier lets a version in; pre-releases only where it names one itself. Left to
    choose, `contains` lets them in where it sees no other."""
    return wanted.contains(version, prereleases=bool(wanted.prereleases))


def _too_new(file: IndexFile, request: Request) -> bool:
    """Whether a limit of days leaves the file out. Both moments are UTC (PEP 700), in a form whose
    order is that of its text; 19 characters reach to the second."""
    limit = request.exclude_newer
    return bool(limit) and not (file.uploaded and file.uploaded[:19] < limit[:19])


def _none(
    extension: Extension, files: list[IndexFile], request: Request, *, known: bool
) -> DiagnosticError:
    where, asked = f"the index `{alias_of(extension)}`", extension.specifier or "any version"
    cause, hint = _why_none(extension, files, request)
    if not known:
        cause, hint = f"{where} does not know the project", "check the name, or write `from INDEX`"
    return DiagnosticError.of(
        CODE,
        f"extension `{extension.name}` has no source archive for {asked}",
        source=request.source,
        span=extension.span,
        cause=cause,
        hint=hint,
    )


def _why_none(extension: Extension, files: list[IndexFile], request: Request) -> tuple[str, str]:
    """What there is in place of a fitting archive, the nearest first, and what would mend it."""
    where = f"the index `{alias_of(extension)}`"
    archives = list(_archives(files))
    if not archives:
        if any(f.filename.endswith(".zip") for f in files):
            return (
                f"{where} has source archives of it as `.zip` alone; `{ENDING}` is unpacked",
                'take its repository: `source git "URL" at "COMMIT"`',
            )
        if any(f.filename.endswith(".whl") for f in files):
            return (
                f"{where} has wheels of it and no `{ENDING}`: there is nothing to compile",
                f"write `{extension.name}` in `packages`, or name its repository by `source git`",
            )
        return f"{where} has no file of it", 'name its repository: `source git "URL" at "COMMIT"`'
    wanted = _specifier(extension.specifier)
    allowed = [r for r in archives if _allows(wanted, r.version)]
    newest = max(allowed or archives, key=_key)
    if not allowed:
        early = [r for r in archives if wanted.contains(r.version, prereleases=True)]
        if early:
            release = max(early, key=_key).version
            cause = f"only pre-releases fit, the newest is {release}; none is taken unasked"
            return cause, f"write `extension {extension.name} =={release}`"
        cause = f"{where} has archives up to version {newest.version}"
        return cause, "ask for a version that is there"
    admitted = [r for r in allowed if python_allowed(r.file, request)]
    if not admitted:
        cause = f"version {newest.version} says `Requires-Python: {newest.file.requires_python}`, "
        cause += f"and the spec has Python {request.python}"
        return cause, "ask for another version, or change `python`"
    newest = max(admitted, key=_key)
    pin = f"pin it: `extension {extension.name} =={newest.version}`"
    if all(r.file.yanked for r in admitted):
        return f"version {newest.version} was withdrawn (yanked)", pin
    cause = f"nothing that fits was uploaded before {request.exclude_newer}"
    return cause, f"take a later day, or {pin}"
