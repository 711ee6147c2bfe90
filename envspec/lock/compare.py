"""What is different between two locks, in the terms of those who use the environment. Pure.

What the tables do not tell of a release is left out, never guessed.
"""

from __future__ import annotations

from typing import NamedTuple

from envspec.lock.graph import SPEC, Graph
from envspec.lock.model import Lock, LockedPackage
from envspec.lock.release_notes import notes
from envspec.machines import MACHINES

ADDED, REMOVED = "added", "removed"
UPGRADED, DOWNGRADED, CHANGED = "upgraded", "downgraded", "changed"
REBUILT, MOVED = "rebuilt", "moved"

_SETTINGS = ("platform", "python", "glibc", "accelerator")
"""Inputs of a lock that say what the environment is, under the names they have there."""


class Setting(NamedTuple):
    """A value that is not a package: ``what`` names it; ``""`` stands for none."""

    what: str
    before: str
    after: str


class PackageChange(NamedTuple):
    """A package that is different. ``kind`` is `ADDED`, `REMOVED`, `UPGRADED`, `DOWNGRADED`,
    `CHANGED` (another version, but neither newer nor older), `REBUILT` (the same version with
    other bytes) or `MOVED` (the same bytes from another index). ``notes`` say what it means."""

    kind: str
    name: str
    before: LockedPackage | None
    after: LockedPackage | None
    notes: tuple[str, ...]


class Group(NamedTuple):
    """Changes with one reason: ``root`` is the package that the spec asks for itself and whose
    needs they are, on the shortest way; ``""`` for packages that nothing asks for."""

    root: str
    changes: tuple[PackageChange, ...]


class Comparison(NamedTuple):
    """``before`` and ``after`` are the bytes of all packages; ``unsized`` counts the files on
    either side whose size the lock does not know."""

    settings: tuple[Setting, ...]
    groups: tuple[Group, ...]
    requirements: tuple[Setting, ...]
    before: int
    after: int
    unsized: int

    @property
    def same(self) -> bool:
        """Whether nothing is different."""
        return not (self.settings or self.groups or self.requirements)

    @property
    def changes(self) -> tuple[PackageChange, ...]:
        """Every package that is different."""
        return tuple(change for group in self.groups for change in group.changes)


def compare(before: Lock, after: Lock) -> Comparison:
    """What turns ``before`` into ``after``."""
    both = (*before.packages, *after.packages)
    return Comparison(
        settings=tuple(s for s in _settings(before, after) if s.before != s.after),
        groups=_groups(before, after),
        requirements=_requirements(before, after),
        before=sum(p.artefact.size for p in before.packages),
        after=sum(p.artefact.size for p in after.packages),
        unsized=sum(not p.artefact.size for p in both),
    )


def _settings(before: Lock, after: Lock) -> list[Setting]:
    old, new = dict(before.inputs), dict(after.inputs)
    settings = [Setting(key, old.get(key, ""), new.get(key, "")) for key in _SETTINGS]
    settings += [
        Setting("base image", before.base_name, after.base_name),
        Setting("base image digest", before.base_digest, after.base_digest),
        Setting("source", before.source.file, after.source.file),
        Setting("source sha256", before.source.sha256, after.source.sha256),
        Setting("source index", before.source.index, after.source.index),
        Setting("installer", _installer(before), _installer(after)),
        Setting("installer sha256", before.installer.artefact.sha256,
                after.installer.artefact.sha256),
        Setting("resolver", f"{before.resolver} {before.resolver_version}",
                f"{after.resolver} {after.resolver_version}"),
        Setting("considered until", before.exclude_newer, after.exclude_newer),
        Setting("nixpkgs", before.nixpkgs.rev, after.nixpkgs.rev),
        Setting("CUDA of the framework", before.cuda, after.cuda),
        Setting("driver floor", before.driver_floor, after.driver_floor),
        Setting("facts", before.facts, after.facts),
    ]  # fmt: skip
    tools, others = dict(before.tools), dict(after.tools)
    for name in sorted({*tools, *others}):
        settings.append(Setting(f"tool {name}", tools.get(name, ""), others.get(name, "")))
    return settings


def _installer(lock: Lock) -> str:
    return f"{lock.installer.name} {lock.installer.version}"


def _requirements(before: Lock, after: Lock) -> tuple[Setting, ...]:
    """What the spec asked for, where that is different: its packages and indexes."""
    old, new = _asked(before), _asked(after)
    return tuple(
        Setting(key, old.get(key, ""), new.get(key, ""))
        for key in dict.fromkeys((*old, *new))
        if old.get(key) != new.get(key)
    )


def _asked(lock: Lock) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for key, value in lock.inputs:
        if key.startswith(("package ", "index ")):
            found.setdefault(key, []).append(value or "any version")
    return {key: ", ".join(sorted(values)) for key, values in found.items()}


def _groups(before: Lock, after: Lock) -> tuple[Group, ...]:
    old = {p.name: p for p in before.packages}
    new = {p.name: p for p in after.packages}
    machine = MACHINES.get(dict(after.inputs).get("platform", ""), "x86_64")
    up_before, up_after = _parents(before), _parents(after)
    groups: dict[str, list[PackageChange]] = {}
    for name in sorted({*old, *new}):
        was, now = old.get(name), new.get(name)
        kind = _kind(was, now)
        if kind is None:
            continue
        root = _root(up_after if now is not None else up_before, name)
        said = notes(was, now, machine)
        groups.setdefault(root, []).append(PackageChange(kind, name, was, now, said))
    for root, changes in groups.items():
        changes.sort(key=lambda change, root=root: (change.name != root, change.name))  # type: ignore[misc]
    return tuple(Group(root, tuple(groups[root])) for root in sorted(groups))


def _parents(lock: Lock) -> dict[str, str]:
    return Graph(lock.packages, lock.extensions).parents()


def _root(up: dict[str, str], name: str) -> str:
    if name not in up:
        return ""
    while up[name] != SPEC:
        name = up[name]
    return name


def _kind(was: LockedPackage | None, now: LockedPackage | None) -> str | None:
    if was is None:
        return ADDED
    if now is None:
        return REMOVED
    if was.version != now.version:
        return _direction(was.version, now.version)
    if was.artefact.sha256 != now.artefact.sha256:
        return REBUILT
    return MOVED if was.artefact[:2] != now.artefact[:2] else None


def _direction(was: str, now: str) -> str:
    from packaging.version import InvalidVersion, Version  # noqa: PLC0415 - not on the way of `compile`

    try:
        old, new = Version(was), Version(now)
    except InvalidVersion:
        return CHANGED
    if old.public == new.public:  # `+cpu` and `+cu128` are builds of one version
        return CHANGED
    return UPGRADED if old < new else DOWNGRADED
