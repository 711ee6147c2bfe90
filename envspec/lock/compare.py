"""What is different between two locks, in the terms of those who use the environment. Pure.

What the tables do not tell of a release is left out, never guessed.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from envspec.lock.compare_extensions import ExtensionChange, extension_changes
from envspec.lock.compare_system import DebChange, deb_changes
from envspec.lock.graph import SPEC, Graph
from envspec.lock.kinds import kind_of
from envspec.lock.layers import FRAMEWORK, layer
from envspec.lock.model import Lock, LockedPackage
from envspec.lock.reasons import named_debs
from envspec.lock.release_notes import notes
from envspec.machines import MACHINES

_SETTINGS = ("platform", "python", "glibc", "accelerator", "gpus")
"""Inputs of a lock that say what the environment is, under the names they have there."""
_OTHERWISE_TOLD = (*_SETTINGS, "base", "devel", "source")
_GIT = re.compile(r"git (.+) at ([0-9a-f]{7,64})")


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
    """``lists`` are the lists of the distribution that its packages were chosen from. ``before``
    and ``after`` are the bytes of all that is installed, but for extensions, whose wheels have no
    size in a lock; ``unsized`` counts the files on either side whose size the lock does not know.
    """

    settings: tuple[Setting, ...]
    groups: tuple[Group, ...]
    requirements: tuple[Setting, ...]
    before: int
    after: int
    unsized: int
    extensions: tuple[ExtensionChange, ...] = ()
    lists: tuple[Setting, ...] = ()
    debs: tuple[DebChange, ...] = ()

    @property
    def same(self) -> bool:
        """Whether nothing is different."""
        rest = self.extensions or self.lists or self.debs
        return not (self.settings or self.groups or self.requirements or rest)

    @property
    def changes(self) -> tuple[PackageChange, ...]:
        """Every package that is different."""
        return tuple(change for group in self.groups for change in group.changes)


def compare(before: Lock, after: Lock) -> Comparison:
    """What turns ``before`` into ``after``."""
    old, new = _sizes(before), _sizes(after)
    return Comparison(
        settings=_different(_settings(before, after)),
        groups=_groups(before, after),
        requirements=_requirements(before, after),
        before=sum(old),
        after=sum(new),
        unsized=(*old, *new).count(0),
        extensions=extension_changes(before, after),
        lists=_different(_lists(before, after)),
        debs=deb_changes(before.system, after.system, _named_debs(before, after)),
    )


def _named_debs(*locks: Lock) -> frozenset[str]:
    stages = ("runtime", "build")
    return frozenset(name for lock in locks for stage in stages for name in named_debs(lock, stage))


def _different(settings: list[Setting]) -> tuple[Setting, ...]:
    return tuple(s for s in settings if s.before != s.after)


def _sizes(lock: Lock) -> tuple[int, ...]:
    """Bytes of each file that is installed."""
    return (*(p.artefact.size for p in lock.packages), *(d.size for d in lock.system.runtime))


def _settings(before: Lock, after: Lock) -> list[Setting]:
    """In the order of what they decide: the machine, the images, the source, then the tools."""
    old, new = dict(before.inputs), dict(after.inputs)
    settings = [Setting(key, old.get(key, ""), new.get(key, "")) for key in _SETTINGS]
    settings += [
        Setting("CUDA of the framework", before.cuda, after.cuda),
        Setting("driver floor", before.driver_floor, after.driver_floor),
        Setting("base image", before.base_name, after.base_name),
        Setting("base image digest", before.base_digest, after.base_digest),
        Setting("devel image", before.devel_name, after.devel_name),
        Setting("devel image digest", before.devel_digest, after.devel_digest),
        *_source(before, after),
        Setting("installer", _installer(before), _installer(after)),
        Setting("installer sha256", before.installer.artefact.sha256,
                after.installer.artefact.sha256),
        Setting("resolver", f"{before.resolver} {before.resolver_version}",
                f"{after.resolver} {after.resolver_version}"),
        Setting("considered until", before.exclude_newer, after.exclude_newer),
        Setting("nixpkgs", before.nixpkgs.rev, after.nixpkgs.rev),
        Setting("facts", before.facts, after.facts),
    ]  # fmt: skip
    tools, others = dict(before.tools), dict(after.tools)
    for name in sorted({*tools, *others}):
        settings.append(Setting(f"tool {name}", tools.get(name, ""), others.get(name, "")))
    return settings


def _source(before: Lock, after: Lock) -> list[Setting]:
    """The source by its kind: a folder by its digest, a repository by its commit, an archive by
    its file. What a repository or an archive of one name gives is compared all the same."""
    old, new = _stated_source(before), _stated_source(after)
    if old[0] != new[0]:
        settings = [Setting("source", " ".join(filter(None, old)), " ".join(filter(None, new)))]
    elif old[0] == "folder":
        settings = [Setting("source folder", old[1], new[1])]
    elif old[0] == "repository":
        settings = [Setting("source repository", old[1], new[1]),
                    Setting("source commit", old[2], new[2])]  # fmt: skip
    else:
        settings = [Setting("source", old[1], new[1])]
    folders = old[0] == new[0] == "folder"
    what = "digest of the source folder" if folders else "source sha256"
    return [
        *settings,
        Setting(what, before.source.sha256, after.source.sha256),
        Setting("source index", before.source.index, after.source.index),
    ]


def _stated_source(lock: Lock) -> tuple[str, str, str]:
    """Kind, place and commit, as the inputs of a lock write it."""
    stated = dict(lock.inputs).get("source", "")
    git = _GIT.fullmatch(stated)
    if git:
        return "repository", git[1], git[2]
    if stated.startswith("path "):
        return "folder", stated.removeprefix("path "), ""
    return "archive", lock.source.file, ""


def _lists(before: Lock, after: Lock) -> list[Setting]:
    """The distribution's lists that its packages were chosen from, and the image asked."""
    old, new = dict(before.system.suites), dict(after.system.suites)
    asked = Setting("asked in place of the base", before.system.asked, after.system.asked)
    suites = [Setting(f"suite {n}", old.get(n, ""), new.get(n, "")) for n in sorted({*old, *new})]
    return [*suites, asked]


def _installer(lock: Lock) -> str:
    return f"{lock.installer.name} {lock.installer.version}"


def _requirements(before: Lock, after: Lock) -> tuple[Setting, ...]:
    """What the spec asked for, where that is different: packages, extensions, indexes."""
    old, new = _asked(before), _asked(after)
    return tuple(
        Setting(key, old.get(key, ""), new.get(key, ""))
        for key in dict.fromkeys((*old, *new))
        if old.get(key) != new.get(key)
    )


def _asked(lock: Lock) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for key, value in lock.inputs:
        if key not in _OTHERWISE_TOLD:
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
        kind = kind_of(was, now)
        if kind is None:
            continue
        root = _root(up_after if now is not None else up_before, name)
        said = notes(was, now, machine)
        groups.setdefault(root, []).append(PackageChange(kind, name, was, now, said))
    for root, changes in groups.items():
        changes.sort(key=lambda change, root=root: (change.name != root, change.name))  # type: ignore[misc]
    order = sorted(groups, key=lambda root: (layer(root) != FRAMEWORK, root))
    return tuple(Group(root, tuple(groups[root])) for root in order)


def _parents(lock: Lock) -> dict[str, str]:
    return Graph(lock.packages, lock.extensions).parents()


def _root(up: dict[str, str], name: str) -> str:
    if name not in up:
        return ""
    while up[name] != SPEC:
        name = up[name]
    return name
