"""Where the grammar, the probes and the rules' pages lie: in the wheel, or beside the package in
a checkout."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

_PACKAGE = Path(__file__).resolve().parent
_BESIDE = {"rules": "docs/rules"}
"""Where a kind lies in a checkout, if not under its own name."""


class Page(NamedTuple):
    """A rule's page: its code, its title in one line, and what follows, in Markdown."""

    code: str
    title: str
    body: str


def folder(kind: str) -> Path:
    """The folder ``grammar``, ``probes`` or ``rules``.

    A checkout wins, so that an editable install never reads a stale copy of its own data.
    """
    beside = _PACKAGE.parent / _BESIDE.get(kind, kind)
    if beside.is_dir() and (_PACKAGE.parent / "pyproject.toml").is_file():
        return beside
    return _PACKAGE / "_data" / kind


def codes() -> tuple[str, ...]:
    """Every code that has a page, in order."""
    return tuple(sorted(p.stem for p in folder("rules").glob("[EW]*.md")))


def page(code: str) -> Page:
    """The page of one of `codes`."""
    text = (folder("rules") / f"{code}.md").read_text(encoding="utf-8")
    head, _, body = text.partition("\n")
    return Page(code, head.removeprefix(f"# {code}").strip(), body.strip() + "\n")
