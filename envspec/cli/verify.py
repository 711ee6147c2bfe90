"""`envspec verify`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import click

from envspec.cli import common
from envspec.cli.deaf import deaf


@click.command("verify")
@common.spec_argument
@click.option(
    "--engine",
    type=click.Choice(["auto", "docker", "local"]),
    default="auto",
    help="What builds and runs. auto: Docker where one answers, else this machine itself.",
)
@click.option(
    "--base-from",
    metavar="IMAGE",
    envvar="ENVSPEC_BASE_FROM",
    help="A local image to stand in for the base where that cannot be pulled; the report says so.",
)
@click.option(
    "--report",
    type=click.Path(path_type=Path, dir_okay=False),
    default="report.json",
    show_default=True,
    help="Where the report goes; the evidence goes into a folder beside it.",
)
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the report as one HTML file too, as `envspec report --format html` does.",
)
@click.option(
    "--rebuild",
    is_flag=True,
    help="Build twice more from nothing and compare: the same bytes, or which files differ.",
)
@common.frozen_option
@common.resolver_option
@common.format_option
@common.quiet_option
def command(
    spec: Path,
    engine: str,
    base_from: str | None,
    report: Path,
    html: Path | None,
    rebuild: bool,
    frozen: bool,
    resolver: str | None,
    form: str,
    quiet: bool,
) -> None:
    """Build the environment, climb C0 to C4, and audit the claims (C5).

    Runs the code of the spec's source: in a sandbox, but it runs. Exit code 0 when everything
    that applies passed and every stated claim holds, 1 when something failed, 4 when something
    could not be checked here.
    """
    from envspec.build.select import choose
    from envspec.cli.progress import reporting
    from envspec.emit.publish import write_file
    from envspec.lock.store import cache_folder
    from envspec.pipeline import compile as compiling
    from envspec.pipeline import load
    from envspec.pipeline import verify as verifying
    from envspec.placing import placed
    from envspec.report.document import dumps

    with common.findings(spec, form), reporting(quiet=quiet) as reporter:
        loaded = load.load(spec)
        if form == common.TEXT:
            common.show(loaded.findings, form)
        with placed(loaded.source, loaded.home):
            chosen = choose(engine, base_from or None, cache_folder())
            machine = verifying.Machine(*chosen, base_from or "")
        lock, text = load.locked(
            loaded, reporter, frozen=frozen, resolver=resolver, base_from=base_from or ""
        )
        known, loaded = loaded.findings, load.checked_with(loaded, lock)
        if form == common.TEXT:
            common.show([d for d in loaded.findings if d not in known], form)
        made = compiling.compiled(loaded, lock, text)
        logs = report.with_suffix(".logs")
        found = verifying.verify(loaded, made, machine, logs, reporter, rebuild=rebuild)
        with placed(loaded.source, loaded.home):
            write_file(report, dumps(found))
            if html is not None:
                from envspec.report import evidence
                from envspec.report.forms import drawn

                write_file(html, drawn("html", found, evidence.logs(found, logs)))
    # The report is written: what is left is to say it, and a signal would tear it in two.
    deaf()
    if form == common.JSON:
        click.echo(dumps(found), nl=False)
    else:
        from envspec.report.terminal import print_report

        print_report(found, sys.stdout, colour=common.colour(sys.stdout))
        click.echo(f"report: {report}   evidence: {logs}")
        if found["verdict"] == "fail":
            click.echo(f"why, and what would mend it: envspec diagnose {shlex.quote(str(report))}")
    codes = {"pass": common.GOOD, "blocked": common.BLOCKED}
    sys.exit(codes.get(found["verdict"], common.FINDINGS))
