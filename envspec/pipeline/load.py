"""Reading a spec and its lock: from files to checked values."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from envspec import rules
from envspec.diagnostics import Diagnostic, DiagnosticError, has_errors
from envspec.emit import publish
from envspec.language.parse import MAX_BYTES, parse
from envspec.language.resolve import resolve
from envspec.lock import file as lock_file
from envspec.lock.inputs import difference
from envspec.lock.model import Lock
from envspec.lock.spec_inputs import resolution_inputs
from envspec.model import Spec
from envspec.placing import placed
from envspec.source import SourceFile, Span

if TYPE_CHECKING:
    from envspec.reporter import Reporter

LOCK_NAME = "spec.lock"


class Loaded(NamedTuple):
    """A spec that was read, resolved and checked; ``findings`` are warnings only."""

    path: Path
    source: SourceFile
    spec: Spec
    findings: tuple[Diagnostic, ...]

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


def load(path: Path) -> Loaded:
    """Read, parse, resolve and check a spec.

    Raises:
        DiagnosticError: E0902 (unreadable), E01.., E02.., E03..
    """
    source = SourceFile(str(path), _read(path, MAX_BYTES, "E0902", "the spec"))
    if not path.name.isprintable():
        raise DiagnosticError.of(
            "E0902",
            "the file name of the spec holds a character that cannot be shown",
            source=source,
            span=Span(0, 0),
            cause="outputs name the spec that they were made from, line by line",
            hint="rename the file, such as to `spec.env`",
        )
    spec = resolve(parse(source), source)
    findings = rules.check(spec, source)
    if has_errors(findings):
        raise DiagnosticError(findings)
    return Loaded(path, source, spec, findings)


def read_lock(loaded: Loaded) -> tuple[Lock, str] | None:
    """The spec's lock and its text; None where there is none.

    Raises:
        DiagnosticError: E0402 (stale), E0407 (unreadable).
    """
    path = loaded.lock_path
    if not path.exists():
        return None
    text = _read(path, lock_file.MAX_LENGTH, "E0407", "the lock")
    lock = lock_file.loads(text, SourceFile(str(path), text))
    changes = difference(lock.inputs, resolution_inputs(loaded.spec))
    if changes:
        more = f", and {len(changes) - 3} more" if len(changes) > 3 else ""
        raise DiagnosticError.of(
            "E0402",
            f"`{path.name}` does not belong to this spec any more",
            source=loaded.source,
            span=_changed_span(loaded, changes[0]),
            label="changed since the lock was written",
            cause="; ".join(changes[:3]) + more,
            hint=f"run `envspec lock {loaded.argument}`",
        )
    return lock, text


def _changed_span(loaded: Loaded, change: str) -> Span:
    """The statement that a sentence of `difference` is about."""
    key = change.split(":", 1)[0]
    kind, _, name = key.partition(" ")
    spec = loaded.spec
    if kind == "package":
        return next((p.span for p in spec.packages if p.name == name), loaded.home)
    if kind == "index":
        return next((i.span for i in spec.indexes if i.name == name), loaded.home)
    places = {
        "base": spec.platform.base_span,
        "python": spec.platform.python_span,
        "source": spec.project.source.span,
        "accelerator": spec.accelerator.span,
    }
    return places.get(kind, loaded.home)


def locked(
    loaded: Loaded, reporter: Reporter, *, frozen: bool = False, resolver: str | None = None
) -> tuple[Lock, str]:
    """The spec's lock; resolved and written first where there is none.

    Raises:
        DiagnosticError: E0401 (none, under ``frozen``), E0402, E0403 to E0407, E0501.
    """
    found = read_lock(loaded)
    if found is not None:
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
    return write_lock(loaded, reporter, resolver=resolver)


def write_lock(
    loaded: Loaded, reporter: Reporter, *, resolver: str | None = None
) -> tuple[Lock, str]:
    """Resolve the spec anew and write its lock."""
    from envspec.lock.make import make

    with placed(loaded.source, loaded.home):
        lock = make(loaded.spec, loaded.source, loaded.path.parent, reporter, resolver)
        text = lock_file.dumps(lock)
        publish.write_file(loaded.lock_path, text)
    return lock, text


def _read(path: Path, limit: int, code: str, what: str) -> str:
    """A text file, or a finding that says why it cannot be read."""
    source = SourceFile(str(path), "")
    try:
        with path.open("rb") as stream:
            data = stream.read(4 * limit + 1)
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        title = f"{what} is not UTF-8 at byte {error.start}"
        hint = "save it as UTF-8"
    except OSError as error:
        title = f"cannot read {what}: {(error.strerror or 'unknown error').lower()}"
        hint = "name a spec file, such as `envspec compile spec.env`"
    raise DiagnosticError.of(code, title, source=source, span=Span(0, 0), hint=hint)
