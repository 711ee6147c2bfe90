"""What extensions require, as further lines of the request; and who asked, in the answer. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet

from envspec.diagnostics import Diagnostic, DiagnosticError, Label, in_order
from envspec.lock.extensions.requirements import Need
from envspec.lock.graph import SPEC
from envspec.lock.model import LockedPackage
from envspec.lock.request import PackageRequest, Request
from envspec.stated import exact

if TYPE_CHECKING:
    from envspec.lock.extensions.prepare import Archive, Prepared

CODE = "E0432"


def joined(request: Request, archives: Sequence[Archive]) -> Request:
    """The request with what extensions require at run time. One line a package: what the spec says
    of it decides its index, and both specifiers hold. An extension that another one requires is
    no package, and only its version is looked at.

    Raises:
        DiagnosticError: E0432 a version that the spec pins, or that an extension has, is excluded.
    """
    lines = {package.name: package for package in request.packages}
    versions = {a.extension.name: a.version for a in archives if a.versioned}
    others = {a.extension.name: a.extension.span for a in archives}
    findings: list[Diagnostic] = []
    for archive in archives:
        for need in archive.requires:
            line = lines.get(need.name)
            pinned = exact(line.specifier) if line else ""
            if need.name in others:
                pinned, span = versions.get(need.name, ""), others[need.name]
            else:
                lines[need.name] = _line(line, need, archive, pinned)
                span = lines[need.name].span
            if pinned and not SpecifierSet(need.specifier).contains(pinned, prereleases=True):
                findings.append(_excluded(archive, need, pinned, request, span))
    if findings:
        raise DiagnosticError(in_order(findings))
    return request._replace(packages=tuple(lines.values()))


def _line(line: PackageRequest | None, need: Need, archive: Archive, pinned: str) -> PackageRequest:
    if line is None:
        return PackageRequest(need.name, need.specifier, "", need.extras, archive.extension.span)
    extras = tuple(dict.fromkeys((*line.extras, *need.extras)))
    if pinned:
        # The one version that is allowed says all; a pin of a local label has to stand alone.
        return line._replace(extras=extras)
    both = ",".join(filter(None, (line.specifier, need.specifier)))
    return line._replace(extras=extras, specifier=str(SpecifierSet(both)))


def _excluded(
    archive: Archive, need: Need, pinned: str, request: Request, span: object
) -> Diagnostic:
    name = archive.extension.name
    labels = [Label(archive.extension.span, f"requires {need.name}{need.specifier}")]
    if span != archive.extension.span:
        labels.append(Label(span, f"{pinned} is stated here"))  # type: ignore[arg-type]
    return Diagnostic(
        CODE,
        f"extension `{name}` {archive.version} requires `{need.name}{need.specifier}`, "
        f"and the spec has {pinned}",
        request.source,
        tuple(labels),
        cause="its own metadata says so, and one environment holds one version",
        hint=f"ask for another version of `{name}`, or for a `{need.name}` that fits",
    )


def attributed(prepared: Prepared, packages: Sequence[LockedPackage]) -> tuple[LockedPackage, ...]:
    """The packages with extensions among those who asked for them. A resolver takes the whole
    request for the spec's."""
    if not prepared.archives:
        return tuple(packages)
    own = {package.name for package in prepared.asked.packages}
    return tuple(p._replace(why=tuple(_why(p, own, prepared))) for p in packages)


def _why(package: LockedPackage, own: set[str], prepared: Prepared) -> Iterator[str]:
    if package.name in own:
        yield SPEC
    asking = {
        archive.extension.name
        for archive in prepared.archives
        if any(need.name == package.name for need in archive.requires)
    }
    yield from sorted(asking | (set(package.why) - {SPEC}))
