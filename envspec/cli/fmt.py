"""`envspec fmt`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from envspec.cli import common
from envspec.diagnostics import Diagnostic, DiagnosticError, in_order
from envspec.render import visible

if TYPE_CHECKING:
    from envspec.source import SourceFile

STDIN = "-"


@click.command("fmt")
@click.argument("specs", nargs=-1, type=click.Path(dir_okay=False, allow_dash=True))
@click.option("--check", is_flag=True, help="Write nothing; name the files that would change.")
@click.option("--diff", is_flag=True, help="Write nothing; show what would change.")
def command(specs: tuple[str, ...], check: bool, diff: bool) -> None:
    """Write specs in the one layout: indentation, columns, blank lines.

    By default `spec.env` in the current folder. Comments, order and words stay as they are. With
    `-` alone, standard input goes formatted to standard output.
    """
    import gc

    names = tuple(dict.fromkeys(specs)) or ("spec.env",)
    if STDIN in names and len(names) > 1:
        raise click.UsageError("`-` stands alone.")
    gc.disable()  # a large tree is made and dropped, and holds no cycle: half the time saved
    changed = False
    wrong: list[Diagnostic] = []
    with common.findings(Path(names[0]), common.TEXT):
        for name in names:
            changes, findings = _tried(name, check=check, diff=diff)
            changed |= changes
            wrong.extend(findings)
        if wrong:
            raise DiagnosticError(in_order(wrong))
    sys.exit(common.FINDINGS if check and changed else common.GOOD)


def _tried(name: str, *, check: bool, diff: bool) -> tuple[bool, tuple[Diagnostic, ...]]:
    """`_format`, with what stops it as a value: one broken file is no reason to leave others."""
    try:
        return _format(name, check=check, diff=diff), ()
    except DiagnosticError as error:
        return False, error.diagnostics


def _format(name: str, *, check: bool, diff: bool) -> bool:
    """Whether the layout of a file, or of standard input, is another than the one it has."""
    from envspec.language.layout import formatted

    source = _read(name)
    text = formatted(source)
    changes = text != source.text
    if diff:
        _print(_difference(name, source.text, text))
    elif check:
        if changes:
            click.echo(visible(name))
    elif name == STDIN:
        _print(text)
    else:
        if changes:
            _write(Path(name), text)
        click.echo(f"{visible(name)}: {'formatted' if changes else 'unchanged'}")
    return changes


def _read(name: str) -> SourceFile:
    from envspec.language.parse import MAX_BYTES
    from envspec.pipeline import load

    if name != STDIN:
        return load.read_spec(Path(name))
    try:
        data = sys.stdin.buffer.read(4 * MAX_BYTES + 1) if sys.stdin else b""
    except OSError as error:
        title = f"cannot read standard input: {(error.strerror or 'unknown error').lower()}"
        raise DiagnosticError.of("E0902", title, hint="name a spec file") from None
    return load.spec_text(Path("stdin"), data)


def _write(path: Path, text: str) -> None:
    """Replace a file; behind a symbolic link, the file that it leads to.

    Raises:
        DiagnosticError: E0504 (disk full), E0603 (read-only, or no file at all).
    """
    from envspec.emit.publish import unwritten, write_file

    real = Path(os.path.realpath(path))
    try:
        refused = _refused(real)
        if not refused:
            write_file(real, text, like=real.stat())
            return
        found = unwritten(OSError(0, refused), path, len(text))
    except OSError as error:
        found = unwritten(error, path, len(text))
    except DiagnosticError as error:
        found = error
    raise DiagnosticError(_ours(d) for d in found.diagnostics)


def _refused(path: Path) -> str:
    """Why a file is not to be replaced; empty where it may be."""
    if not path.is_file():
        return "it is not a regular file"
    return "" if os.access(path, os.W_OK) else "it is read-only"


def _ours(finding: Diagnostic) -> Diagnostic:
    """The finding with a hint for somebody who has no other folder to name."""
    return finding._replace(hint="make room and check its permissions, or see `--diff`")


def _difference(name: str, before: str, after: str) -> str:
    """A unified diff that `patch` and `git apply` take."""
    import difflib

    shown = visible("stdin" if name == STDIN else name)
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    missing = "\n\\ No newline at end of file\n"
    lines = difflib.unified_diff(old, new, shown, shown)
    return "".join(line if line.endswith("\n") else line + missing for line in lines)


def _print(text: str) -> None:
    """UTF-8 whatever the locale, with the newlines of the text."""
    sys.stdout.buffer.write(text.encode("utf-8"))
    sys.stdout.buffer.flush()
