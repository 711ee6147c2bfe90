"""W0302: packages of the distribution are installed by name, at whatever version it serves."""

from __future__ import annotations

from collections.abc import Iterator

from envspec.diagnostics import WARNING, Diagnostic, Label
from envspec.rules.view import View

CODE = "W0302"


def check(view: View) -> Iterator[Diagnostic]:
    """One finding for the `system` block, if there is one."""
    spec, source = view.spec, view.source
    if spec.system:
        names = ", ".join(p.name for p in spec.system[:5])
        yield Diagnostic(
            CODE,
            "packages of the distribution are not locked",
            source,
            (Label(spec.system[0].span, "by name only"),),
            cause=f"this version locks wheels and sources, not {names}: their build step asks the "
            "distribution, and may get other versions next year",
            hint="prefer a base image that has them",
            severity=WARNING,
        )
