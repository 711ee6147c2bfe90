"""`envspec attest`."""

from __future__ import annotations

from pathlib import Path

import click

from envspec.cli import common


@click.command("attest")
@click.argument("report", type=click.Path(path_type=Path, dir_okay=False), default="report.json")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file to write. Default: standard output.",
)
def command(report: Path, output: Path | None) -> None:
    """Write the in-toto statement about a report: what was tested, on what, with which result.

    The same report gives the same bytes. It is not signed: sign the file with `ssh-keygen -Y sign`
    or `cosign`, and check a committed set with `envspec audit`. Exit code 0, whatever the verdict;
    1 where the report is refused.
    """
    from envspec.emit.publish import write_file
    from envspec.report import reader
    from envspec.report.attestation import canonical, statement

    with common.findings(report, common.TEXT):
        text = reader.file_text(report, "the report")
        said = canonical(statement(reader.loads(text, str(report)), text))
        if output is None:
            click.echo(said, nl=False)
        else:
            write_file(output, said)
