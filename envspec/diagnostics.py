"""Findings as values.

A finding is data until `envspec.render` draws it: code, place, what is wrong, why, and the
smallest change that mends it. Nothing here prints, and no library's own message is passed on
(their wording changes with version and hash seed).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from envspec.source import SourceFile, Span

ERROR = "error"
WARNING = "warning"
NOTE = "note"


class Label(NamedTuple):
    """A span and what it has to do with the finding. The first label is where it happened.

    ``hidden`` says that what the span holds in quotes must not be repeated by any output.
    """

    span: Span
    text: str = ""
    hidden: bool = False


class Edit(NamedTuple):
    """Put ``replacement`` where ``span`` is; an empty span inserts."""

    span: Span
    replacement: str


class Fix(NamedTuple):
    """A machine-applicable change: edits that do not overlap and belong together."""

    description: str
    edits: tuple[Edit, ...]

    @classmethod
    def replace(cls, span: Span, replacement: str, description: str) -> Fix:
        """One edit, the usual case."""
        return cls(description, (Edit(span, replacement),))


class Diagnostic(NamedTuple):
    """One finding.

    ``code`` names a page in docs/rules. ``title`` is one sentence without a full stop that says
    what was written and what was expected. ``cause`` says why, with the numbers; ``hint`` is the
    smallest change that mends it. ``excerpt`` holds lines of evidence (the end of a log).
    ``source`` is None only for findings about no file at all.
    """

    code: str
    title: str
    source: SourceFile | None = None
    labels: tuple[Label, ...] = ()
    cause: str = ""
    hint: str = ""
    fix: Fix | None = None
    severity: str = ERROR
    excerpt: tuple[str, ...] = ()

    @property
    def span(self) -> Span:
        """Where it happened; the start of the file when no place is known."""
        return self.labels[0].span if self.labels else Span(0, 0)


class DiagnosticError(Exception):
    """Findings that stop a phase. Carries values; `envspec.cli` alone turns it into an exit."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("; ".join(f"{d.code} {d.title}" for d in self.diagnostics))

    @classmethod
    def of(
        cls,
        code: str,
        title: str,
        *,
        source: SourceFile | None = None,
        span: Span | None = None,
        label: str = "",
        cause: str = "",
        hint: str = "",
        excerpt: Iterable[str] = (),
    ) -> DiagnosticError:
        """One finding, the usual case."""
        labels = () if span is None else (Label(span, label),)
        return cls([Diagnostic(code, title, source, labels, cause, hint, excerpt=tuple(excerpt))])


def in_order(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Sort by place, then code, and drop repeats, so the text is the same on every run."""
    seen: dict[tuple[str, Span, str, str], Diagnostic] = {}
    for d in diagnostics:
        name = d.source.name if d.source else ""
        seen.setdefault((name, d.span, d.code, d.title), d)
    return tuple(seen[key] for key in sorted(seen))


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    """True where at least one finding stops the work."""
    return any(d.severity == ERROR for d in diagnostics)
