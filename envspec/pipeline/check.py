"""Everything that can be said of a spec at once, without resolving or building.

`load` stops at the first phase that finds an error, since the next one could not go on; here each
phase is asked what it can say of the parts that are right.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from envspec import rules
from envspec.diagnostics import WARNING, Diagnostic, DiagnosticError, in_order
from envspec.language import recover
from envspec.language.parse import parse
from envspec.language.resolve import resolve_all
from envspec.language.syntax import Statement
from envspec.lock import file as lock_file
from envspec.pipeline import load, partial
from envspec.source import SourceFile


class Checked(NamedTuple):
    """A spec, as far as it could be read, and every finding about it and its lock."""

    path: Path
    source: SourceFile
    findings: tuple[Diagnostic, ...]


def check(path: Path, data: bytes | None = None) -> Checked:
    """Read a spec and the lock beside it, and check both. ``data`` stands for the spec's file,
    which is then not read. What cannot be read is a finding too."""
    try:
        source = load.read_spec(path) if data is None else load.spec_text(path, data)
    except DiagnosticError as error:
        return Checked(path, SourceFile(str(path), ""), error.diagnostics)
    lock, unreadable = lock_beside(path)
    return Checked(path, source, in_order((*of_text(source, lock), *unreadable)))


def lock_beside(path: Path) -> tuple[SourceFile | None, tuple[Diagnostic, ...]]:
    """The text of the lock beside a spec, where there is one, and why it cannot be read."""
    try:
        return load.lock_text(path), ()
    except DiagnosticError as error:
        return None, error.diagnostics


def of_text(source: SourceFile, lock: SourceFile | None = None) -> tuple[Diagnostic, ...]:
    """Findings about the text of a spec, by place. Pure."""
    try:
        statements = parse(source)
    except DiagnosticError as error:
        shape = error.diagnostics
        rest = recover.readable(source, shape)
        more = of_statements(source, rest[0], lock, unread=rest[1]) if rest else ()
        return in_order((*shape, *more))
    return of_statements(source, statements, lock)


def of_statements(
    source: SourceFile,
    statements: Sequence[Statement],
    lock: SourceFile | None = None,
    *,
    unread: frozenset[str] = frozenset(),
) -> tuple[Diagnostic, ...]:
    """Findings about the statements of a spec, by place. Pure.

    ``lock`` is the text of its lock. ``unread`` are words at the top level whose statements were
    read in part; see `envspec.language.recover`.
    """
    spec, wrong = resolve_all(tuple(statements), source)
    if wrong or unread:
        wrong = recover.certain(statements, wrong, unread)
        more = partial.check(spec, source, statements, wrong, unread)
        return in_order((*wrong, *more))
    loaded = load.Loaded(Path(source.name), source, spec)
    locked: dict[str, str] = {}
    about_lock: tuple[Diagnostic, ...] = ()
    if lock is not None:
        try:
            read = lock_file.loads(lock.text, lock)
        except DiagnosticError as error:
            about_lock = error.diagnostics
        else:
            stale = load.staleness(loaded, read)
            # Nothing is wrong in the spec: what stops `compile` is a warning here.
            about_lock = () if stale is None else (stale._replace(severity=WARNING),)
            locked = {} if stale else load.versions(read)
    return in_order((*rules.check(spec, source, locked), *about_lock))
