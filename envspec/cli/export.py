"""`envspec export`."""

from __future__ import annotations

import os
import re
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import click

from envspec.cli import common, locked

if TYPE_CHECKING:
    from envspec.lock.model import Lock
    from envspec.pipeline.load import Loaded

_PYLOCK, _REQUIREMENTS, _CYCLONEDX = "pylock", "requirements", "cyclonedx"
_NAME = re.compile(r"pylock(?:\.[^.]+)?\.toml")


@click.command("export")
@common.spec_argument
@click.option(
    "--format",
    "kind",
    type=click.Choice([_PYLOCK, _REQUIREMENTS, _CYCLONEDX]),
    required=True,
    help="PEP 751 `pylock.toml`, pip's `requirements.lock`, or a CycloneDX 1.6 SBOM (JSON).",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file to write. Default: standard output.",
)
@click.option(
    "--wheels",
    default="wheels",
    show_default=True,
    metavar="FOLDER",
    help="For pylock: what `envspec fetch -o` filled, relative to the folder of the output.",
)
def command(spec: Path, kind: str, output: Path | None, wheels: str) -> None:
    """Write a lock in a form that other tools read.

    \b
    A lock names no host, so `pylock.toml` takes its files from a wheelhouse:
      envspec fetch -o wheels
      envspec export --format pylock -o pylock.toml
      uv pip install -r pylock.toml
    Extensions stand there as their sources, which the installer compiles. In a list of
    requirements they are comments: pip would build them with tools of any hash.
    An SBOM has a date only where SOURCE_DATE_EPOCH gives one.
    """  # noqa: D301 - \b is click's mark for "do not rewrap"
    from envspec.emit import publish
    from envspec.lock.exports.cyclonedx import cyclonedx
    from envspec.lock.exports.pylock import pylock

    if kind == _PYLOCK and output is not None and not _NAME.fullmatch(output.name):
        raise click.UsageError("Installers read `pylock.toml` or `pylock.NAME.toml` alone.")
    with common.findings(spec, common.TEXT):
        loaded, lock, text = locked.read(spec)
        if kind == _PYLOCK:
            exported = pylock(lock, wheels)
        elif kind == _CYCLONEDX:
            exported = cyclonedx(lock, loaded.spec.project.name, _timestamp())
        else:
            exported = _requirements(loaded, lock, text)
        if output is None:
            click.echo(exported, nl=False)
        else:
            publish.write_file(output, exported)


def _requirements(loaded: Loaded, lock: Lock, text: str) -> str:
    """The list that `compile` writes, and, as comments, what no such list can hold."""
    from envspec.lock.exports.requirements import left_out
    from envspec.pipeline import compile as compiling

    return compiling.compiled(loaded, lock, text).files["requirements.lock"] + left_out(lock)


def _timestamp() -> str:
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not given:
        return ""
    try:
        moment = datetime.fromtimestamp(int(given), timezone.utc)
    except (ValueError, OverflowError, OSError):
        raise click.UsageError("SOURCE_DATE_EPOCH must be a number of seconds.") from None
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
