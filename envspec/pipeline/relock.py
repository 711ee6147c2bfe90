"""Making a lock anew so that only what must change changes, and saying whether it must."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

from envspec.diagnostics import Diagnostic, DiagnosticError, Label
from envspec.emit import publish
from envspec.lock import file as lock_file
from envspec.lock.model import Lock
from envspec.model import PathSource
from envspec.pipeline import load
from envspec.pipeline.load import LOCK_NAME, Loaded

if TYPE_CHECKING:
    from envspec.reporter import Reporter


class Asked(NamedTuple):
    """What a user asks of a lock.

    ``upgrade`` gives up every version of the earlier lock, ``packages`` names those to give up
    alone. ``exclude_newer`` is a moment (RFC 3339, UTC), ``""`` for no limit, and None for the
    limit of the earlier lock. ``resolver`` None means the default. ``base_from`` is a local image
    to ask for the distribution's packages where the base cannot be pulled.
    """

    upgrade: bool = False
    packages: frozenset[str] = frozenset()
    exclude_newer: str | None = None
    resolver: str | None = None
    base_from: str = ""


class Relocked(NamedTuple):
    """``changes`` are lines about packages, for people; ``written`` tells whether the file is
    another than before."""

    lock: Lock
    changes: tuple[str, ...]
    written: bool


def relock(loaded: Loaded, reporter: Reporter, asked: Asked) -> Relocked:
    """The spec's lock, made anew where something differs; no network where nothing does.

    Raises:
        DiagnosticError: E0403 to E0410, E0501 to E0503; nothing is written then.
    """
    from envspec.lock.earlier import earlier

    text, old = _earlier(loaded)
    _refuse_unknown(loaded, text, old, asked.packages)
    if old and not asked.upgrade and not asked.packages and not _reasons(loaded, old, asked):
        if isinstance(loaded.spec.project.source, PathSource):
            return _repacked(loaded, text, old)
        load.refuse_changed(loaded, old)
        return Relocked(old, (), written=False)
    limit = asked.exclude_newer
    if limit is None:
        limit = old.exclude_newer if old else ""
    lock, new_text = load.write_lock(
        loaded,
        reporter,
        resolver=asked.resolver or (old.resolver if old and _known(old.resolver) else None),
        earlier=earlier(text, old, upgrade=asked.upgrade, packages=asked.packages),
        exclude_newer=limit,
        base_from=asked.base_from,
    )
    return Relocked(lock, changes(old, lock), written=new_text != text)


def _repacked(loaded: Loaded, text: str, old: Lock) -> Relocked:
    """The lock with the folder of the source as it is now; nothing else is asked for."""
    from envspec.lock.sources import folder_artefact
    from envspec.placing import placed

    lock = old._replace(source=folder_artefact(loaded.spec, loaded.source))
    new = lock_file.dumps(lock)
    if new == text:
        return Relocked(old, (), written=False)
    with placed(loaded.source, loaded.home):
        publish.write_file(loaded.lock_path, new)
    return Relocked(lock, (f"  source {old.source.sha256[:12]} → {lock.source.sha256[:12]}",), True)


def check(loaded: Loaded, asked: Asked) -> Lock:
    """The lock, where it is there, fresh and whole. Writes nothing and asks nobody.

    Raises:
        DiagnosticError: E0401 (none), E0402 (of another spec, or made in another way than is
            asked for), E0407 (unreadable), E0409 (incomplete).
    """
    source = load.lock_text(loaded.path)
    if source is None:
        raise DiagnosticError.of(
            "E0401",
            f"there is no `{LOCK_NAME}` beside the spec",
            source=loaded.source,
            span=loaded.home,
            hint=f"run `envspec lock {loaded.argument}` and commit the lock",
        )
    lock = lock_file.loads(source.text, source)
    reasons = _reasons(loaded, lock, asked)
    if reasons:
        raise DiagnosticError(reasons)
    load.refuse_changed(loaded, lock)
    return lock


def changes(old: Lock | None, new: Lock) -> tuple[str, ...]:
    """A line for each package that came, went, or is another version. Pure."""
    before = _versions(old) if old else {}
    after = _versions(new)
    lines = []
    for name in sorted(before.keys() | after.keys()) if old else ():
        if name not in before:
            lines.append(f"+ {name} {after[name]}")
        elif name not in after:
            lines.append(f"- {name} {before[name]}")
        elif before[name] != after[name]:
            lines.append(f"  {name} {before[name]} → {after[name]}")
    return tuple(lines)


def _versions(lock: Lock) -> dict[str, str]:
    """What a lock installs, by name: packages, extensions and the distribution's packages."""
    debs = {d.name: d.version for d in (*lock.system.runtime, *lock.system.build)}
    built = {e.name: e.version for e in lock.extensions}
    return {**debs, **{p.name: p.version for p in lock.packages}, **built}


def _earlier(loaded: Loaded) -> tuple[str, Lock | None]:
    """The text of the lock that is there, and what it says where it can be read."""
    try:
        source = load.lock_text(loaded.path)
    except DiagnosticError:
        return "", None
    if source is None:
        return "", None
    try:
        return source.text, lock_file.loads(source.text, source)
    except DiagnosticError:
        return source.text, None


def _reasons(loaded: Loaded, lock: Lock, asked: Asked) -> list[Diagnostic]:
    """Why a lock cannot stay as it is; empty where it can."""
    stale = load.staleness(loaded, lock)
    if stale is not None:
        return [stale]
    found = [
        Diagnostic(
            "E0402",
            f"`{LOCK_NAME}` was made with {what} {was}, and {wanted} is asked for",
            loaded.source,
            (Label(loaded.home),),
            hint=f"run `envspec lock {loaded.argument}` with the same options",
        )
        for what, was, wanted in (
            ("the resolver", lock.resolver, asked.resolver),
            ("the limit", lock.exclude_newer or "none", _limit(asked)),
        )
        if wanted is not None and was != wanted
    ]
    return found or _incomplete(loaded, lock)


def _limit(asked: Asked) -> str | None:
    return None if asked.exclude_newer is None else asked.exclude_newer or "none"


def _incomplete(loaded: Loaded, lock: Lock) -> list[Diagnostic]:
    from envspec.lock.complete import gaps
    from envspec.lock.extensions.complete import extension_gaps
    from envspec.lock.spec_request import request_of

    request = request_of(loaded.spec, loaded.source)
    spans = {e.name: e.span for e in loaded.spec.extensions}
    found: dict[str, list[str]] = {}
    for name, clause in (*gaps(lock, request), *extension_gaps(lock, loaded.spec, request)):
        found.setdefault(name, []).append(clause)
    return [
        Diagnostic(
            "E0409",
            f"the lock does not hold `{name}` as the spec asks for it",
            loaded.source,
            (Label(spans.get(name) or request.span_of(name)),),
            cause="; ".join(clauses),
            hint=f"run `envspec lock {loaded.argument}`: what still fits stays",
        )
        for name, clauses in found.items()
    ]


def _refuse_unknown(loaded: Loaded, text: str, old: Lock | None, names: Collection[str]) -> None:
    """A name to upgrade that neither the spec nor the lock has is misspelt."""
    from envspec.lock.earlier import earlier
    from envspec.suggest import closest

    known = {p.name for p in loaded.spec.packages} | set(earlier(text, old).pins)
    for name in sorted(set(names) - known):
        near = closest(name, known)
        raise DiagnosticError.of(
            "E0403",
            f"`{name}` cannot be upgraded: neither the spec nor the lock has it",
            source=loaded.source,
            span=loaded.home,
            hint=f"did you mean `{near}`?" if near else "name a package of the lock",
        )


def _known(resolver: str) -> bool:
    return resolver in {"uv", "pip-tools"}
