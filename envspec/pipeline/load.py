"""Reading a spec and its lock: from files to checked values."""

from __future__ import annotations

import os
import shlex
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from envspec import rules
from envspec.diagnostics import Diagnostic, DiagnosticError, Label, has_errors
from envspec.emit import publish
from envspec.language.limits import MAX_BYTES
from envspec.language.parse import parse
from envspec.language.resolve import resolve
from envspec.lock import file as lock_file
from envspec.lock.inputs import difference
from envspec.lock.model import Lock
from envspec.lock.spec_inputs import resolution_inputs
from envspec.model import ArchiveSource, PathSource, Spec
from envspec.pipeline import deposit
from envspec.pipeline.supported import require_supported
from envspec.placing import placed
from envspec.source import SourceFile, Span

if TYPE_CHECKING:
    from envspec.lock.earlier import Earlier
    from envspec.reporter import Reporter

LOCK_NAME = "spec.lock"


class Loaded(NamedTuple):
    """A spec that was read, resolved and checked; ``findings`` are warnings only.

    ``lock`` is the lock beside it, with its text, where that is fresh: the rules have then seen
    its versions.
    """

    path: Path
    source: SourceFile
    spec: Spec
    findings: tuple[Diagnostic, ...] = ()
    lock: tuple[Lock, str] | None = None

    @property
    def lock_path(self) -> Path:
        """Where the lock of this spec is."""
        return self.path.with_name(LOCK_NAME)

    @property
    def argument(self) -> str:
        """The path as a word for a shell, for hints that are commands."""
        text = str(self.path)
        return shlex.quote(f"./{text}" if text.startswith("-") else text)

    @property
    def home(self) -> Span:
        """Where findings about the spec as a whole point: its `project` statement."""
        span = self.spec.project.span
        end = self.source.text.find("\n", span.start)
        return Span(span.start, min(span.end, end if end > 0 else span.end))


def load(path: Path, *, use_lock: bool = True) -> Loaded:
    """Read, parse, resolve and check a spec, with the versions of its lock where that is fresh.

    Without ``use_lock`` the rules see the spec alone: a lock that is about to be made anew must
    not stand in its own way.

    Raises:
        DiagnosticError: E0902 (unreadable), E01.., E02.., E03..
    """
    source = read_spec(path)
    loaded = Loaded(path, source, resolve(parse(source), source))
    if use_lock:
        with suppress(DiagnosticError):  # told by `read_lock`, where the lock is needed
            loaded = loaded._replace(lock=read_lock(loaded))
    return _checked(loaded, loaded.lock[0] if loaded.lock else None)


def checked_with(loaded: Loaded, lock: Lock) -> Loaded:
    """The same spec after the rules have seen the versions of a lock, if they have not yet.

    Raises:
        DiagnosticError: E03..
    """
    if loaded.lock is not None and loaded.lock[0] is lock:
        return loaded
    return _checked(loaded, lock)


def versions(lock: Lock | None) -> dict[str, str]:
    """What a lock settles, for the rules: name → version."""
    return {p.name: p.version for p in lock.packages} if lock else {}


def _checked(loaded: Loaded, lock: Lock | None) -> Loaded:
    findings = rules.check(loaded.spec, loaded.source, versions(lock))
    if has_errors(findings):
        raise DiagnosticError(findings)
    return loaded._replace(findings=findings)


def read_spec(path: Path) -> SourceFile:
    """The text of a spec.

    Raises:
        DiagnosticError: E0902.
    """
    return spec_text(path, _bytes(path, MAX_BYTES, "E0902", "the spec"))


def spec_text(path: Path, data: bytes) -> SourceFile:
    """The text of a spec that was read from ``path``, or that stands for it.

    Raises:
        DiagnosticError: E0902.
    """
    source = SourceFile(str(path), _decoded(path, data, "E0902", "the spec"))
    if not path.name.isprintable():
        raise DiagnosticError.of(
            "E0902",
            "the file name of the spec holds a character that cannot be shown",
            source=source,
            span=Span(0, 0),
            cause="outputs name the spec that they were made from, line by line",
            hint="rename the file, such as to `spec.env`",
        )
    return source


def read_lock(loaded: Loaded) -> tuple[Lock, str] | None:
    """The spec's lock and its text; None where there is none.

    Raises:
        DiagnosticError: E0402 (stale), E0407 (unreadable).
    """
    if loaded.lock is not None:
        return loaded.lock
    source = lock_text(loaded.path)
    if source is None:
        return None
    lock = lock_file.loads(source.text, source)
    stale = staleness(loaded, lock)
    if stale is not None:
        raise DiagnosticError([stale])
    return lock, source.text


def lock_text(spec: Path) -> SourceFile | None:
    """The text of the lock beside a spec; None where there is none.

    Raises:
        DiagnosticError: E0407.
    """
    path = spec.with_name(LOCK_NAME)
    if not os.path.exists(path):  # noqa: PTH110 - pathlib's own fails on a name that is too long
        return None
    data = _bytes(path, lock_file.MAX_LENGTH, "E0407", "the lock")
    return SourceFile(str(path), _decoded(path, data, "E0407", "the lock"))


def staleness(loaded: Loaded, lock: Lock) -> Diagnostic | None:
    """E0402 where the lock was made from another spec than this. Pure."""
    changes = difference(lock.inputs, resolution_inputs(loaded.spec))
    if not changes:
        return None
    more = f", and {len(changes) - 3} more" if len(changes) > 3 else ""
    return Diagnostic(
        "E0402",
        f"`{LOCK_NAME}` does not belong to this spec any more",
        loaded.source,
        (Label(_changed_span(loaded, changes[0]), "changed since the lock was written"),),
        cause="; ".join(changes[:3]) + more,
        hint=f"run `envspec lock {loaded.argument}`",
    )


def _changed_span(loaded: Loaded, change: str) -> Span:
    """The statement that a sentence of `difference` is about."""
    key = change.split(":", 1)[0]
    kind, _, name = key.partition(" ")
    spec = loaded.spec
    if kind == "package":
        return next((p.span for p in spec.packages if p.name == name), loaded.home)
    if kind == "index":
        return next((i.span for i in spec.indexes if i.name == name), loaded.home)
    if kind == "extension":
        first = name.split(" ", 1)[0]
        return next((e.span for e in spec.extensions if e.name == first), loaded.home)
    if kind == "system":
        return next((p.span for p in spec.system if p.stage == name), loaded.home)
    places = {
        "base": spec.platform.base_span,
        "devel": spec.platform.devel_span,
        "gpus": spec.accelerator.gpus_span,
        "python": spec.platform.python_span,
        "source": spec.project.source.span,
        "accelerator": spec.accelerator.span,
    }
    return places.get(kind, loaded.home)


def locked(
    loaded: Loaded,
    reporter: Reporter,
    *,
    frozen: bool = False,
    resolver: str | None = None,
    base_from: str = "",
) -> tuple[Lock, str]:
    """The spec's lock; resolved and written first where there is none (see `write_lock`).

    Raises:
        DiagnosticError: E0208 (a statement that is not built), E0401 (none, under ``frozen``),
            E0402, E0403 to E0435, E0501.
    """
    require_supported(loaded.spec, loaded.source)
    found = read_lock(loaded)
    if found is not None:
        refuse_changed(loaded, found[0])
        return found
    if frozen:
        raise DiagnosticError.of(
            "E0401",
            f"there is no `{LOCK_NAME}` beside the spec",
            source=loaded.source,
            span=loaded.home,
            cause="`--frozen` never resolves, so that nothing changes behind your back",
            hint=f"run `envspec lock {loaded.argument}` and commit the lock",
        )
    return write_lock(loaded, reporter, resolver=resolver, base_from=base_from)


def refuse_changed(loaded: Loaded, lock: Lock) -> None:
    """Look again at a source that lies on this machine: that costs no network, and nothing else
    would tell that it is another one by now.

    Raises:
        DiagnosticError: E0426 a folder changed since it was locked, E0502 an archive beside the
            spec did, E0506 a file of a deposit did, E0420 to E0425, E0503.
    """
    stated, source = loaded.spec.project.source, loaded.source
    if deposit.is_deposit(loaded.path.parent):
        # It holds the packed source and not the folder; its own list says what changed.
        with placed(source, loaded.home):
            deposit.refuse_damaged(loaded.path.parent, lock)
        return
    if isinstance(stated, PathSource):
        from envspec.lock.sources import changed_source

        changed = changed_source(loaded.spec, source, lock.source)
        if changed is not None:
            raise DiagnosticError([changed])
    elif isinstance(stated, ArchiveSource) and not stated.index:
        from envspec.lock.indexes import Indexes
        from envspec.lock.sources import source_artefact

        source_artefact(
            *("", stated.file, stated.sha256, Indexes({})),
            beside=(loaded.path.parent,),
            source=source,
            span=stated.span,
        )


def write_lock(
    loaded: Loaded,
    reporter: Reporter,
    *,
    resolver: str | None = None,
    earlier: Earlier | None = None,
    exclude_newer: str = "",
    base_from: str = "",
) -> tuple[Lock, str]:
    """Resolve the spec anew and write its lock; nothing is written where a rule finds an error
    in what was resolved. What ``earlier`` holds stays where it still fits; ``base_from`` is asked
    for the distribution's packages in place of the base."""
    from envspec.lock.earlier import NOTHING
    from envspec.lock.make import make

    require_supported(loaded.spec, loaded.source)
    folder = loaded.path.parent
    with placed(loaded.source, loaded.home):
        lock = make(
            *(loaded.spec, loaded.source, folder, reporter, resolver),
            earlier=earlier or NOTHING,
            exclude_newer=exclude_newer,
            base_from=base_from,
        )
        checked_with(loaded, lock)
        text = lock_file.dumps(lock)
        publish.write_file(loaded.lock_path, text)
    return lock, text


def _bytes(path: Path, limit: int, code: str, what: str) -> bytes:
    """What a file holds; past four times ``limit`` it is cut, and too long in any encoding."""
    try:
        with path.open("rb") as stream:
            return stream.read(4 * limit + 1)
    except OSError as error:
        title = f"cannot read {what}: {(error.strerror or 'unknown error').lower()}"
        hint = "name a spec file, such as `envspec compile spec.env`"
    raise DiagnosticError.of(
        code, title, source=SourceFile(str(path), ""), span=Span(0, 0), hint=hint
    )


def _decoded(path: Path, data: bytes, code: str, what: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        title = f"{what} is not UTF-8 at byte {error.start}"
    raise DiagnosticError.of(
        code, title, source=SourceFile(str(path), ""), span=Span(0, 0), hint="save it as UTF-8"
    )
