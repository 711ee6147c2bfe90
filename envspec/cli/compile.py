"""`envspec compile`."""

from __future__ import annotations

from pathlib import Path

import click

from envspec.cli import common


@click.command("compile")
@common.spec_argument
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where the outputs go. Default: generated/PROJECT.",
)
@click.option(
    "--check", is_flag=True, help="Only say whether the outputs are fresh; exit 1 if not."
)
@common.frozen_option
@common.resolver_option
@common.format_option
@common.quiet_option
def command(
    spec: Path,
    output: Path | None,
    check: bool,
    frozen: bool,
    resolver: str | None,
    form: str,
    quiet: bool,
) -> None:
    """Turn a spec into a Dockerfile, a Nix flake and lock artefacts.

    Where no lock is beside the spec, it is resolved and written first.
    """
    from envspec.cli.progress import reporting
    from envspec.pipeline import compile as compiling
    from envspec.pipeline import load

    with common.findings(spec, form), reporting(quiet=quiet) as reporter:
        loaded = load.load(spec)
        lock, text = load.locked(loaded, reporter, frozen=frozen or check, resolver=resolver)
        loaded = load.checked_with(loaded, lock)
        made = compiling.compiled(loaded, lock, text)
        folder = output or Path("generated") / made.plan.project
        if check:
            compiling.check_fresh(loaded, made, folder)
            said = "fresh"
        else:
            said = "written" if compiling.write(loaded, made, folder) else "unchanged"
        common.show(loaded.findings, form)
        if form == common.TEXT:
            click.echo(f"{folder}: {said} ({len(made.files)} files)")
