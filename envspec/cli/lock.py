"""`envspec lock`."""

from __future__ import annotations

from pathlib import Path

import click

from envspec.cli import common


class _Day(click.ParamType):  # type: ignore[type-arg]  # generic in newer releases only
    """A day or a moment, as the moment in UTC that a lock records; `""` for `none`."""

    name = "date"

    def convert(self, value: str, param: object, ctx: object) -> str:
        from datetime import datetime, timezone

        if value == "none":
            return ""
        try:
            # Python 3.10 does not read the Z.
            moment = datetime.fromisoformat(value.replace("Z", "+00:00"))
            if len(value) == len("YYYY-MM-DD"):
                moment = moment.replace(hour=23, minute=59, second=59)
            elif moment.tzinfo is None:
                raise ValueError  # noqa: TRY301 - whose clock?
            moment = moment.replace(tzinfo=moment.tzinfo or timezone.utc)
            return moment.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        except (ValueError, OverflowError):
            self.fail(
                f"{value!r} is no day. Write 2026-01-31 (UTC, the day included), a moment with its "
                "time zone such as 2026-01-31T12:00:00Z, or `none`."
            )


@click.command("lock")
@common.spec_argument
@click.option("-U", "--upgrade", is_flag=True, help="Take the newest of everything.")
@click.option(
    *("-P", "--upgrade-package"),
    *("packages",),
    metavar="PKG",
    multiple=True,
    help="Take the newest of this package, keep the rest; may be repeated.",
)
@click.option(
    "--exclude-newer",
    metavar="DATE",
    type=_Day(),
    help="Leave out what was uploaded after this day. It is kept in the lock and holds until "
    "another one, or `none`, is given.",
)
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if the lock has to change.")
@click.option(
    "--built",
    metavar="REPORT",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Record the wheels of extensions that the verification of this report compiled: other "
    "bytes are refused from then on.",
)
@click.option(
    "--base-from",
    metavar="IMAGE",
    envvar="ENVSPEC_BASE_FROM",
    help="A local image to ask for packages of the distribution where the base cannot be pulled; "
    "the lock says so.",
)
@common.resolver_option
@common.format_option
@common.quiet_option
def command(
    spec: Path,
    upgrade: bool,
    packages: tuple[str, ...],
    exclude_newer: str | None,
    check: bool,
    built: Path | None,
    base_from: str | None,
    resolver: str | None,
    form: str,
    quiet: bool,
) -> None:
    """Resolve the spec and write its lock, `spec.lock`, beside it.

    Versions of the lock that is there stay where they still fit. Where nothing changed since it
    was made, it is left alone and no index is asked.
    """
    from envspec.cli.progress import reporting
    from envspec.names import normalise
    from envspec.pipeline import load, relock

    if check and (upgrade or packages):
        raise click.UsageError("`--check` changes nothing, so it goes with no upgrade.")
    if built and (check or upgrade or packages):
        raise click.UsageError("`--built` records wheels and changes nothing else.")
    named = frozenset(normalise(name) for name in packages)
    asked = relock.Asked(upgrade, named, exclude_newer, resolver, base_from or "")
    with common.findings(spec, form), reporting(quiet=quiet) as reporter:
        loaded = load.load(spec, use_lock=False)
        if check:
            done = relock.Relocked(relock.check(loaded, asked), (), written=False)
        elif built:
            from envspec.pipeline.record import record

            done = record(loaded, relock.check(loaded, asked), built)
        else:
            done = relock.relock(loaded, reporter, asked)
        lock = done.lock
        loaded = load.checked_with(loaded, lock)
        common.show(loaded.findings, form)
        if form == common.TEXT:
            state = "fresh" if check else lock.resolver if done.written else "unchanged"
            limit = f", nothing after {lock.exclude_newer}" if lock.exclude_newer else ""
            click.echo(f"{loaded.lock_path}: {len(lock.packages)} packages, {state}{limit}")
            for line in done.changes:
                click.echo(f"  {line}")
