"""What verbs that read a lock share: the lock of a spec, and the answer to a name it lacks."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from envspec.cli import common

if TYPE_CHECKING:
    from envspec.lock.model import Lock
    from envspec.pipeline.load import Loaded


def read(spec: Path) -> tuple[Loaded, Lock, str]:
    """A spec with its fresh lock and the lock's text.

    Raises:
        DiagnosticError: E01.., E02.., E0401 (no lock), E0402 (stale), E0407, E0902.
    """
    from envspec.cli.progress import reporting
    from envspec.language.parse import parse
    from envspec.language.resolve import resolve
    from envspec.pipeline import load

    source = load.read_spec(spec)
    loaded = load.Loaded(spec, source, resolve(parse(source), source))
    with reporting(quiet=True) as reporter:
        lock, text = load.locked(loaded, reporter, frozen=True)
    return loaded, lock, text


def absent(name: str, known: Iterable[str], form: str) -> NoReturn:
    """End the command with status 1 for a name that is not in the lock, and with the closest name
    that is."""
    from envspec.names import normalise
    from envspec.render import visible
    from envspec.suggest import closest

    near = closest(normalise(name), known)
    hint = f" Did you mean `{near}`?" if near else ""
    said = f"there is no package `{visible(name)}` in the lock.{hint}"
    if form == common.JSON:
        click.echo(json.dumps({"schema": 1, "error": said}))
    else:
        click.echo(said, err=True)
    sys.exit(common.FINDINGS)
