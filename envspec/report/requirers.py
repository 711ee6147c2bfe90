"""Who requires whom: trees and chains as text for people and as data for machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from envspec.lock.graph import CUT, CYCLE, REPEATED, SPEC, Chains, Graph, Row
from envspec.lock.layers import FRAMEWORK, layer
from envspec.render import visible
from envspec.wording import size_of

SCHEMA = 1
_MOST_SUMMED = 2000  # packages: each sum walks over all of them
_MARKS = {REPEATED: " (above)", CYCLE: " (in a circle)", CUT: " …"}


def tree_text(graph: Graph, rows: Sequence[Row], title: str = "") -> str:
    """A line a package: version, `[framework]` for its layer, its size and, where it requires
    others, the size of all of it."""
    lines = [visible(title)] if title else []
    for row in rows:
        shift = 0 if title else 1  # without a title the first row stands at the edge
        bars = row.last[shift:]
        branch = "".join("   " if last else "│  " for last in bars[:-1])
        branch += ("└─ " if bars[-1] else "├─ ") if bars else ""
        lines.append(branch + visible(_said(graph, row)))
    return "\n".join(lines) + "\n"


def _said(graph: Graph, row: Row) -> str:
    if row.name == SPEC and SPEC not in graph.packages:
        return "the spec"
    package = graph.packages.get(row.name)
    if package is None:
        return row.name + _MARKS.get(row.mark, "")
    said = f"{package.name} {package.version}"
    if layer(package.name) == FRAMEWORK:
        said += " [framework]"
    size = package.artefact.size
    whole = graph.size(graph.needs(row.name)) if len(graph.packages) <= _MOST_SUMMED else size
    if size:
        said += f" {size_of(size)}"
    if whole != size and row.mark != REPEATED:
        said += f", {size_of(whole)} with what it requires"
    return said + _MARKS.get(row.mark, "")


def tree_document(graph: Graph, rows: Sequence[Row]) -> dict[str, Any]:
    """The same as plain data: rows in order, each with its depth."""
    return {
        "schema": SCHEMA,
        "tree": [
            {
                "name": row.name,
                "depth": row.depth,
                "mark": row.mark,
                "version": package.version if package else "",
                "size": package.artefact.size if package else 0,
                "layer": layer(row.name) if package else "",
            }
            for row in rows
            for package in (graph.packages.get(row.name),)
        ],
    }


def chains_text(graph: Graph, name: str, found: Chains) -> str:
    """A line a chain, from the spec to the package."""
    head = visible(f"{name} {graph.packages[name].version}")
    if not found.ways:
        return f"{head}\n  nothing in the lock leads to it\n"
    lines = [head]
    for way in found.ways:
        lines.append("  " + visible(" → ".join(["the spec", *way])))
    if found.more:
        lines.append("  … and more")
    return "\n".join(lines) + "\n"


def chains_document(graph: Graph, name: str, found: Chains) -> dict[str, Any]:
    """The same as plain data."""
    return {
        "schema": SCHEMA,
        "name": name,
        "version": graph.packages[name].version,
        "chains": [[SPEC, *way] for way in found.ways],
        "more": found.more,
    }
