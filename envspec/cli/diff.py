"""`envspec diff`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from envspec.cli import common

_MARKDOWN = "markdown"


@click.command("diff")
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@click.option(
    "--format",
    "form",
    type=click.Choice([common.TEXT, common.JSON, _MARKDOWN]),
    default=common.TEXT,
    help="How to print it; Markdown is for a pull request.",
)
@click.option("--exit-code", is_flag=True, help="Exit 1 where anything is different.")
def command(before: str, after: str, form: str, exit_code: bool) -> None:
    """Say what turns one lock into another, and what that means by the facts.

    A and B are locks, specs with a lock beside them, folders, or REV:PATH in git:
    `envspec diff HEAD:spec.lock spec.lock`. Told are the environment, packages, extensions with
    what builds them, and packages of the distribution.

    Exit code 0; 1 where a lock cannot be read, or with --exit-code where they differ.
    """
    from envspec.lock.compare import compare
    from envspec.pipeline.sides import side
    from envspec.report import changes

    with common.findings(Path(after), common.JSON if form == common.JSON else common.TEXT):
        found = compare(side(before), side(after))
        if form == common.JSON:
            click.echo(json.dumps(changes.document(found), indent=2, ensure_ascii=False))
        elif form == _MARKDOWN:
            click.echo(changes.markdown(found, before, after), nl=False)
        else:
            click.echo(changes.text(found, before, after), nl=False)
        if exit_code and not found.same:
            sys.exit(common.FINDINGS)
