"""A solution as text for people and as data for machines."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

from envspec import render
from envspec.diagnostics import Diagnostic, Fix
from envspec.solve.values import Link, Solution
from envspec.source import SourceFile

SCHEMA = 1
_WIDTH = 100


def text(found: Solution, name: str) -> str:
    """The set, why it fits, what newer releases lack, and what the spec leaves open."""
    sources = Sources()
    lines = [f"{render.visible(name)}: {found.name}", "", "Why it fits"]
    lines += sources.cited(found.chain)
    if found.passed:
        lines += ["", "Newer, and not taken", *sources.cited(found.passed)]
    lines += ["", *_open(found)]
    lines += ["", "Facts", *sources.listed()]
    return "\n".join(lines) + "\n"


def _open(found: Solution) -> Iterator[str]:
    if not found.open:
        yield "The spec leaves nothing open"
        return
    yield f"Left open by the spec: {', '.join(found.open)}"
    if found.fix is not None:
        said = found.fix.description.removeprefix("fill in ")
        yield from _wrapped(f"`--write` writes {said}", "  ")


def document(found: Solution, source: SourceFile) -> dict[str, Any]:
    """The solution as plain data."""
    return {
        "schema": SCHEMA,
        "solved": True,
        "open": list(found.open),
        "toolkit": found.toolkit,
        "driver": found.driver,
        "torch": {"version": found.version, "build": found.build} if found.version else None,
        "cudnn": found.cudnn,
        "nccl": found.nccl,
        "packages": [pin._asdict() for pin in found.pins],
        "chain": [link._asdict() for link in found.chain],
        "passed": [link._asdict() for link in found.passed],
        "fix": _fix(found.fix, source),
        "diagnostics": [],
    }


def _fix(fix: Fix | None, source: SourceFile) -> Any:
    if fix is None:
        return None
    return render.document([Diagnostic("", "", source, fix=fix)])["diagnostics"][0]["fix"]


class Sources:
    """The births of facts, numbered in the order in which they are cited."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, str], int] = {}

    def cited(self, links: Iterable[Link]) -> list[str]:
        """Sentences, each with the number of its source; `?` marks what is not known."""
        lines: list[str] = []
        for link in links:
            number = ""
            if link.source:
                key = (link.source, link.as_of)
                number = f" [{self._numbers.setdefault(key, len(self._numbers) + 1)}]"
            mark = "  " if link.known else "? "
            lines.extend(_wrapped(f"{render.visible(link.text)}{number}", mark))
        return lines

    def listed(self) -> list[str]:
        """Where each fact was read, and on which day it was true."""
        lines: list[str] = []
        for (source, as_of), number in self._numbers.items():
            day = f" ({as_of})" if as_of else ""
            lines.extend(_wrapped(f"[{number}] {source}{day}", "  "))
        return lines or ["  none"]


def _wrapped(words: str, mark: str) -> list[str]:
    return textwrap.wrap(
        words,
        _WIDTH,
        initial_indent=mark,
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
