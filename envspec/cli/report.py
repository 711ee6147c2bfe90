"""`envspec report`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from envspec.cli import common

# The names of `envspec.report.forms.FORMS`, which only the verb itself imports.
_FORMS = ("text", "json", "html", "junit", "sarif", "markdown")


@click.command("report")
@click.argument("report", type=click.Path(path_type=Path, dir_okay=False), default="report.json")
@click.option(
    "--format",
    "form",
    type=click.Choice(_FORMS),
    default=common.TEXT,
    show_default=True,
    help="A table; the report as it is read; one HTML file; JUnit XML and SARIF 2.1.0 for CI; "
    "Markdown for the summary of a run.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file to write. Default: standard output.",
)
@click.option("--schema", is_flag=True, help="Print the JSON Schema of a report, and read none.")
def command(report: Path, form: str, output: Path | None, schema: bool) -> None:
    """Draw a report of `envspec verify` in another form.

    The report is read strictly: one that is not of its schema, or that contradicts itself, is
    refused. Logs are taken from the folder beside it, as far as their digests are those of the
    report. Exit code 0, whatever the verdict; 1 where the report is refused.
    """
    with common.findings(report, common.TEXT):
        if schema:
            from envspec.report.schema import text

            _give(text(), output)
            return
        from envspec.report import reader
        from envspec.report.evidence import logs

        found = reader.read(report)
        if form == common.TEXT and output is None:
            from envspec.report.terminal import print_report

            print_report(found, sys.stdout, colour=common.colour(sys.stdout))
            return
        from envspec.report.forms import drawn

        _give(drawn(form, found, logs(found, report.with_suffix(".logs"))), output)


def _give(text: str, output: Path | None) -> None:
    from envspec.emit.publish import write_file

    if output is None:
        click.echo(text, nl=False)
    else:
        write_file(output, text)
