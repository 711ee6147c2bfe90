"""`envspec why`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from envspec.cli import common, locked


@click.command("why", options_metavar="[OPTIONS]")
@click.argument("words", nargs=-1, required=True, metavar="[SPEC] PACKAGE")
@common.format_option
def command(words: tuple[str, ...], form: str) -> None:
    """Show every chain of requirements from the spec to a package, the shortest first.

    SPEC is `spec.env` where it is left out.
    """
    from envspec.lock.graph import Graph
    from envspec.report import requirers

    if len(words) > 2:
        raise click.UsageError("`why` takes a spec and one package.")
    spec = Path(words[0] if len(words) == 2 else "spec.env")
    with common.findings(spec, form):
        _, lock, _ = locked.read(spec)
        graph = Graph(lock.packages, lock.extensions)
        name = locked.package(graph, words[-1], form)
        chains = graph.chains(name)
        if form == common.JSON:
            document = requirers.chains_document(graph, name, chains)
            click.echo(json.dumps(document, indent=2, ensure_ascii=False))
        else:
            click.echo(requirers.chains_text(graph, name, chains), nl=False)
