"""Making a lock from a spec: the base's digest, the source, the installer, and the packages."""

from __future__ import annotations

from pathlib import Path

from envspec.lock.base import base_digest
from envspec.lock.indexes import Indexes
from envspec.lock.model import Lock
from envspec.lock.request import PackageRequest, Request
from envspec.lock.resolve import installer, resolve
from envspec.lock.sources import source_artefact
from envspec.lock.spec_inputs import resolution_inputs
from envspec.model import ArchiveSource, Spec
from envspec.reporter import Reporter
from envspec.source import SourceFile

DEFAULT_GLIBC = "2.28"


def make(
    spec: Spec, source: SourceFile, folder: Path, reporter: Reporter, resolver: str | None = None
) -> Lock:
    """Resolve everything that a spec names. ``folder`` is the spec's own.

    Raises:
        DiagnosticError: E0403 to E0408, E0501 to E0503, at the statement that asked.
    """
    platform, archive = spec.platform, spec.project.source
    assert isinstance(archive, ArchiveSource), "`envspec.pipeline.supported` refuses the others"
    declared = {i.name: i.url for i in spec.indexes if i.url}
    indexes = Indexes(declared)
    request = Request(
        python=platform.python,
        platform=platform.os_arch,
        glibc=platform.glibc or DEFAULT_GLIBC,
        packages=tuple(
            PackageRequest(p.name, p.specifier, p.index, p.extras, p.span) for p in spec.packages
        ),
        indexes=declared,
        source=source,
        fallback=spec.project.span,
    )
    found = resolve(request, resolver, reporter, indexes)
    reporter.stage("source, base and installer")
    digest = platform.base_digest or base_digest(platform.base, source, platform.base_span)
    return Lock(
        inputs=resolution_inputs(spec),
        base_name=platform.base,
        base_digest=digest,
        source=source_artefact(
            archive.index,
            archive.file,
            archive.sha256,
            indexes,
            beside=(folder,),
            source=source,
            span=archive.span,
        ),
        installer=installer(request, indexes),
        packages=found.packages,
        resolver=found.resolver,
        resolver_version=found.resolver_version,
    )
