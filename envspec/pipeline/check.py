"""Everything that can be said of a spec at once, without resolving or building.

`load` stops at the first phase that finds an error, since the next one could not go on; here each
phase is asked what it can say of the parts that are right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

from envspec import rules, solve
from envspec.diagnostics import WARNING, Diagnostic, DiagnosticError, has_errors, in_order
from envspec.language import recover
from envspec.language.parse import parse
from envspec.language.resolve import resolve_all
from envspec.language.syntax import Statement
from envspec.lock import file as lock_file
from envspec.lock.model import Lock
from envspec.model import Spec
from envspec.pipeline import load, partial, scripts
from envspec.rules import stale_facts
from envspec.rules.view import View
from envspec.source import SourceFile

Check = Callable[[SourceFile], tuple[Diagnostic, ...]]
Look = Callable[[Spec], tuple[Diagnostic, ...]]


class Checked(NamedTuple):
    """A spec, as far as it could be read, and every finding about it and what lies beside it.
    ``again`` checks another text in its place."""

    path: Path
    source: SourceFile
    findings: tuple[Diagnostic, ...]
    again: Check


def check(
    path: Path,
    data: bytes | None = None,
    *,
    alone: bool = False,
    json: bool = False,
    today: date | None = None,
) -> Checked:
    """Read a spec, its lock and its scripts, and check them. What cannot be read is a finding too.

    ``data`` stands for the spec's file, which is then not read. ``alone`` says that nothing lies
    beside it: the path is only a name. ``json`` says that it is in JSON form. With ``today``,
    facts that are due for review are a finding.
    """
    read = of_json if json else of_text

    def alone_text(source: SourceFile) -> tuple[Diagnostic, ...]:
        return read(source, today=today)

    try:
        source = load.read_spec(path) if data is None else load.spec_text(path, data)
    except DiagnosticError as error:
        return Checked(path, SourceFile(str(path), ""), error.diagnostics, alone_text)
    again = alone_text if alone else _beside(path, read, today)
    return Checked(path, source, again(source), again)


def _beside(path: Path, read: Callable[..., tuple[Diagnostic, ...]], today: date | None) -> Check:
    """How a text is checked that lies at a path: the lock is read once, here."""
    lock: SourceFile | None = None
    unreadable: tuple[Diagnostic, ...] = ()
    try:
        lock = load.lock_text(path)
    except DiagnosticError as error:
        unreadable = error.diagnostics

    def check_text(source: SourceFile) -> tuple[Diagnostic, ...]:
        def look(spec: Spec) -> tuple[Diagnostic, ...]:
            return scripts.read(spec, source, path.parent)[1]

        return in_order((*read(source, lock, look, today), *unreadable))

    return check_text


def of_text(
    source: SourceFile,
    lock: SourceFile | None = None,
    look: Look | None = None,
    today: date | None = None,
) -> tuple[Diagnostic, ...]:
    """Findings about the text of a spec, by place. Pure but for ``look``, which is asked what else
    there is to say of a spec that is whole."""
    try:
        statements = parse(source)
    except DiagnosticError as error:
        shape = error.diagnostics
        rest = recover.readable(source, shape)
        more = of_statements(source, rest[0], lock, look, today, unread=rest[1]) if rest else ()
        return in_order((*shape, *more))
    return of_statements(source, statements, lock, look, today)


def of_json(
    source: SourceFile,
    lock: SourceFile | None = None,
    look: Look | None = None,
    today: date | None = None,
) -> tuple[Diagnostic, ...]:
    """The same for the JSON form. Rules write statements, which have no place in JSON: of their
    findings the fixes are left out."""
    from envspec.language.json_form import read_form

    try:
        statements, wrong = read_form(source)
    except DiagnosticError as error:
        return error.diagnostics
    found = of_statements(source, statements, lock, look, today)
    return in_order((*wrong, *(d if d.code < "E03" else d._replace(fix=None) for d in found)))


def of_statements(
    source: SourceFile,
    statements: Sequence[Statement],
    lock: SourceFile | None = None,
    look: Look | None = None,
    today: date | None = None,
    *,
    unread: frozenset[str] = frozenset(),
) -> tuple[Diagnostic, ...]:
    """Findings about the statements of a spec, by place. Pure but for ``look``.

    ``lock`` is the text of its lock. ``unread`` are words at the top level whose statements were
    read in part; see `envspec.language.recover`.
    """
    spec, wrong = resolve_all(tuple(statements), source)
    locked, about_lock = _read(lock)
    if wrong or unread:
        if unread:
            wrong = recover.certain(statements, wrong, unread)
        more = partial.check(spec, source, statements, wrong, unread)
        return in_order((*wrong, *more, *about_lock))
    if locked is not None:
        stale = load.staleness(load.Loaded(Path(source.name), source, spec), locked)
        if stale is not None:
            # Nothing is wrong in the spec: what stops `compile` is a warning here.
            about_lock = (stale._replace(severity=WARNING),)
            locked = None
    beside = look(spec) if look else ()
    versions = load.versions(locked)
    found = list(rules.check(spec, source, versions))
    if not has_errors(found):
        # What a rule has found wrong, the solver would only find again as a conflict.
        found += solve.check(spec, source, versions)
    if today is not None:
        found += stale_facts.check(View(spec, source, versions), today)
    return in_order((*found, *about_lock, *beside))


def _read(lock: SourceFile | None) -> tuple[Lock | None, tuple[Diagnostic, ...]]:
    if lock is None:
        return None, ()
    try:
        return lock_file.loads(lock.text, lock), ()
    except DiagnosticError as error:
        return None, error.diagnostics
