"""W0302: packages of the distribution are installed by name, at whatever version it serves."""

from __future__ import annotations

from collections.abc import Iterator

from envspec.diagnostics import WARNING, Diagnostic, Label
from envspec.model import Spec
from envspec.source import SourceFile


def check(spec: Spec, source: SourceFile) -> Iterator[Diagnostic]:
    """One finding for the `system` block, if there is one."""
    if spec.system:
        names = ", ".join(p.name for p in spec.system[:5])
        yield Diagnostic(
            "W0302",
            "packages of the distribution are not locked",
            source,
            (Label(spec.system[0].span, "by name only"),),
            cause=f"this version locks wheels and sources, not {names}: their build step asks the "
            "distribution, and may get other versions next year",
            hint="prefer a base image that has them",
            severity=WARNING,
        )
