"""A comparison of two locks: text for people, Markdown for a pull request, data for machines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from envspec.credentials import masked
from envspec.lock.compare import (
    ADDED,
    CHANGED,
    DOWNGRADED,
    MOVED,
    REBUILT,
    REMOVED,
    UPGRADED,
    Comparison,
    Group,
    PackageChange,
    Setting,
)
from envspec.lock.model import LockedPackage
from envspec.render import visible
from envspec.wording import size_of

SCHEMA = 1
_MARKS = {ADDED: "+", REMOVED: "-", UPGRADED: "↑", DOWNGRADED: "↓", CHANGED: "~", MOVED: "~",
          REBUILT: "!"}  # fmt: skip
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
        "size": {"before": found.before, "after": found.after, "unsized": found.unsized},
    }


def _setting_data(setting: Setting) -> dict[str, str]:
    return {key: masked(value) for key, value in setting._asdict().items()}


def _change_data(change: PackageChange) -> dict[str, Any]:
    def side(package: LockedPackage | None) -> dict[str, Any] | None:
        return (
            {"version": package.version, **package.artefact._asdict()}
            if package is not None
            else None
        )

    return {
        "kind": change.kind,
        "name": change.name,
        "before": side(change.before),
        "after": side(change.after),
        "notes": list(change.notes),
    }


def _parts(found: Comparison, draw: _Draw) -> Iterator[tuple[str, list[str]]]:
    """Title and lines of each part."""
    loud = [change for change in found.changes if change.kind == REBUILT]
    if loud:
        yield "Same version, other bytes", [_sentence(change, draw) for change in loud]
    if found.settings:
        yield "Environment", [_setting(setting, draw) for setting in found.settings]
    for group in found.groups:
        quiet = [_sentence(c, draw) for c in group.changes if c.kind != REBUILT]
        if quiet:
            yield _title(group, draw), quiet
    if found.requirements:
        yield "What the spec asks for", [_setting(s, draw) for s in found.requirements]


def _title(group: Group, draw: _Draw) -> str:
    return f"By way of {draw(group.root)}" if group.root else "Asked for by nothing in the lock"


def _setting(setting: Setting, draw: _Draw) -> str:
    before, after = (_LONG_HEX.sub(r"\1…", v) for v in (setting.before, setting.after))
    what = setting.what if draw is str else f"{draw(setting.what)}"
    return f"{what}: {draw(before) if before else 'none'} → {draw(after) if after else 'none'}"


def _sentence(change: PackageChange, draw: _Draw) -> str:
    was, now = change.before, change.after
    versions = [p.version for p in (was, now) if p is not None]
    if len(versions) == 2 and versions[0] == versions[1]:
        versions.pop()
    size = was or now
    # A sign would begin a list of its own in Markdown.
    mark = _MARKS[change.kind] if draw is str else change.kind
    head = f"{mark} {draw(change.name)} {' → '.join(map(draw, versions))}"
    if change.kind in {ADDED, REMOVED} and size and size.artefact.size:
        head += f" ({size_of(size.artefact.size)})"
    said = (note if draw is str or _plain(note) else draw(note) for note in change.notes)
    return f"{head}: {', '.join(said)}" if change.notes else head


def _plain(note: str) -> bool:
    """Whether a note is words that no Markdown reads as anything else. It may hold names of files
    and versions, which are words of others."""
    return _WORDS.fullmatch(note) is not None and "__" not in note and "www." not in note.lower()


def _sums(found: Comparison) -> Iterator[str]:
    counts = Counter(change.kind for change in found.changes)
    kinds = (ADDED, REMOVED, UPGRADED, DOWNGRADED, CHANGED, REBUILT, MOVED)
    said = ", ".join(f"{counts[kind]} {kind}" for kind in kinds if counts[kind])
    yield f"packages: {said}" if said else "packages: none changed"
    more = found.after - found.before
    sign = "+" if more >= 0 else "-"
    files = "file" if found.unsized == 1 else "files"
    unsized = f", {found.unsized} {files} of unknown size left out" if found.unsized else ""
    yield (
        f"files: {size_of(found.before)} → {size_of(found.after)} "
        f"({sign}{size_of(abs(more))}){unsized}"
    )
