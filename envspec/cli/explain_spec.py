"""`envspec explain`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from envspec.cli import common

if TYPE_CHECKING:
    from envspec.lock.model import Lock
    from envspec.pipeline.load import Loaded


@click.command("explain")
@common.spec_argument
@click.argument("package", required=False, default="")
@common.format_option
def command(spec: Path, package: str, form: str) -> None:
    """Say why each pin is possible: from driver to CUDA, to torch, to what is built on it.

    PACKAGE is one name, of the spec or of its lock; without it, all of them are explained. Each
    sentence cites where it was read, and when; `?` marks what the facts do not tell.

    Exit code 0, or 1 where there is no such package.
    """
    from envspec.explain import UnknownPackageError, explain
    from envspec.language.parse import parse
    from envspec.language.resolve import resolve
    from envspec.pipeline import load
    from envspec.render import visible
    from envspec.report import explained
    from envspec.suggest import closest

    with common.findings(spec, form):
        source = load.read_spec(spec)
        loaded = load.Loaded(spec, source, resolve(parse(source), source))
        lock = _lock(loaded, form)
        try:
            found = explain(loaded.spec, source, lock, package)
        except UnknownPackageError as error:
            near = closest(error.name, error.known)
            hint = f" Did you mean `{near}`?" if near else ""
            where = "the spec and its lock" if lock else "the spec, and there is no fresh lock"
            said = f"there is no package `{visible(error.name)}` in {where}.{hint}"
            if form == common.JSON:
                click.echo(json.dumps({"schema": 1, "explained": [], "error": said}))
            else:
                click.echo(said, err=True)
            sys.exit(common.FINDINGS)
        if form == common.JSON:
            click.echo(json.dumps(explained.document(found), indent=2, ensure_ascii=False))
        else:
            click.echo(explained.text(found), nl=False)


def _lock(loaded: Loaded, form: str) -> Lock | None:
    """The fresh lock beside the spec. One that is stale or broken explains nothing: it is told,
    and left out."""
    from envspec.diagnostics import WARNING, DiagnosticError
    from envspec.pipeline import load

    try:
        found = load.read_lock(loaded)
    except DiagnosticError as error:
        if form == common.TEXT:
            common.show([d._replace(severity=WARNING) for d in error.diagnostics], form)
        return None
    return found[0] if found else None
