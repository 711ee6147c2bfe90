"""`envspec claims`."""

from __future__ import annotations

from pathlib import Path

import click

from envspec.cli import common

NINE_KEY = "nine-key"


@click.command("claims")
@common.spec_argument
@click.option(
    "--from",
    "report",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="REPORT",
    help="Take them from a report: what a report.json confirms, or what a nine-key report claims.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice([common.TEXT, common.JSON, NINE_KEY]),
    default=common.TEXT,
    help="The block of a spec, JSON, or the nine-key report of ResearchEnvBench.",
)
def command(spec: Path, report: Path | None, form: str) -> None:
    """Print the claims of a spec, or those that a report allows.

    \b
    envspec claims --from report.json            the honest block: what was seen, and why not more
    envspec claims spec.env --format nine-key    what a spec claims, as ResearchEnvBench reads it
    envspec claims --from agent_report.json      a nine-key report as the block of a spec

    From a report.json every claim is judged again as it is written, so that the next verification
    of the same environment finds no overclaim and no mismatch in it.
    """  # noqa: D301 - \b is click's mark for "do not rewrap"
    from envspec.pipeline import claims

    shown = common.JSON if form == common.JSON else common.TEXT
    with common.findings(report or spec, shown):
        found = claims.of_report(report) if report else claims.of_spec(spec)
    if form == common.JSON:
        click.echo(claims.document(found), nl=False)
    elif form == NINE_KEY:
        click.echo(claims.nine_keys(found, None), nl=False)
    else:
        click.echo(claims.text(found), nl=False)
