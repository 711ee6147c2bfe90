"""`envspec diagnose`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from envspec.cli import common

STDIN = Path("-")


@click.command("diagnose")
@click.argument("report", required=False, type=click.Path(path_type=Path))
@click.option(
    "--log",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Any log instead of a report; `-` is standard input.",
)
@click.option(
    "--spec",
    metavar="SPEC",
    type=click.Path(path_type=Path),
    help="The spec: changes are shown as a diff of it, and tried on it first.",
)
@click.option("--fix", is_flag=True, help="Make the changes that need no decision, in --spec.")
@common.format_option
def command(report: Path | None, log: Path | None, spec: Path | None, fix: bool, form: str) -> None:
    """Say why a verification failed, and which change of the spec would mend it.

    REPORT is what `envspec verify` wrote, by default `report.json`; the logs in the folder beside
    it are read too. Nothing is run, and nothing is sent anywhere.

    \b
    envspec diagnose report.json
    envspec diagnose report.json --spec spec.env
    envspec diagnose report.json --spec spec.env --fix
    docker build . 2>&1 | envspec diagnose --log -

    Exit code 0 where every failure has a diagnosis, or nothing failed; 4 where one has none.
    """  # noqa: D301 - \b is click's mark for "do not rewrap"
    from envspec.pipeline import diagnose
    from envspec.report import diagnosed

    if report is not None and log is not None:
        raise click.UsageError("Name a report or a log, not both.")
    if fix and spec is None:
        raise click.UsageError("`--fix` needs `--spec`, the spec to change.")
    named = log or report or Path("report.json")
    with common.findings(named, form):
        read = diagnose.read_spec(spec) if spec else None
        if log is not None:
            data = common.standard_input(1 << 26) if log == STDIN else None
            failures = diagnose.of_log(log, data)
        else:
            failures = diagnose.of_report(named)
        cases = diagnose.cases(failures, read)
        changed = 0
        if fix and read is not None:
            after, changed = diagnose.applied(cases, read)
            if changed:
                diagnose.write(read, after)
    if form == common.JSON:
        click.echo(json.dumps(diagnosed.document(cases), indent=2, ensure_ascii=True))
    elif cases:
        click.echo(diagnosed.text(cases).rstrip("\n"))
    else:
        click.echo("nothing in it says that something failed" if log else "nothing failed")
    if fix:
        what = "change" if changed == 1 else "changes"
        click.echo(f"{changed} {what} made", err=True)
    told = all(case.failure.outcome.found for case in cases) and (bool(cases) or log is None)
    sys.exit(common.GOOD if told else common.BLOCKED)
