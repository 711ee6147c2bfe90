"""Making a lock from a spec: the base's digest, the source, the installer, and the packages."""

from __future__ import annotations

from pathlib import Path

from envspec.lock import crew, provenance
from envspec.lock.base import base_digest
from envspec.lock.earlier import NOTHING, Earlier
from envspec.lock.indexes import Indexes
from envspec.lock.inputs import Inputs
from envspec.lock.model import Artefact, Lock
from envspec.lock.resolve import installer, resolve
from envspec.lock.sources import source_artefact
from envspec.lock.spec_inputs import resolution_inputs
from envspec.lock.spec_request import request_of
from envspec.model import ArchiveSource, Spec
from envspec.reporter import Reporter
from envspec.source import SourceFile


def make(
    spec: Spec,
    source: SourceFile,
    folder: Path,
    reporter: Reporter,
    resolver: str | None = None,
    earlier: Earlier = NOTHING,
    exclude_newer: str = "",
) -> Lock:
    """Resolve everything that a spec names. ``folder`` is the spec's own.

    What ``earlier`` holds stays where it still fits: versions of packages, the digest of a base
    that the spec names by tag, the installer, nixpkgs.

    Raises:
        DiagnosticError: E0403 to E0410, E0501 to E0503, at the statement that asked.
    """
    platform, accelerator, old = spec.platform, spec.accelerator, earlier.lock
    inputs = resolution_inputs(spec)
    request = request_of(spec, source)._replace(
        pins=earlier.pins, known=earlier.files, exclude_newer=exclude_newer
    )
    indexes = Indexes(request.indexes)
    kept = old.installer if old and _target(old.inputs) == _target(inputs) else None
    tool = crew.ahead(lambda: kept or installer(request, indexes))
    found = resolve(request, resolver, reporter, indexes)
    reporter.stage("source, base and installer")
    cuda, floor = provenance.driver(
        found.packages, platform.os_arch, accelerator.kind, accelerator.toolkit
    )
    return Lock(
        inputs=inputs,
        base_name=platform.base,
        base_digest=_base(spec, source, old),
        source=_source(spec, source, folder, indexes, old),
        installer=tool(),
        packages=found.packages,
        resolver=found.resolver,
        resolver_version=found.resolver_version,
        exclude_newer=exclude_newer,
        tools=provenance.tools(found.resolver),
        facts=provenance.facts_digest(),
        nixpkgs=old.nixpkgs if old else provenance.nixpkgs(),
        cuda=cuda,
        driver_floor=floor,
    )


def _target(inputs: Inputs) -> list[tuple[str, str]]:
    return [pair for pair in inputs if pair[0] in {"platform", "python", "glibc"}]


def _base(spec: Spec, source: SourceFile, old: Lock | None) -> str:
    platform = spec.platform
    if platform.base_digest:
        return platform.base_digest
    if old and old.base_name == platform.base:
        return old.base_digest
    return base_digest(platform.base, source, platform.base_span)


def _source(
    spec: Spec, source: SourceFile, folder: Path, indexes: Indexes, old: Lock | None
) -> Artefact:
    archive = spec.project.source
    assert isinstance(archive, ArchiveSource), "`envspec.pipeline.supported` refuses the others"
    named = (archive.index, archive.file, archive.sha256)
    # A file beside the spec may have been changed since, and is quickly looked at.
    if old and archive.index and old.source[:3] == named:
        return old.source
    return source_artefact(*named, indexes, beside=(folder,), source=source, span=archive.span)
