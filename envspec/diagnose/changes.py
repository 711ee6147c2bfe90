"""A change of a spec: how it is written down, and as edits of a text. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

from envspec.diagnostics import Edit
from envspec.model import Spec
from envspec.rules.shared import places
from envspec.source import SourceFile, Span

_OLDER_NAMES = (
    "bookworm",
    "debian:12",
    "ubuntu22.04",
    "ubuntu:22.04",
    "jammy",
    "bullseye",
    "focal",
)


class Change(NamedTuple):
    """One line of a spec. ``block`` is the word of the block it stands in; ``head`` is the name
    that its entry has, where it stands in one; ``word`` and ``value`` are the line."""

    block: str
    word: str
    value: str = ""
    head: str = ""

    @property
    def lines(self) -> tuple[str, ...]:
        """The change as a spec would have it."""
        head = f"{self.block} {self.head}".strip()
        return (f"{head} {{", f"  {self.word} {self.value}".rstrip(), "}")


def edits(change: Change, spec: Spec, source: SourceFile) -> tuple[Edit, ...]:
    """The change as edits of the text that ``spec`` was read from; ``()`` where it has no place."""
    if change.block == "packages":
        return _package(change, spec, source)
    if change.block == "entry":
        return _entry(change, spec, source)
    if change.block == "system":
        return _system(change, spec, source)
    spans = {"resources": spec.resources.span, "platform": spec.platform.span}
    span = spans.get(change.block, Span(0, 0))
    if change.block == "env":
        span = _block(source, "env") or Span(0, 0)
    return _line(change, span, spec, source)


def _line(change: Change, span: Span, spec: Spec, source: SourceFile) -> tuple[Edit, ...]:
    """Set the line of a block, or give the spec the block."""
    if span.end > span.start:
        at = places.value_of(source, span, change.word)
        if at is not None:
            return (Edit(at, change.value),)
        separator = "=" if change.block == "env" else " "
        edit = places.add_line(source, span, f"{change.word}{separator}{change.value}")
        return (edit,) if edit else ()
    return _new(change, spec, source)


def _new(change: Change, spec: Spec, source: SourceFile) -> tuple[Edit, ...]:
    separator = "=" if change.block == "env" else " "
    line = f"{change.word}{separator}{change.value}".rstrip()
    edit = places.add_block(source, spec.platform.span, f"{change.block} {{\n  {line}\n}}")
    return (edit,) if edit else ()


def _package(change: Change, spec: Spec, source: SourceFile) -> tuple[Edit, ...]:
    known = next((p for p in spec.packages if p.name == change.word), None)
    if known is not None:
        if not change.value or known.specifier == change.value:
            return ()
        if known.specifier and not re.fullmatch(r"[<>=!~\d.,*\s]+", known.specifier):
            return ()
        at = known.specifier_span
        space = "" if source.text[at.start - 1 : at.start].isspace() else " "
        return (Edit(at, space + change.value),)
    if any(e.name == change.word for e in spec.extensions):
        return ()
    line = f"{change.word} {change.value}".rstrip()
    block = _block(source, "packages")
    edit = places.add_line(source, block, line) if block else None
    return (edit,) if edit else _new(change, spec, source)


def _system(change: Change, spec: Spec, source: SourceFile) -> tuple[Edit, ...]:
    there = [s for s in spec.system if s.stage == change.word]
    if any(s.name == change.value for s in there):
        return ()
    if there:
        end = max(s.span.end for s in there)
        return (Edit(Span(end, end), f" {change.value}"),)
    block = _block(source, "system")
    edit = places.add_line(source, block, f"{change.word} {change.value}") if block else None
    return (edit,) if edit else _new(change, spec, source)


def _entry(change: Change, spec: Spec, source: SourceFile) -> tuple[Edit, ...]:
    entry = next((e for e in spec.entries if e.name == change.head), None)
    return _line(change, entry.span, spec, source) if entry else ()


def _block(source: SourceFile, word: str) -> Span | None:
    """The block of a word at the top level, found in the text: the model keeps no span of it."""
    match = re.search(rf"(?m)^{word}\s*\{{", source.text)
    if match is None:
        return None
    end = source.text.find("\n}", match.end())
    return Span(match.start(), end + 2) if end >= 0 else None


def has_older_names(spec: Spec) -> bool:
    """Whether the base's name says that it is a release with the names of Debian 12."""
    return any(name in spec.platform.base for name in _OLDER_NAMES)
