"""`envspec tree`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from envspec.cli import common, locked


@click.command("tree")
@common.spec_argument
@click.option("--depth", type=click.IntRange(min=0), help="How many levels to show.")
@click.option("--invert", metavar="PACKAGE", help="Who requires this package, up to the spec.")
@common.format_option
def command(spec: Path, depth: int | None, invert: str | None, form: str) -> None:
    """Show who requires whom in a lock, with versions and sizes.

    A package that comes again is not opened again: `(above)`. `[framework]` marks what stands in
    that layer of the image.
    """
    from envspec.lock.graph import DEEPEST, SPEC, Graph
    from envspec.report import requirers

    with common.findings(spec, form):
        loaded, lock, _ = locked.read(spec)
        graph = Graph(lock.packages, lock.extensions)
        root = locked.package(graph, invert, form) if invert is not None else SPEC
        levels = DEEPEST if depth is None else depth
        rows = graph.tree(root, levels, invert=invert is not None)
        if form == common.JSON:
            document = requirers.tree_document(graph, rows)
            click.echo(json.dumps(document, indent=2, ensure_ascii=False))
        else:
            title = loaded.spec.project.name if invert is None else ""
            click.echo(requirers.tree_text(graph, rows, title), nl=False)
