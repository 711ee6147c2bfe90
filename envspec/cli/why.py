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

    PACKAGE is one of the environment, one that the build of an extension imports, or one of the
    distribution. SPEC is `spec.env` where it is left out.
    """
    from envspec.lock.graph import Graph
    from envspec.lock.reasons import build_reasons, deb_reasons, names
    from envspec.names import normalise
    from envspec.report import requirers

    if len(words) > 2:
        raise click.UsageError("`why` takes a spec and one package.")
    spec = Path(words[0] if len(words) == 2 else "spec.env")
    word = words[-1]
    with common.findings(spec, form):
        _, lock, _ = locked.read(spec)
        graph = Graph(lock.packages, lock.extensions)
        name = normalise(word)
        chains = graph.chains(name) if name in graph.packages else None
        builds, debs = build_reasons(lock, name), deb_reasons(lock, word)
        if chains is None and not builds and not debs:
            locked.absent(word, names(lock), form)
        shown = name if chains is not None or builds else debs[0].deb.name
        found = requirers.Reasons(shown, chains, builds, debs)
        if form == common.JSON:
            document = requirers.reasons_document(graph, found)
            click.echo(json.dumps(document, indent=2, ensure_ascii=False))
        else:
            click.echo(requirers.reasons_text(graph, found), nl=False)
