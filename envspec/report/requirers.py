"""Who requires whom: trees and chains as text for people and as data for machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from envspec.lock.graph import CUT, CYCLE, REPEATED, SPEC, Chains, Graph, Row
from envspec.lock.layers import FRAMEWORK, layer
from envspec.lock.model import Deb, Lock, LockedExtension, LockedPackage
from envspec.lock.reasons import (
    BUILD,
    RUNTIME,
    BuildReason,
    DebReason,
    build_tools,
    named_debs,
)
from envspec.render import visible
from envspec.wording import listed, size_of

SCHEMA = 1
_MOST_SUMMED = 2000  # packages: each sum walks over all of them
_MOST_TOOLS = 4
_MARKS = {REPEATED: " (above)", CYCLE: " (in a circle)", CUT: " …"}


class Reasons(NamedTuple):
    """All that leads to one name: ``chains`` is None where the environment does not hold it."""

    name: str
    chains: Chains | None
    builds: tuple[BuildReason, ...]
    debs: tuple[DebReason, ...]


def tree_text(graph: Graph, rows: Sequence[Row], title: str = "", lock: Lock | None = None) -> str:
    """A line a package: version, `[framework]` for its layer, `[extension]` for what is compiled,
    its size and, where it requires others, the size of all of it. With ``lock``, what the builds
    of extensions import, and a line for the packages of the distribution."""
    lines = [visible(title)] if title else []
    for row in rows:
        shift = 0 if title else 1  # without a title the first row stands at the edge
        bars = row.last[shift:]
        branch = "".join("   " if last else "│  " for last in bars[:-1])
        branch += ("└─ " if bars[-1] else "├─ ") if bars else ""
        lines.append(branch + visible(_said(graph, row, lock)))
    if lock is not None:
        lines += _system(lock)
    return "\n".join(lines) + "\n"


def build_tree_text(extension: str, graph: Graph, rows: Sequence[Row]) -> str:
    """Who requires a package in the build of an extension, up to that build."""
    root = f"the build of {extension}"
    lines = []
    for row in rows:
        bars = row.last[1:]
        branch = "".join("   " if last else "│  " for last in bars[:-1])
        branch += ("└─ " if bars[-1] else "├─ ") if bars else ""
        lines.append(branch + visible(root if row.name == SPEC else _said(graph, row)))
    return "\n".join(lines) + "\n"


def _system(lock: Lock) -> Iterator[str]:
    for stage, debs in ((RUNTIME, lock.system.runtime), (BUILD, lock.system.build)):
        if not debs:
            continue
        named = set(named_debs(lock, stage))
        said = [f"{d.name} {d.version}" for d in debs if d.name in named]
        more = len(debs) - len(said)
        with_it = f", and {more} more that come{'s' if more == 1 else ''} with them" if more else ""
        size = sum(d.size for d in debs)
        line = f"system {stage}: {', '.join(said) or 'none under its own name'}{with_it}"
        yield visible(f"{line} ({size_of(size)})" if size else line)


def _said(graph: Graph, row: Row, lock: Lock | None = None) -> str:
    if row.name == SPEC and SPEC not in graph.packages:
        return "the spec"
    package = graph.packages.get(row.name)
    if package is None:
        return row.name + _MARKS.get(row.mark, "")
    said = f"{package.name} {package.version}"
    size = package.artefact.size
    if isinstance(package, LockedExtension):
        said += " [extension]"
        size = 0  # that of the archive, and of the wheel nothing is known here
    else:
        said += " [framework]" if layer(package.name) == FRAMEWORK else ""
        said += f" {size_of(size)}" if size else ""
    whole = _installed(graph, row.name) if len(graph.packages) <= _MOST_SUMMED else size
    if whole != size and row.mark != REPEATED:
        said += f", {size_of(whole)} with what it requires"
    if isinstance(package, LockedExtension) and lock is not None and row.mark != REPEATED:
        tools = build_tools(lock, package)
        more = f" and {len(tools) - _MOST_TOOLS} more" if len(tools) > _MOST_TOOLS else ""
        said += f", built with {', '.join(tools[:_MOST_TOOLS])}{more}" if tools else ""
    return said + _MARKS.get(row.mark, "")


def _installed(graph: Graph, name: str) -> int:
    """Bytes of a package and all that it requires; archives that are compiled count as none."""
    kept = (n for n in graph.needs(name) if not isinstance(graph.packages[n], LockedExtension))
    return graph.size(kept)


def tree_document(graph: Graph, rows: Sequence[Row], lock: Lock | None = None) -> dict[str, Any]:
    """The same as plain data: rows in order, each with its depth."""
    data: dict[str, Any] = {
        "schema": SCHEMA,
        "tree": [
            {
                "name": row.name,
                "depth": row.depth,
                "mark": row.mark,
                "version": package.version if package else "",
                "size": package.artefact.size if package else 0,
                "layer": _layer(package),
            }
            for row in rows
            for package in (graph.packages.get(row.name),)
        ],
    }
    if lock is not None:
        data["builds"] = {e.name: {p.name: p.version for p in e.build} for e in lock.extensions}
        stages = ((RUNTIME, lock.system.runtime), (BUILD, lock.system.build))
        data["system"] = [
            {"stage": stage, "named": deb.name in named_debs(lock, stage), **_deb(deb)}
            for stage, debs in stages
            for deb in debs
        ]
    return data


def build_tree_document(trees: Sequence[tuple[str, Graph, Sequence[Row]]]) -> dict[str, Any]:
    """Inverted trees of builds, each with the extension that it is of."""
    return {
        "schema": SCHEMA,
        "tree": [],
        "builds": [
            {"extension": name, "tree": tree_document(graph, rows)["tree"]}
            for name, graph, rows in trees
        ],
    }


def _layer(package: LockedPackage | LockedExtension | None) -> str:
    if package is None:
        return ""
    return "extension" if isinstance(package, LockedExtension) else layer(package.name)


def _deb(deb: Deb) -> dict[str, Any]:
    return {
        "name": deb.name,
        "version": deb.version,
        "architecture": deb.architecture,
        "size": deb.size,
    }


def reasons_text(graph: Graph, found: Reasons) -> str:
    """A line a chain, from the spec to the package; then who imports it to build, and what the
    distribution has of that name."""
    lines: list[str] = []
    if found.chains is not None:
        package = graph.packages[found.name]
        extension = isinstance(package, LockedExtension)
        lines.append(f"{found.name} {package.version}" + (" [extension]" if extension else ""))
        if not found.chains.ways:
            lines.append("  nothing in the lock leads to it")
        lines += [f"  {' → '.join(['the spec', *way])}" for way in found.chains.ways]
        lines += ["  … and more"] if found.chains.more else []
    for reason in found.builds:
        lines += _build_lines(found, reason)
    for deb in found.debs:
        lines += _deb_lines(deb)
    return "\n".join(map(visible, lines)) + "\n"


def _build_lines(found: Reasons, reason: BuildReason) -> Iterator[str]:
    root = f"the build of {reason.extension}"
    if not reason.only:
        yield f"  {root} imports it too"
        return
    yield f"{found.name} {reason.version}: only the build of {reason.extension} imports it"
    if not reason.chains.ways:
        yield f"  {root}"
    for way in reason.chains.ways:
        yield f"  {' → '.join(['the spec', root, *way])}"
    if reason.chains.more:
        yield "  … and more"


def _deb_lines(reason: DebReason) -> Iterator[str]:
    deb = reason.deb
    yield f"{deb.name} {deb.version} {deb.architecture}, a package of the distribution"
    if reason.named:
        yield f"  the spec → system {reason.stage}: it is named there"
    elif len(reason.by) == 1:
        yield f"  the spec → system {reason.stage}: brought with {reason.by[0]}"
    else:
        yield f"  comes with the packages of system {reason.stage}: {listed(reason.by)}"


def reasons_document(graph: Graph, found: Reasons) -> dict[str, Any]:
    """The same as plain data."""
    package = graph.packages.get(found.name)
    debs = [reason.deb.version for reason in found.debs]
    versions = [*([package.version] if package else ()), *(r.version for r in found.builds), *debs]
    return {
        "schema": SCHEMA,
        "name": found.name,
        "version": versions[0],
        "layer": _layer(package),
        "chains": [[SPEC, *way] for way in found.chains.ways] if found.chains else [],
        "more": bool(found.chains and found.chains.more),
        "builds": [
            {
                "extension": reason.extension,
                "version": reason.version,
                "only": reason.only,
                "chains": [list(way) for way in reason.chains.ways],
                "more": reason.chains.more,
            }
            for reason in found.builds
        ],
        "system": [
            {"stage": r.stage, **_deb(r.deb), "named": r.named, "by": list(r.by)}
            for r in found.debs
        ],
    }
