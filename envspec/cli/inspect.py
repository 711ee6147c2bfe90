"""`envspec inspect`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from envspec.cli import common


@click.command("inspect")
@click.argument(
    "what", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PREFIX|WHEEL…|SPEC"
)
@click.option(
    "--gpus",
    metavar="SM[,SM…]",
    help="GPUs that every library with device code must run on, such as sm_80,sm_90.",
)
@click.option("--glibc", metavar="X.Y", help="The C library that must be new enough.")
@common.format_option
@common.quiet_option
def command(
    what: tuple[Path, ...], gpus: str | None, glibc: str | None, form: str, quiet: bool
) -> None:
    """Say whether compiled libraries fit each other, a GPU and a C library, without running them.

    \b
    envspec inspect .venv                                   an installed environment
    envspec inspect torch-2.7.1-….whl torchvision-0.21.0-….whl   wheels, as one set
    envspec inspect spec.env                                the locked wheels, from the store
    envspec inspect .venv --gpus sm_90 --glibc 2.31

    Symbols of torch that an extension needs and torch lacks are named, demangled, with the likely
    reason. Exit code 0 when everything fits, 1 when something does not, 4 when something could
    not be told.
    """  # noqa: D301 - \b is click's mark for "do not rewrap"
    from envspec.cli.progress import reporting
    from envspec.facts.device_code import parse_sm
    from envspec.facts.versions import version
    from envspec.inspect.judge import Asked
    from envspec.pipeline.inspect import inspect
    from envspec.report import inspected

    names = tuple(filter(None, (gpus or "").split(",")))
    if wrong := next((n for n in names if parse_sm(n) is None), ""):
        raise click.UsageError(f"`{wrong[:40]}` is no GPU such as sm_90.")
    if glibc and version(glibc) is None:
        raise click.UsageError(f"`{glibc[:40]}` is no version such as 2.31.")
    with common.findings(what[0], form), reporting(quiet=quiet) as reporter:
        found = inspect(what, Asked(names, glibc or ""), reporter)
    if form == common.JSON:
        click.echo(json.dumps(inspected.document(*found), indent=2, ensure_ascii=False))
    else:
        click.echo(inspected.text(*found), nl=False)
    codes = {"pass": common.GOOD, "blocked": common.BLOCKED}
    sys.exit(codes.get(inspected.verdict(found.faults), common.FINDINGS))
