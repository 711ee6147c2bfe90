"""Explanations as text for people and as data for machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from envspec.explain.values import Explained
from envspec.render import visible
from envspec.report.solution import Sources

SCHEMA = 1


def text(found: Sequence[Explained]) -> str:
    """Each subject with its sentences; the sources they cite at the end."""
    sources = Sources()
    lines: list[str] = []
    for one in found:
        lines.append(visible(f"{one.name} {one.version}".rstrip()))
        lines += sources.cited(one.chain)
        lines.append("")
    return "\n".join([*lines, "Sources", *sources.listed()]) + "\n"


def document(found: Sequence[Explained]) -> dict[str, Any]:
    """The same as plain data."""
    return {
        "schema": SCHEMA,
        "explained": [
            {
                "name": one.name,
                "version": one.version,
                "chain": [link._asdict() for link in one.chain],
            }
            for one in found
        ],
    }
