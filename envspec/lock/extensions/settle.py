"""After the resolution: the extensions of a lock."""

from __future__ import annotations

from collections.abc import Sequence

from envspec.diagnostics import Diagnostic, DiagnosticError, Label, in_order
from envspec.lock.extensions.prepare import Prepared
from envspec.lock.extensions.tools import build_sets
from envspec.lock.indexes import Indexes
from envspec.lock.model import Lock, LockedExtension, LockedPackage
from envspec.reporter import Reporter

CODE = "E0434"

_MACHINE = frozenset({"platform", "python", "glibc", "accelerator", "gpus"})


def lock_extensions(
    prepared: Prepared,
    packages: Sequence[LockedPackage],
    resolver: str | None,
    reporter: Reporter,
    indexes: Indexes,
) -> tuple[LockedExtension, ...]:
    """The extensions with what their builds import, in build order. ``packages`` is the answer to
    ``prepared.request``; no wheel is recorded: see `keep_wheels`.

    Raises:
        DiagnosticError: E0433 to E0435; E0403 to E0410 and E0501 of what builds import.
    """
    if not prepared.archives:
        return ()
    _once(prepared, packages)
    sets = build_sets(prepared, packages, resolver, reporter, indexes)
    return tuple(
        LockedExtension(
            archive.extension.name,
            archive.version,
            archive.artefact,
            tuple(sorted({need.name for need in archive.requires})),
            sets[archive.extension.name],
        )
        for archive in prepared.archives
    )


def keep_wheels(lock: Lock, old: Lock | None) -> Lock:
    """The lock with the wheels that ``old`` recorded, where the same build would give them.

    A wheel stays while these are as they were: name, version and sha256 of the archive; name,
    version and sha256 of everything that the build imports; the image that compiles and what the
    distribution adds to it; the digest of the facts, from which variables come; and of the spec's
    lines the platform, Python, glibc, the accelerator with its `gpus`, and those of the extension
    (see `envspec.lock.spec_inputs`). Memory and jobs are not among them: they change how
    long a build takes, not what it gives.
    """
    if old is None or not lock.extensions or _surroundings(lock) != _surroundings(old):
        return lock
    before = {e.name: e for e in old.extensions if e.wheel}
    kept = []
    for extension in lock.extensions:
        then = before.get(extension.name)
        if then and _made_from(extension, lock) == _made_from(then, old):
            kept.append(extension._replace(wheel=then.wheel, wheel_sha256=then.wheel_sha256))
        else:
            kept.append(extension)
    return lock._replace(extensions=tuple(kept))


def _surroundings(lock: Lock) -> tuple[object, ...]:
    image = lock.devel_digest or lock.base_digest
    debs = sorted(deb.sha256 for deb in (*lock.system.runtime, *lock.system.build))
    lines = sorted(pair for pair in lock.inputs if pair[0] in _MACHINE)
    return image, debs, lock.facts, lines


def _made_from(extension: LockedExtension, lock: Lock) -> tuple[object, ...]:
    own = f"extension {extension.name}"
    lines = sorted(p for p in lock.inputs if p[0] == own or p[0].startswith(f"{own} "))
    build = [(p.name, p.version, p.artefact.sha256) for p in extension.build]
    return extension.version, extension.artefact.sha256, build, lines


def _once(prepared: Prepared, packages: Sequence[LockedPackage]) -> None:
    """An extension that is installed as a wheel as well would be there twice."""
    why = {package.name: package.why for package in packages}
    findings = [
        Diagnostic(
            CODE,
            f"`{name}` is an extension, and a wheel of it would be installed as well",
            prepared.request.source,
            (Label(archive.extension.span, "compiled"),),
            cause=f"{_who(why[name])} for it as a package, and an index has a wheel of it",
            hint=f"take `extension {name}` out, or drop the package that requires it",
        )
        for archive in prepared.archives
        if (name := archive.extension.name) in why
    ]
    if findings:
        raise DiagnosticError(in_order(findings))


def _who(why: tuple[str, ...]) -> str:
    other = next((name for name in why if name != "spec"), "")
    return f"`{other}` asks" if other else "`packages` ask"
