"""A comparison of two locks: text for people, Markdown for a pull request, data for machines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from envspec.credentials import masked
from envspec.lock.compare import Comparison, Group, PackageChange, Setting
from envspec.lock.compare_extensions import ExtensionChange
from envspec.lock.compare_system import BUILD_STAGE, DebChange
from envspec.lock.kinds import (
    ADDED,
    BUILD,
    CHANGED,
    DOWNGRADED,
    MOVED,
    REBUILT,
    REMOVED,
    UPGRADED,
    WHEEL,
)
from envspec.lock.model import Deb, LockedExtension, LockedPackage
from envspec.render import visible
from envspec.wording import size_of

SCHEMA = 1
_MARKS = {ADDED: "+", REMOVED: "-", UPGRADED: "↑", DOWNGRADED: "↓", CHANGED: "~", MOVED: "~",
          REBUILT: "!", BUILD: "~", WHEEL: "~"}  # fmt: skip
_Change = PackageChange | ExtensionChange | DebChange
_WORDS = re.compile(r"[A-Za-z0-9][A-Za-z0-9 .,→…()+:_-]*")
_LONG_HEX = re.compile(r"\b((?:sha256:)?[0-9a-f]{12})[0-9a-f]{28,}\b")

_Draw = Callable[[str], str]


def text(found: Comparison, before: str, after: str) -> str:
    """Every change as a sentence, those that need a look first."""
    lines = [visible(f"{before} → {after}")]
    if found.same:
        return "\n".join([*lines, "", "nothing changed"]) + "\n"
    for title, said in _parts(found, str):
        lines += ["", title, *(f"  {visible(line)}" for line in said)]
    return "\n".join([*lines, "", *(visible(line) for line in _sums(found))]) + "\n"


def markdown(found: Comparison, before: str, after: str) -> str:
    """The same for a pull request. What a lock says stands in code spans alone, so that it makes
    no link, no mention and no markup."""
    lines = [f"### Environment: {code(before)} → {code(after)}"]
    if found.same:
        return "\n".join([*lines, "", "Nothing changed."]) + "\n"
    for title, said in _parts(found, code):
        lines += ["", f"#### {title}", "", *(f"- {line}" for line in said)]
    return "\n".join([*lines, "", ". ".join(_sums(found)) + "."]) + "\n"


def code(words: str) -> str:
    """A Markdown code span that its content cannot leave."""
    words = visible(words)
    ticks = max((len(run) for run in re.findall("`+", words)), default=0) + 1
    pad = " " if words[:1] in {"`", " ", ""} or words[-1:] in {"`", " "} else ""
    return f"{'`' * ticks}{pad}{words}{pad}{'`' * ticks}"


def document(found: Comparison) -> dict[str, Any]:
    """The same as plain data."""
    return {
        "schema": SCHEMA,
        "same": found.same,
        "settings": [_setting_data(s) for s in found.settings],
        "requirements": [_setting_data(s) for s in found.requirements],
        "groups": [
            {"root": group.root, "changes": [_change_data(c) for c in group.changes]}
            for group in found.groups
        ],
        "extensions": [_change_data(c) | {"loud": c.loud} for c in found.extensions],
        "system": {
            "lists": [_setting_data(s) for s in found.lists],
            "changes": [_change_data(c) | {"stage": c.stage} for c in found.debs],
        },
        "size": {"before": found.before, "after": found.after, "unsized": found.unsized},
    }


def _setting_data(setting: Setting) -> dict[str, str]:
    return {key: masked(value) for key, value in setting._asdict().items()}


def _change_data(change: _Change) -> dict[str, Any]:
    return {
        "kind": change.kind,
        "name": change.name,
        "before": _side(change.before),
        "after": _side(change.after),
        "notes": [masked(note) for note in change.notes],
    }


def _side(one: LockedPackage | LockedExtension | Deb | None) -> dict[str, Any] | None:
    if one is None or isinstance(one, Deb):
        return one._asdict() if one else None
    data = {"version": one.version, **one.artefact._asdict()}
    if isinstance(one, LockedExtension):
        build = {p.name: p.version for p in one.build}
        data |= {"wheel": one.wheel, "wheel_sha256": one.wheel_sha256, "build": build}
    return data


def _parts(found: Comparison, draw: _Draw) -> Iterator[tuple[str, list[str]]]:
    """Title and lines of each part: what nothing explains, what the environment is, then what it
    holds, the framework before all else, and what was asked for."""
    every: tuple[_Change, ...] = (*found.changes, *found.extensions, *found.debs)
    loud = [_sentence(change, draw) for change in every if _is_loud(change)]
    if loud:
        yield "Same version, other bytes", loud
    if found.settings:
        yield "Environment", [_setting(setting, draw) for setting in found.settings]
    for group in found.groups:
        quiet = [_sentence(c, draw) for c in group.changes if not _is_loud(c)]
        if quiet:
            yield _title(group, draw), quiet
    compiled = [_sentence(c, draw) for c in found.extensions if not _is_loud(c)]
    if compiled:
        yield "Extensions", compiled
    system = [_sentence(c, draw) for c in found.debs if not _is_loud(c)]
    if system or found.lists:
        yield "Packages of the distribution", [*(_setting(s, draw) for s in found.lists), *system]
    if found.requirements:
        yield "What the spec asks for", [_setting(s, draw) for s in found.requirements]


def _is_loud(change: _Change) -> bool:
    return change.loud if isinstance(change, ExtensionChange) else change.kind == REBUILT


def _title(group: Group, draw: _Draw) -> str:
    return f"By way of {draw(group.root)}" if group.root else "Asked for by nothing in the lock"


def _setting(setting: Setting, draw: _Draw) -> str:
    before, after = (_LONG_HEX.sub(r"\1…", v) for v in (setting.before, setting.after))
    what = setting.what if draw is str else f"{draw(setting.what)}"
    return f"{what}: {draw(before) if before else 'none'} → {draw(after) if after else 'none'}"


def _sentence(change: _Change, draw: _Draw) -> str:
    was, now = change.before, change.after
    versions = [p.version for p in (was, now) if p is not None]
    if len(versions) == 2 and versions[0] == versions[1]:
        versions.pop()
    # A sign would begin a list of its own in Markdown.
    mark = _MARKS[change.kind] if draw is str else change.kind
    if isinstance(change, ExtensionChange) and change.loud:
        mark = _MARKS[REBUILT] if draw is str else REBUILT
    head = f"{mark} {draw(change.name)} {' → '.join(map(draw, versions))}"
    size = _bytes(now or was)
    if change.kind in {ADDED, REMOVED} and size:
        head += f" ({size_of(size)})"
    if isinstance(change, DebChange) and change.stage == BUILD_STAGE:
        head += ", for builds alone"
    notes = [_LONG_HEX.sub(r"\1…", masked(note)) for note in change.notes]
    said = (note if draw is str or _plain(note) else draw(note) for note in notes)
    return f"{head}: {', '.join(said)}" if notes else head


def _bytes(one: LockedPackage | LockedExtension | Deb | None) -> int:
    """What is to be installed; the archive of an extension says nothing of that."""
    if one is None or isinstance(one, LockedExtension):
        return 0
    return one.size if isinstance(one, Deb) else one.artefact.size


def _plain(note: str) -> bool:
    """Whether a note is words that no Markdown reads as anything else. It may hold names of files
    and versions, which are words of others."""
    return _WORDS.fullmatch(note) is not None and "__" not in note and "www." not in note.lower()


def _sums(found: Comparison) -> Iterator[str]:
    yield f"packages: {_counted(found.changes) or 'none changed'}"
    for what, changes in (("extensions", found.extensions), ("of the distribution", found.debs)):
        if changes:
            yield f"{what}: {_counted(changes)}"
    more = found.after - found.before
    sign = "+" if more >= 0 else "-"
    files = "file" if found.unsized == 1 else "files"
    unsized = f", {found.unsized} {files} of unknown size left out" if found.unsized else ""
    yield (
        f"files: {size_of(found.before)} → {size_of(found.after)} "
        f"({sign}{size_of(abs(more))}){unsized}"
    )


def _counted(changes: Sequence[_Change]) -> str:
    counts = Counter(change.kind for change in changes)
    kinds = (ADDED, REMOVED, UPGRADED, DOWNGRADED, CHANGED, REBUILT, MOVED, BUILD, WHEEL)
    words = {WHEEL: "with another recorded wheel"}
    return ", ".join(f"{counts[kind]} {words.get(kind, kind)}" for kind in kinds if counts[kind])
