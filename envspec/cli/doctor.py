"""`envspec doctor`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from shutil import get_terminal_size

import click

from envspec.cli import common


@click.command("doctor")
@click.argument("spec", type=click.Path(path_type=Path, dir_okay=False), required=False)
@common.format_option
@common.quiet_option
def command(spec: Path | None, form: str, quiet: bool) -> None:
    """Look at this machine: programs, engines, driver, GPUs, disks, network, indexes.

    With SPEC, also whether every locked file is still offered with the same hash, whether the
    driver and the GPUs are what the spec needs, and which engines, compilers and packages of the
    distribution it lacks here. Exit 0 where all is good, 1 where something is broken, 4 where
    something could not be checked. No secret is printed.
    """
    from envspec.cli.progress import reporting
    from envspec.pipeline import doctor
    from envspec.report import health

    with common.findings(spec or Path("spec.env"), form), reporting(quiet=quiet) as reporter:
        found = doctor.examine(spec, reporter)
    if form == common.JSON:
        click.echo(json.dumps(health.document(found), indent=2, ensure_ascii=False))
    else:
        width = get_terminal_size().columns if sys.stdout.isatty() else 100
        click.echo(health.text(found, width, colour=common.colour(sys.stdout)))
    states = {finding.state for finding in found}
    if health.BROKEN in states:
        sys.exit(common.FINDINGS)
    if health.UNKNOWN in states:
        sys.exit(common.BLOCKED)
