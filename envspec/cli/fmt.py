"""`envspec fmt`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from envspec.cli import common
from envspec.diagnostics import Diagnostic, DiagnosticError, in_order
from envspec.render import visible
from envspec.source import SourceFile

STDIN = "-"
NAMELESS = Path("<stdin>")


@click.command("fmt")
@click.argument(
    "specs", metavar="[SPEC]...", nargs=-1, type=click.Path(dir_okay=False, allow_dash=True)
)
@click.option("--check", is_flag=True, help="Write nothing; name the files that would change.")
@click.option("--diff", is_flag=True, help="Write nothing; show what would change.")
@click.option(
    "--stdin-filename",
    metavar="NAME",
    type=click.Path(path_type=Path),
    help="What the spec on standard input (`-`) is called in findings.",
)
def command(specs: tuple[str, ...], check: bool, diff: bool, stdin_filename: Path | None) -> None:
    """Write specs in the one layout: indentation, columns, blank lines.

    SPEC is a file, by default `spec.env`, or `-` alone: standard input then goes formatted to
    standard output. Words, comments and their order stay as they are.

    Exit code 0 where every spec has the layout now, 1 where one is broken or, with `--check`,
    would change; 2 for a wrong command line.
    """
    import gc

    names = tuple(dict.fromkeys(specs)) or ("spec.env",)
    if STDIN in names and len(names) > 1:
        raise click.UsageError("`-` stands alone.")
    if stdin_filename is not None and STDIN not in names:
        raise click.UsageError("`--stdin-filename` needs `-`, the spec on standard input.")
    gc.disable()  # trees are made and dropped, and hold no cycle: a third of the time saved
    changed = False
    wrong: list[Diagnostic] = []
    with common.findings(Path(names[0]), common.TEXT):
        for name in names:
            path = None if name == STDIN else Path(name)
            changes, findings = _tried(path, stdin_filename or NAMELESS, check=check, diff=diff)
            changed |= changes
            wrong.extend(findings)
        if wrong:
            raise DiagnosticError(in_order(wrong))
    sys.exit(common.FINDINGS if check and changed else common.GOOD)


def _tried(
    path: Path | None, nameless: Path, *, check: bool, diff: bool
) -> tuple[bool, tuple[Diagnostic, ...]]:
    """`_format`, with what stops it as a value: one broken file is no reason to leave others."""
    try:
        return _format(path, nameless, check=check, diff=diff), ()
    except DiagnosticError as error:
        return False, error.diagnostics


def _format(path: Path | None, nameless: Path, *, check: bool, diff: bool) -> bool:
    """Whether the layout of a file, or of standard input, is another than the one it has."""
    from envspec.language.layout import formatted
    from envspec.pipeline import fix, load

    source = load.spec_text(nameless, _standard_input()) if path is None else load.read_spec(path)
    shown = visible(source.name)
    text = formatted(source)
    changes = text != source.text
    if diff:
        _print(fix.diff(SourceFile(shown, source.text), SourceFile(shown, text)))
    elif check:
        if changes:
            click.echo(shown)
    elif path is None:
        _print(text)
    else:
        if changes:
            fix.write(path, source, SourceFile(source.name, text))
        click.echo(f"{shown}: {'formatted' if changes else 'unchanged'}")
    return changes


def _standard_input() -> bytes:
    from envspec.language.limits import MAX_BYTES

    return sys.stdin.buffer.read(4 * MAX_BYTES + 1) if sys.stdin else b""


def _print(text: str) -> None:
    """UTF-8 whatever the locale, with the newlines of the text."""
    sys.stdout.buffer.write(text.encode("utf-8"))
    sys.stdout.buffer.flush()
