"""`envspec tree`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from envspec.cli import common, locked

if TYPE_CHECKING:
    from envspec.lock.model import Lock


@click.command("tree")
@common.spec_argument
@click.option("--depth", type=click.IntRange(min=0), help="How many levels to show.")
@click.option("--invert", metavar="PACKAGE", help="Who requires this package, up to the spec.")
@common.format_option
def command(spec: Path, depth: int | None, invert: str | None, form: str) -> None:
    """Show who requires whom in a lock, with versions and sizes.

    A package that comes again is not opened again: `(above)`. `[framework]` marks what stands in
    that layer of the image, `[extension]` what is compiled for it.
    """
    from envspec.lock.graph import DEEPEST, SPEC, Graph
    from envspec.names import normalise
    from envspec.report import requirers

    levels = DEEPEST if depth is None else depth
    with common.findings(spec, form):
        loaded, lock, _ = locked.read(spec)
        graph = Graph(lock.packages, lock.extensions)
        root = SPEC if invert is None else normalise(invert)
        if invert is not None and root not in graph.packages:
            _inverted_builds(lock, invert, levels, form)
            return
        rows = graph.tree(root, levels, invert=invert is not None)
        whole = lock if invert is None else None
        if form == common.JSON:
            document = requirers.tree_document(graph, rows, whole)
            click.echo(json.dumps(document, indent=2, ensure_ascii=False))
        else:
            title = loaded.spec.project.name if invert is None else ""
            click.echo(requirers.tree_text(graph, rows, title, whole), nl=False)


def _inverted_builds(lock: Lock, word: str, levels: int, form: str) -> None:
    """What only builds of extensions import: a tree for each build."""
    from envspec.lock.graph import Graph
    from envspec.names import normalise
    from envspec.report import requirers

    name = normalise(word)
    trees = [
        (extension.name, graph, graph.tree(name, levels, invert=True))
        for extension in lock.extensions
        for graph in (Graph(extension.build),)
        if name in graph.packages
    ]
    if not trees:
        known = {p.name for p in lock.packages} | {e.name for e in lock.extensions}
        known |= {p.name for e in lock.extensions for p in e.build}
        locked.absent(word, sorted(known), form)
    if form == common.JSON:
        document = requirers.build_tree_document(trees)
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        texts = [requirers.build_tree_text(*tree) for tree in trees]
        click.echo("\n".join(texts), nl=False)
