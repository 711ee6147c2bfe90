"""What a resolver is asked for a spec. Pure."""

from __future__ import annotations

from envspec.lock.request import PackageRequest, Request
from envspec.model import Spec
from envspec.source import SourceFile

DEFAULT_GLIBC = "2.28"


def request_of(spec: Spec, source: SourceFile) -> Request:
    """All packages of a spec and the machine they are for, as written."""
    platform = spec.platform
    return Request(
        python=platform.python,
        platform=platform.os_arch,
        glibc=platform.glibc or DEFAULT_GLIBC,
        packages=tuple(
            PackageRequest(p.name, p.specifier, p.index, p.extras, p.span) for p in spec.packages
        ),
        indexes={i.name: i.url for i in spec.indexes if i.url},
        source=source,
        fallback=spec.project.span,
    )
