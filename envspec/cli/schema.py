"""`envspec schema`."""

from __future__ import annotations

import json

import click


@click.command("schema")
def command() -> None:
    """Print the JSON Schema of the JSON form of a spec.

    `envspec check --json-in` and `envspec convert` read that form, so a program may write either.
    """
    from envspec.language.json_schema import schema

    click.echo(json.dumps(schema(), indent=2, ensure_ascii=False))
