"""Model and lock → plan. Pure: the same input gives the same plan anywhere."""

from __future__ import annotations

from collections.abc import Mapping

from envspec.lock.layers import FRAMEWORK, PACKAGES
from envspec.lock.layers import layer as layer_of
from envspec.lock.model import (
    DEB_INDEX,
    Artefact,
    Deb,
    Lock,
    LockedExtension,
    LockedPackage,
    Nixpkgs,
)
from envspec.model import Entry as SpecEntry
from envspec.model import Extension, Spec
from envspec.model import Step as SpecStep
from envspec.plan import model as plan
from envspec.plan.extensions import build_environment
from envspec.source import SourceFile, Span

DEFAULT_GLIBC = "2.28"


def lower(
    spec: Spec,
    lock: Lock,
    scripts: Mapping[str, bytes],
    nixpkgs: Nixpkgs,
    source: SourceFile,
) -> plan.Plan:
    """The plan of a resolved spec and its lock.

    ``scripts`` holds the content of every file that an entry names, by that name; ``nixpkgs``
    is the revision that flakes pin, the lock's own; ``source`` is the spec's text, from which
    line numbers come. The lock must be the spec's own: see `envspec.lock.inputs.difference`.
    """

    def line(span: Span) -> int:
        return source.position(span.start).line

    platform = spec.platform
    packages_line = line(spec.packages[0].span) if spec.packages else line(spec.project.span)
    steps: list[plan.Step] = []
    for stage, debs in (("runtime", lock.system.runtime), ("build", lock.system.build)):
        named = [p for p in spec.system if p.stage == stage]
        if named:
            names = tuple(p.name for p in named)
            at = line(named[0].span)
            steps.append(plan.InstallSystem(names, at, stage, tuple(map(_deb, debs))))
    python_line = line(platform.python_span)
    steps.append(plan.CreateEnvironment(plan.PREFIX, platform.python, python_line))
    lines = {p.name: line(p.span) for p in spec.packages}
    for layer in (FRAMEWORK, PACKAGES):
        wheels = [p for p in lock.packages if layer_of(p.name) == layer]
        if wheels:
            at = min((lines[p.name] for p in wheels if p.name in lines), default=packages_line)
            steps.append(plan.InstallWheels(layer, tuple(_wheel(p) for p in wheels), at))
    written = {e.name: e for e in spec.extensions}
    for locked in lock.extensions:
        extension = written[locked.name]
        environment = build_environment(extension, spec, locked.version)
        steps.append(_extension(locked, extension, environment, line(extension.span)))
    archive_line = line(spec.project.source.span)
    archive = plan.UnpackSource(_file(lock.source), plan.SOURCE, archive_line)
    steps.append(archive)
    steps.extend(plan.RunStep(s.name, _argv(s), line(s.span)) for s in spec.steps)
    roots = tuple(_inside(folder) for folder in spec.project.pythonpath) or (plan.SOURCE,)
    accelerator = spec.accelerator
    return plan.Plan(
        project=spec.project.name,
        spec=source.name.rsplit("/", 1)[-1],
        platform=platform.os_arch,
        base=plan.Base(lock.base_name, lock.base_digest),
        base_line=line(platform.base_span),
        python=platform.python,
        glibc=platform.glibc or DEFAULT_GLIBC,
        accelerator=plan.Accelerator(
            accelerator.kind,
            accelerator.toolkit,
            accelerator.driver,
            accelerator.gpus,
            accelerator.driver or lock.driver_floor,
        ),
        nixpkgs=plan.Nixpkgs(
            nixpkgs.owner, nixpkgs.repo, nixpkgs.rev, nixpkgs.nar_hash, nixpkgs.last_modified
        ),
        installer=_wheel(lock.installer),
        steps=tuple(steps),
        environment=tuple((v.name, v.value) for v in spec.environment),
        import_roots=roots,
        entries=tuple(_entry(e, scripts, line(e.span)) for e in spec.entries),
        optional_imports=tuple(
            plan.OptionalImport(o.name, o.because, line(o.span)) for o in spec.optional_imports
        ),
        claims=tuple(
            plan.Claim(c.name, c.value, c.because, line(c.span), c.subject) for c in spec.claims
        ),
        resources=plan.Resources(*spec.resources[:3]),
        devel=plan.Base(lock.devel_name, lock.devel_digest) if lock.devel_name else None,
        asked=lock.system.asked,
        devel_line=line(platform.devel_span) if platform.devel else 0,
    )


def _argv(step: SpecStep) -> tuple[str, ...]:
    """The command of a step; the distribution's `env` sets its variables, on every engine alike."""
    if not step.environment:
        return step.argv
    return ("env", *(f"{v.name}={v.value}" for v in step.environment), *step.argv)


def _inside(folder: str) -> str:
    return plan.SOURCE if folder == "." else f"{plan.SOURCE}/{folder}"


def _file(artefact: Artefact) -> plan.File:
    return plan.File(*artefact)


def _wheel(package: LockedPackage) -> plan.Wheel:
    return plan.Wheel(package.name, package.version, _file(package.artefact))


def _deb(deb: Deb) -> plan.Deb:
    file = plan.File(DEB_INDEX, deb.file, deb.sha256, deb.size)
    return plan.Deb(deb.name, deb.version, file, deb.pool)


def _extension(
    locked: LockedExtension,
    extension: Extension,
    environment: tuple[tuple[str, str], ...],
    line: int,
) -> plan.BuildExtension:
    return plan.BuildExtension(
        locked.name,
        locked.version,
        _file(locked.artefact),
        tuple(_wheel(p) for p in locked.build),
        environment,
        extension.modules,
        locked.wheel,
        locked.wheel_sha256,
        line,
    )


def _entry(entry: SpecEntry, scripts: Mapping[str, bytes], line: int) -> plan.Entry:
    argv = entry.argv
    script = None
    if entry.script:
        script = plan.Script.of(entry.script, scripts[entry.script])
        argv = ("python", f"{plan.ENTRIES}/{entry.script}", *argv)
    return plan.Entry(
        entry.name,
        entry.level,
        argv,
        script,
        entry.timeout,
        entry.processes,
        tuple((v.name, v.value) for v in entry.environment),
        entry.network,
        line,
        plan.Expect(*entry.expect),
    )
