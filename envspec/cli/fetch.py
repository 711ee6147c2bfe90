"""`envspec fetch`."""

from __future__ import annotations

from pathlib import Path

import click

from envspec.cli import common


@click.command("fetch")
@common.spec_argument
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default="wheels",
    show_default=True,
    help="The folder; it gets one folder for each layer of the image.",
)
@common.format_option
@common.quiet_option
def command(spec: Path, output: Path, form: str, quiet: bool) -> None:
    """Put every locked file into a folder, for a build without network.

    \b
    Then, in the folder of the outputs:
      docker buildx build --build-context wheels=../../wheels .
    """  # noqa: D301 - \b is click's mark for "do not rewrap"
    from envspec.cli.progress import reporting
    from envspec.lock.store import Store
    from envspec.pipeline import compile as compiling
    from envspec.pipeline import load
    from envspec.pipeline import verify as verifying
    from envspec.placing import placed

    with common.findings(spec, form), reporting(quiet=quiet) as reporter:
        loaded = load.load(spec)
        lock, text = load.locked(loaded, reporter, frozen=True)
        made = compiling.compiled(loaded, lock, text)
        store = Store()
        verifying.fetch(loaded, made.plan, store, reporter)
        with placed(loaded.source, loaded.home):
            verifying.hand_out(made.plan, store, output)
        common.show(loaded.findings, form)
        if form == common.TEXT:
            click.echo(f"{output}: {len(made.plan.files)} files")
