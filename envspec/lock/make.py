"""Making a lock from a spec: images, sources, the installer, packages, extensions, and what comes
from the distribution."""

from __future__ import annotations

from pathlib import Path

from envspec.lock import crew, provenance
from envspec.lock.base import base_digest
from envspec.lock.earlier import NOTHING, Earlier
from envspec.lock.extensions.join import attributed
from envspec.lock.extensions.prepare import Prepared, prepare
from envspec.lock.extensions.settle import keep_wheels, lock_extensions
from envspec.lock.indexes import Indexes
from envspec.lock.inputs import Inputs
from envspec.lock.model import NO_SYSTEM, Artefact, Lock, System
from envspec.lock.request import Request
from envspec.lock.resolve import installer, resolve
from envspec.lock.sources import folder_artefact, git_artefact, origins_of, source_artefact
from envspec.lock.spec_inputs import resolution_inputs, stated_source
from envspec.lock.spec_request import request_of
from envspec.lock.store import Store
from envspec.model import GitSource, PathSource, Spec
from envspec.reporter import Reporter
from envspec.source import SourceFile, Span

_TARGET = frozenset({"platform", "python", "glibc"})
_SYSTEM = frozenset({"platform", "base", "devel", "system runtime", "system build"})


def make(
    spec: Spec,
    source: SourceFile,
    folder: Path,
    reporter: Reporter,
    resolver: str | None = None,
    earlier: Earlier = NOTHING,
    exclude_newer: str = "",
    base_from: str = "",
) -> Lock:
    """Resolve everything that a spec names. ``folder`` is the spec's own.

    What ``earlier`` holds stays where it still fits: versions of packages, the digest of an image
    that the spec names by tag, the distribution's packages, the installer, nixpkgs. ``base_from``
    is a local image to ask for the distribution's packages where the base cannot be pulled.

    Raises:
        DiagnosticError: E0403 to E0435, E0501 to E0505, at the statement that asked.
    """
    platform, accelerator, old = spec.platform, spec.accelerator, earlier.lock
    inputs = resolution_inputs(spec)
    request = request_of(spec, source)._replace(
        pins=earlier.pins, known=earlier.files, exclude_newer=exclude_newer
    )
    indexes = Indexes(request.indexes)
    prepared = _prepared(spec, source, folder, request, indexes, reporter, old)
    kept = old.installer if old and _same(old.inputs, inputs, _TARGET) else None
    tool = crew.ahead(lambda: kept or installer(request, indexes))
    found = resolve(prepared.request, resolver, reporter, indexes)
    packages = attributed(prepared, found.packages)
    extensions = lock_extensions(prepared, packages, resolver, reporter, indexes)
    reporter.stage("source, base and installer")
    cuda, floor = provenance.driver(
        packages, platform.os_arch, accelerator.kind, accelerator.toolkit
    )
    base, devel = _images(spec, source, old)
    lock = Lock(
        inputs=inputs,
        base_name=platform.base,
        base_digest=base,
        source=_source(spec, source, folder, indexes, reporter, old),
        installer=tool(),
        packages=packages,
        resolver=found.resolver,
        resolver_version=found.resolver_version,
        exclude_newer=exclude_newer,
        tools=provenance.tools(found.resolver),
        facts=provenance.facts_digest(),
        nixpkgs=old.nixpkgs if old else provenance.nixpkgs(),
        cuda=cuda,
        driver_floor=floor,
        devel_name=platform.devel,
        devel_digest=devel,
        extensions=extensions,
    )
    lock = lock._replace(system=_system(spec, source, lock, old, reporter, base_from))
    return keep_wheels(lock, old)


def _same(old: Inputs, new: Inputs, keys: frozenset[str]) -> bool:
    """Whether the lines with these keys are the same in both."""
    return [p for p in old if p[0] in keys] == [p for p in new if p[0] in keys]


def _prepared(
    spec: Spec,
    source: SourceFile,
    folder: Path,
    request: Request,
    indexes: Indexes,
    reporter: Reporter,
    old: Lock | None,
) -> Prepared:
    store = Store()
    lines = frozenset(old.inputs) if old else frozenset()
    before = {e.name: e.artefact for e in old.extensions} if old else {}
    packed = {}
    for one in spec.extensions:
        if one.git is not None:
            same = (f"extension {one.name}", stated_source(one.git)) in lines
            kept = before.get(one.name) if same else None
            packed[one.name] = git_artefact(one.name, one.git, source, reporter, kept, store)
    origins = origins_of(spec, source, reporter)
    return prepare(spec, request, indexes, store, reporter, packed, (folder,), origins)


def _images(spec: Spec, source: SourceFile, old: Lock | None) -> tuple[str, str]:
    """The digests of the base and of the image that compiles, ``""`` for none."""
    platform = spec.platform
    known = {}
    if old:
        known = {old.devel_name: old.devel_digest, old.base_name: old.base_digest}

    def digest(name: str, stated: str, span: Span) -> str:
        return stated or known.get(name, "") or base_digest(name, source, span)

    base = digest(platform.base, platform.base_digest, platform.base_span)
    if not platform.devel:
        return base, ""
    return base, digest(platform.devel, platform.devel_digest, platform.devel_span)


def _source(
    spec: Spec,
    source: SourceFile,
    folder: Path,
    indexes: Indexes,
    reporter: Reporter,
    old: Lock | None,
) -> Artefact:
    stated = spec.project.source
    if isinstance(stated, PathSource):
        return folder_artefact(spec, source)
    if isinstance(stated, GitSource):
        same = old and ("source", stated_source(stated)) in old.inputs
        kept = old.source if old and same else None
        return git_artefact(spec.project.name, stated, source, reporter, kept)
    named = (stated.index, stated.file, stated.sha256)
    # A file beside the spec may have been changed since, and is quickly looked at.
    if old and stated.index and old.source[:3] == named:
        return old.source
    return source_artefact(*named, indexes, beside=(folder,), source=source, span=stated.span)


def _system(
    spec: Spec,
    source: SourceFile,
    lock: Lock,
    old: Lock | None,
    reporter: Reporter,
    base_from: str,
) -> System:
    if not spec.system:
        return NO_SYSTEM
    if old and old.system.suites and _same(old.inputs, lock.inputs, _SYSTEM):
        return old.system
    from envspec.lock.debian.ask import system  # noqa: PLC0415 - only specs that ask for some

    return system(spec, source, lock, reporter, base_from)
