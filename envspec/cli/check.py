"""`envspec check`."""

from __future__ import annotations

from pathlib import Path

import click

from envspec.cli import common


@click.command("check")
@common.spec_argument
@common.format_option
def command(spec: Path, form: str) -> None:
    """Find what is wrong in a spec, without resolving or building."""
    from envspec.pipeline import load

    with common.findings(spec, form):
        loaded = load.load(spec)
        common.show(loaded.findings, form)
        if form == common.TEXT:
            click.echo(f"{spec}: no errors")
