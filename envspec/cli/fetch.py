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
@click.option(
    "--base-from",
    metavar="IMAGE",
    envvar="ENVSPEC_BASE_FROM",
    help="A local image to bring packages of the distribution where the base cannot be pulled.",
)
@common.format_option
@common.quiet_option
def command(spec: Path, output: Path, base_from: str | None, form: str, quiet: bool) -> None:
    """Put every locked file into a folder, for a build without network.

    \b
    Then, in the folder of the outputs:
      docker buildx build --build-context wheels=../../wheels .
    """  # noqa: D301 - \b is click's mark for "do not rewrap"
    from envspec.cli.progress import reporting
    from envspec.lock.store import Store
    from envspec.pipeline import compile as compiling
    from envspec.pipeline import load
    from envspec.pipeline.fetch import fetch, hand_out
    from envspec.placing import placed

    with common.findings(spec, form), reporting(quiet=quiet) as reporter:
        loaded = load.load(spec)
        lock, text = load.locked(loaded, reporter, frozen=True)
        made = compiling.compiled(loaded, lock, text)
        store = Store()
        fetch(loaded, made.plan, store, reporter, base_from=base_from or "")
        with placed(loaded.source, loaded.home):
            hand_out(made.plan, store, output)
        common.show(loaded.findings, form)
        if form == common.TEXT:
            click.echo(f"{output}: {len(made.plan.files)} files")
