"""What is different between the extensions of two locks. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from envspec.lock.kinds import ADDED, BUILD, REMOVED, WHEEL, kind_of
from envspec.lock.layers import FRAMEWORK, layer
from envspec.lock.model import Lock, LockedExtension, LockedPackage
from envspec.wording import listed

_DECIDES = ("platform", "python", "glibc", "accelerator", "base", "devel", "gpus", "system build")
"""Inputs that decide what a build gives, beside those of the extension itself."""
_MOST = 8


class ExtensionChange(NamedTuple):
    """An extension that is different. ``kind`` is one of a package's, or `BUILD` (its source is the
    same, and what its build imports or was told is not) or `WHEEL` (only the recorded wheel is
    another). ``loud`` where bytes differ that nothing in the locks explains."""

    kind: str
    name: str
    before: LockedExtension | None
    after: LockedExtension | None
    notes: tuple[str, ...]
    loud: bool = False


def extension_changes(before: Lock, after: Lock) -> tuple[ExtensionChange, ...]:
    """Every extension that is different, by name."""
    old, new = ({e.name: e for e in lock.extensions} for lock in (before, after))
    found = (
        _change(name, old.get(name), new.get(name), before, after) for name in sorted({*old, *new})
    )
    return tuple(change for change in found if change is not None)


def _change(
    name: str, was: LockedExtension | None, now: LockedExtension | None, before: Lock, after: Lock
) -> ExtensionChange | None:
    kind = kind_of(was, now)
    if was is None or now is None:
        assert kind in {ADDED, REMOVED}
        one = now or was
        against = tuple(_against(one)) if one is not None and now is not None else ()
        return ExtensionChange(kind or "", name, was, now, against)
    notes = [*_archive(was, now), *_requires(was, now)]
    imports = list(_build(was.build, now.build))
    told = list(_told(name, before, after))
    same_build = not imports and not told and kind is None and _decided(before) == _decided(after)
    wheel, loud = _wheel(was, now, same_build=same_build)
    notes += [*imports, *told, *wheel]
    if kind is None:
        kind = (
            BUILD if imports or told or was.requires != now.requires else WHEEL if wheel else None
        )
    if kind is None:
        return None
    moved = was.version == now.version and was.artefact.file == now.artefact.file
    loud = loud or (moved and was.artefact.sha256 != now.artefact.sha256)
    return ExtensionChange(kind, name, was, now, tuple(notes), loud)


def _against(extension: LockedExtension) -> Iterator[str]:
    frameworks = [p for p in extension.build if p.name == "torch"]
    if frameworks:
        yield f"built against torch {frameworks[0].version}"


def _archive(was: LockedExtension, now: LockedExtension) -> Iterator[str]:
    """The source archive. The one of a repository has the commit in its name."""
    old, new = was.artefact, now.artefact
    if old.index != new.index:
        yield f"index {old.index or 'none'} → {new.index or 'none'}"
    if was.version != now.version or old.sha256 == new.sha256:
        return
    if old.file == new.file:
        yield (f"THE SAME FILE NAME WITH OTHER BYTES: {new.file}, sha256 {old.sha256[:12]}… → "
               f"{new.sha256[:12]}…")  # fmt: skip
    else:
        yield f"the same version from another archive: {old.file} → {new.file}"


def _requires(was: LockedExtension, now: LockedExtension) -> Iterator[str]:
    more, less = set(now.requires) - set(was.requires), set(was.requires) - set(now.requires)
    if more:
        yield f"requires {listed(sorted(more))} now"
    if less:
        yield f"no longer requires {listed(sorted(less))}"


def _build(was: tuple[LockedPackage, ...], now: tuple[LockedPackage, ...]) -> Iterator[str]:
    """What the build imports: frameworks, which decide the ABI, before tools."""
    old, new = {p.name: p for p in was}, {p.name: p for p in now}
    names = sorted({*old, *new}, key=lambda n: (n != "torch", layer(n) != FRAMEWORK, n))
    said = [text for n in names if (text := _one(n, old.get(n), new.get(n)))]
    against = [text for text in said if text.startswith("torch ")]
    if against:
        yield f"built against {against[0]}"
    rest = [text for text in said if text not in against]
    if rest:
        more = f" and {len(rest) - _MOST} more" if len(rest) > _MOST else ""
        yield f"its build imports: {'; '.join(rest[:_MOST])}{more}"


def _one(name: str, was: LockedPackage | None, now: LockedPackage | None) -> str:
    if was is None or now is None:
        one = now or was
        assert one is not None
        return f"{name} {one.version} {'added' if now else 'removed'}"
    if was.version != now.version:
        return f"{name} {was.version} → {now.version}"
    return f"{name} {now.version} in another file" if kind_of(was, now) is not None else ""


def _told(name: str, before: Lock, after: Lock) -> Iterator[str]:
    """Variables of its build and what the spec says it needs."""
    old, new = dict(before.inputs), dict(after.inputs)
    head = f"extension {name} "
    for key in dict.fromkeys((*old, *new)):
        if key.startswith(head) and old.get(key) != new.get(key):
            what = key.removeprefix(head)
            yield f"{what} {old.get(key) or 'none'} → {new.get(key) or 'none'}"


def _decided(lock: Lock) -> tuple[object, ...]:
    """What decides the wheels of all extensions."""
    inputs = dict(lock.inputs)
    images = (lock.base_digest, lock.devel_digest)
    return (*(inputs.get(key) for key in _DECIDES), *images, lock.system.build, lock.facts)


def _wheel(
    was: LockedExtension, now: LockedExtension, *, same_build: bool
) -> tuple[tuple[str, ...], bool]:
    """The recorded wheel, and whether its change is one that nothing explains."""
    if was[-2:] == now[-2:]:
        return (), False
    if not was.wheel:
        return (f"its wheel is recorded now: sha256 {now.wheel_sha256[:12]}…",), False
    if not now.wheel:
        return ("its wheel is no longer recorded, and is built anew",), False
    digests = f"sha256 {was.wheel_sha256[:12]}… → {now.wheel_sha256[:12]}…"
    if same_build:
        return (f"THE SAME BUILD GAVE OTHER BYTES: {now.wheel}, {digests}",), True
    return (f"its recorded wheel is another one: {digests}",), False
