"""`envspec facts`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

import click

from envspec.cli import common

if TYPE_CHECKING:
    from envspec.facts.reader import Table


@click.command("facts")
@click.argument("table", required=False)
@click.argument("key", nargs=-1)
@click.option("--stale", is_flag=True, help="Only rows that are due for review; exit 1 if any is.")
@common.format_option
def command(table: str | None, key: tuple[str, ...], stale: bool, form: str) -> None:
    """List the tables of facts, or the rows of one, with their sources and ages.

    KEY are the first fields of a row, as in `envspec facts torch 2.7.1 cu126`.
    """
    from envspec.cli.clock import today
    from envspec.report import facts as report

    day = today()
    chosen = _chosen(table, key)
    listing = report.listing(chosen, day, stale=stale)
    colour = common.colour(sys.stdout)
    if form == common.JSON:
        text = json.dumps(listing, indent=2, ensure_ascii=False)
    elif stale:
        text = report.stale(listing, colour=colour)
    elif table:
        text = report.rows(listing, _width(), colour=colour)
    else:
        text = report.overview(listing, _width(), colour=colour)
    click.echo(text)
    if stale and any(entry["rows"] for entry in listing["tables"]):
        sys.exit(common.FINDINGS)


def _chosen(name: str | None, key: tuple[str, ...]) -> tuple[Table, ...]:
    """The tables that are asked for, with the rows that are asked for."""
    from envspec.facts import tables

    every = {table.name: table for table in tables.tables()}
    if name is None:
        return tuple(every[n] for n in sorted(every))
    if name not in every:
        raise click.UsageError(f"There is no table `{name}`.{_near(name, every)}")
    table = every[name]
    rows: Sequence[Any] = table.rows
    for at, word in enumerate(key):
        if at >= tables.keys(name):
            fields = ", ".join(rows[0]._fields[: tables.keys(name)])
            raise click.UsageError(f"Rows of `{name}` are named by {fields}, and nothing more.")
        known = dict.fromkeys(str(row[at]) for row in rows)
        rows = [row for row in rows if str(row[at]) == word]
        if not rows:
            field = table.rows[0]._fields[at]
            raise click.UsageError(f"No row of `{name}` has {field} `{word}`.{_near(word, known)}")
    return (table._replace(rows=tuple(rows)),)


def _width() -> int:
    """Columns of the terminal; enough for a table where nobody looks, in a file or a pipe."""
    return get_terminal_size().columns if common.is_terminal(sys.stdout) else 110


def _near(word: str, known: Any) -> str:
    from envspec.suggest import closest

    near = closest(word, known)
    return f" Did you mean `{near}`?" if near else ""
