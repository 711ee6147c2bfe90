"""What the build of an extension imports: its needs and all that they require, to the file.

A build sees the very files that the environment holds, and beside them what only builds use. All
of it is resolved at once for all extensions; each build then gets its own part.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from envspec.diagnostics import Diagnostic, DiagnosticError, Label, in_order
from envspec.lock.extensions.needs import needs_of
from envspec.lock.extensions.prepare import Archive, Prepared
from envspec.lock.graph import SPEC
from envspec.lock.indexes import Indexes
from envspec.lock.model import LockedPackage
from envspec.lock.request import PackageRequest, Request
from envspec.lock.resolve import resolve
from envspec.reporter import Reporter
from envspec.wording import ticked

CODE_NEEDS, CODE_TOOLS = "E0433", "E0435"
_OPTIONAL = frozenset({"ninja"})
"""Builds use it where it is, and do without: so does E0333."""


def build_sets(
    prepared: Prepared,
    packages: Sequence[LockedPackage],
    resolver: str | None,
    reporter: Reporter,
    indexes: Indexes,
) -> dict[str, tuple[LockedPackage, ...]]:
    """By extension, the packages of its build, sorted by name. ``packages`` are those of the lock,
    each of which is taken as it is.

    Raises:
        DiagnosticError: E0433 a build needs another extension, E0435 it lacks what its archive
            names in ``[build-system]``; E0403 to E0410, E0501 as the resolution of packages.
    """
    archives = prepared.archives
    _no_extensions(archives, prepared.request)
    held = {package.name: package for package in packages}
    everything = dict(held)
    if any(name not in held for a in archives for name in needs_of(a.extension)):
        asked = build_request(archives, packages, prepared.request)
        for found in resolve(asked, resolver, reporter, indexes).packages:
            old = held.get(found.name)
            # What it requires is the same; which file it is, the lock has said.
            everything[found.name] = found._replace(artefact=old.artefact) if old else found
    sets = {a.extension.name: closed(needs_of(a.extension), everything) for a in archives}
    findings = [f for a in archives for f in _lacking(a, sets[a.extension.name], prepared.request)]
    if findings:
        raise DiagnosticError(in_order(findings))
    return sets


def build_request(
    archives: Iterable[Archive], packages: Iterable[LockedPackage], request: Request
) -> Request:
    """Every package of the lock as it is, and the needs of all builds that it does not hold. What
    ``[build-system]`` says of the version of a need holds for it."""
    lines = {
        p.name: PackageRequest(
            p.name, f"=={p.version}", p.artefact.index, span=request.span_of(p.name)
        )
        for p in packages
    }
    held = frozenset(lines)
    for archive in archives:
        said = {need.name: need for need in archive.tools}
        for name in needs_of(archive.extension):
            if name in held:
                continue
            line = lines.get(name) or PackageRequest(name, "", "", span=archive.extension.span)
            need = said.get(name)
            if need is not None:
                both = ",".join(filter(None, (line.specifier, need.specifier)))
                extras = tuple(dict.fromkeys((*line.extras, *need.extras)))
                line = line._replace(specifier=str(SpecifierSet(both)), extras=extras)
            lines[name] = line
    return request._replace(packages=tuple(lines.values()))


def closed(
    names: Iterable[str], packages: Mapping[str, LockedPackage]
) -> tuple[LockedPackage, ...]:
    """Packages by name and all that they require, sorted; what they name is among them."""
    roots = tuple(names)
    reached: set[str] = set()
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting.extend(packages[name].requires)
    chosen = {name: packages[name] for name in sorted(reached)}
    return tuple(
        package._replace(
            why=(
                *((SPEC,) if package.name in roots else ()),
                *(p.name for p in chosen.values() if package.name in p.requires),
            )
        )
        for package in chosen.values()
    )


def _no_extensions(archives: Sequence[Archive], request: Request) -> None:
    names = {a.extension.name for a in archives}
    findings = [
        Diagnostic(
            CODE_NEEDS,
            f"the build of extension `{a.extension.name}` needs {ticked(both)}, "
            "which the spec compiles as well",
            request.source,
            (Label(a.extension.span, "its `needs` name an extension"),),
            cause="a build imports wheels of indexes alone: an extension has none before it is "
            "built",
            hint=f"take {ticked(both)} out of `needs`, or take a wheel of it from an index",
        )
        for a in archives
        if (both := tuple(name for name in needs_of(a.extension) if name in names))
    ]
    if findings:
        raise DiagnosticError(in_order(findings))


def _lacking(
    archive: Archive, packages: Sequence[LockedPackage], request: Request
) -> Iterator[Diagnostic]:
    there = {package.name: package for package in packages}
    optional = set(_OPTIONAL)
    setuptools = there.get("setuptools")
    # From this release on setuptools makes wheels by itself.
    if setuptools and Version(setuptools.version) >= Version("70.1"):
        optional.add("wheel")
    named = dict.fromkeys(need.name for need in archive.tools)
    missing = tuple(name for name in named if name not in there and name not in optional)
    if missing:
        extension = archive.extension
        yield Diagnostic(
            CODE_TOOLS,
            f"the build of extension `{extension.name}` {archive.version} lacks {ticked(missing)}",
            request.source,
            (Label(extension.span, "not among its `needs`, nor required by them"),),
            cause=f"`[build-system]` of its `pyproject.toml` requires "
            f"{'them' if len(missing) > 1 else 'it'}, and builds get what `needs` name alone",
            hint=f"write `needs {' '.join((*needs_of(extension), *missing))}`",
        )
