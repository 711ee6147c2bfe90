"""`envspec lock`."""

from __future__ import annotations

from pathlib import Path

import click

from envspec.cli import common


@click.command("lock")
@common.spec_argument
@common.resolver_option
@common.format_option
@common.quiet_option
def command(spec: Path, resolver: str | None, form: str, quiet: bool) -> None:
    """Resolve the spec and write its lock, `spec.lock`, beside it."""
    from envspec.cli.progress import reporting
    from envspec.pipeline import load

    with common.findings(spec, form), reporting(quiet=quiet) as reporter:
        loaded = load.load(spec, use_lock=False)
        lock, _ = load.write_lock(loaded, reporter, resolver=resolver)
        loaded = load.checked_with(loaded, lock)
        common.show(loaded.findings, form)
        if form == common.TEXT:
            click.echo(f"{loaded.lock_path}: {len(lock.packages)} packages, {lock.resolver}")
