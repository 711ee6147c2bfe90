"""What the language can say and this version does not build: refused before anything is made.

`envspec check` knows these statements and the rules judge them; locking and compiling would have
to leave them out, and an output that lacks what its spec asks for is worse than none.
"""

from __future__ import annotations

from collections.abc import Iterator

from envspec.diagnostics import Diagnostic, DiagnosticError, Label
from envspec.model import Spec
from envspec.source import SourceFile, Span

CODE = "E0208"


def require_supported(spec: Spec, source: SourceFile) -> None:
    """Refuse a spec that this version can check and not build.

    Raises:
        DiagnosticError: E0208, one for each statement.
    """
    findings = [
        Diagnostic(
            CODE,
            f"this version checks {what}, and does not build with it yet",
            source,
            (Label(span, "stated here"),),
            cause="leaving it out would give an environment that is not the one described",
            hint=hint,
        )
        for what, span, hint in _unsupported(spec)
    ]
    if findings:
        raise DiagnosticError(findings)


def _unsupported(spec: Spec) -> Iterator[tuple[str, Span, str]]:
    for asset in spec.assets:
        yield f"`asset {asset.name}`", asset.span, "put small files into the source archive"
    for service in spec.services:
        yield f"`service {service.name}`", service.span, "start it inside the entry"
    for entry in spec.entries:
        if entry.secrets:
            yield "secrets of entries", entry.span, "choose an entry that needs none"
