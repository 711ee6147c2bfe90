"""What verbs share: arguments, drawing findings, exit codes, endings by signal."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click

from envspec import render
from envspec.cli.deaf import deaf
from envspec.diagnostics import Diagnostic, DiagnosticError, in_order
from envspec.source import SourceFile

GOOD, FINDINGS, BLOCKED = 0, 1, 4
TEXT, JSON, SARIF = "text", "json", "sarif"

_Function = TypeVar("_Function", bound=Callable[..., Any])


def spec_argument(function: _Function) -> _Function:
    """`[SPEC]`, by default `spec.env` in the current folder."""
    kind = click.Path(path_type=Path, dir_okay=False)
    return click.argument("spec", type=kind, default="spec.env")(function)


def format_option(function: _Function) -> _Function:
    """`--format text|json`."""
    text = "How to print findings and results; JSON goes to stdout."
    return _format([TEXT, JSON], text)(function)


def findings_format_option(function: _Function) -> _Function:
    """`--format text|json|sarif`, for verbs that print findings alone."""
    text = "How to print findings; JSON and SARIF 2.1.0 go to stdout."
    return _format([TEXT, JSON, SARIF], text)(function)


def _format(forms: Sequence[str], text: str) -> Callable[[_Function], _Function]:
    choice = click.Choice(forms)
    return click.option("--format", "form", type=choice, default=TEXT, help=text)


def quiet_option(function: _Function) -> _Function:
    """`-q`."""
    return click.option("-q", "--quiet", is_flag=True, help="No progress, only results.")(function)


def frozen_option(function: _Function) -> _Function:
    """`--frozen`."""
    text = "Refuse to resolve: the lock must be there and fresh."
    return click.option("--frozen", is_flag=True, help=text)(function)


def resolver_option(function: _Function) -> _Function:
    """`--resolver`."""
    choice = click.Choice(["uv", "pip-tools"])
    text = "Who resolves, where a lock has to be made. Default: uv."
    return click.option("--resolver", type=choice, default=None, help=text)(function)


def is_terminal(stream: Any) -> bool:
    """Whether a person reads a standard stream; one that was closed before the start is None."""
    return stream is not None and bool(stream.isatty())


def colour(stream: Any) -> bool:
    """Colour only for people, and not for those who said no (no-color.org)."""
    return (
        is_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )


def show(findings: Sequence[Diagnostic], form: str) -> None:
    """Draw findings: text on stderr, or JSON or SARIF on stdout."""
    if form in {JSON, SARIF}:
        document = render.document(findings) if form == JSON else _sarif(findings)
        text = json.dumps(document, indent=2, ensure_ascii=False)
        # A file name that is no UTF-8 would make the document none; escaped, it stays JSON.
        click.echo(text if _is_text(text) else json.dumps(document, indent=2))
    elif findings:
        text = render.text(findings, colour=colour(sys.stderr))
        click.echo(text + render.summary(findings), err=True)


def _is_text(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def standard_input(limit: int) -> bytes:
    """What stands on standard input, at most ``limit`` bytes; nothing where it is closed."""
    return sys.stdin.buffer.read(limit) if sys.stdin else b""


def _sarif(findings: Sequence[Diagnostic]) -> dict[str, Any]:
    from envspec import __version__, resources, sarif

    pages = {code: resources.page(code) for code in {d.code for d in findings}}
    return sarif.document(findings, pages, __version__)


@contextmanager
def findings(spec: Path, form: str) -> Iterator[None]:
    """Within, findings that stop the work are drawn and end the command with status 1.

    So do Ctrl-C and SIGTERM, after everything on the way out has cleaned up, and a full disk or
    a closed folder where nobody else has said so.
    """
    try:
        yield
    except DiagnosticError as error:
        _end(in_order(error.diagnostics), form)
    except KeyboardInterrupt:
        stopped(str(spec), form)
    except OSError as error:
        finding = _unwritten(spec, error)
        if finding is None:
            raise
        _end((finding,), form)


def stopped(spec: str, form: str) -> NoReturn:
    """Say that the command was stopped, and end it with status 1."""
    deaf()
    finding = Diagnostic(
        "E0901",
        "stopped before the end",
        SourceFile(spec, ""),
        cause="nothing is left running, and no output was half-written",
        hint="run the same command again; what was fetched and built is kept",
    )
    _end((finding,), form)


def asked_form() -> str:
    """The form that the command line asks for, where it has not been read yet."""
    words = sys.argv[1:]
    for form in (JSON, SARIF):
        if f"--format={form}" in words or ("--format", form) in pairwise(words):
            return form
    return TEXT


def _unwritten(spec: Path, error: OSError) -> Diagnostic | None:
    """A file that could not be written, where nobody else has said so; None for another error."""
    where = f"`{error.filename}`" if error.filename else "the output"
    source = SourceFile(str(spec), "")
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return Diagnostic(
            "E0504",
            f"no space is left to write {where}",
            source,
            cause="outputs, ENVSPEC_CACHE and TMPDIR may be on different disks",
            hint="make room, or name folders on another disk",
        )
    if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EISDIR}:
        return Diagnostic(
            "E0603",
            f"cannot write {where}: {os.strerror(error.errno).lower()}",
            source,
            hint="check its permissions, or name other folders (`-o`, ENVSPEC_CACHE, TMPDIR)",
        )
    return None


def unwritten(error: OSError) -> None:
    """End the command where its output could not be written; returns where that is not why."""
    finding = _unwritten(Path("spec.env"), error)
    if finding is not None:
        _end((finding,), TEXT)


def _end(findings_: Sequence[Diagnostic], form: str) -> NoReturn:
    try:
        show(findings_, form)
        sys.stdout.flush()
    except OSError:
        # Standard output takes nothing, so it is said where people look. What is left in its
        # buffer must not be tried again when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        show(findings_, TEXT)
    sys.exit(FINDINGS)
