"""`envspec convert`."""

from __future__ import annotations

from pathlib import Path

import click

from envspec.cli import common


@click.command("convert")
@common.spec_argument
@click.option(
    "--to",
    "form",
    type=click.Choice(["json", "text"]),
    help="The form to print; default: the other one.",
)
def command(spec: Path, form: str | None) -> None:
    """Print a spec in its other form: text as JSON, JSON as text.

    A file whose first character is `{` is JSON. Comments have no place in JSON and are left out;
    text comes out as `envspec fmt` would write it.
    """
    from envspec.pipeline.convert import converted

    with common.findings(spec, common.TEXT):
        click.echo(converted(spec, form), nl=False)
