"""W0351: a service, an asset, a secret, a mirror or an index that nothing uses."""

from __future__ import annotations

from collections.abc import Iterator

from envspec.diagnostics import WARNING, Diagnostic, Label
from envspec.model import DEFAULT_INDEX, ArchiveSource, Spec
from envspec.rules.view import View
from envspec.source import Span

CODE = "W0351"


def check(view: View) -> Iterator[Diagnostic]:
    """One finding a declaration."""
    for kind, name, span, hint in _unused(view.spec):
        yield Diagnostic(
            CODE,
            f"{kind} `{name}` is used by nothing",
            view.source,
            (Label(span, "declared here"),),
            cause="what a spec declares is fetched, started or asked for on the word of a "
            "statement that uses it",
            hint=f"{hint}, or remove it",
            severity=WARNING,
        )


def _unused(spec: Spec) -> Iterator[tuple[str, str, Span, str]]:
    services = {name for e in spec.entries for name in e.services}
    assets = {name for e in spec.entries for name in e.assets}
    secrets = {name for e in spec.entries for name in e.secrets}
    secrets |= {a.secret for a in spec.assets}
    indexes = _indexes(spec)
    for service in spec.services:
        if service.name not in services:
            hint = f"write `service {service.name}` in an entry"
            yield "service", service.name, service.span, hint
    for asset in spec.assets:
        if asset.name not in assets:
            yield "asset", asset.name, asset.span, f"write `asset {asset.name}` in an entry"
    for secret in spec.secrets:
        if secret.name not in secrets:
            hint = f"write `secret {secret.name}` in an entry or an asset"
            yield "secret", secret.name, secret.span, hint
    for index in spec.indexes:
        if index.name not in indexes:
            yield "index", index.name, index.span, f"take a package `from {index.name}`"
    for mirror in spec.mirrors:
        if mirror.index not in indexes:
            hint = f"take a package `from {mirror.index}`"
            yield "mirror", mirror.name, mirror.span, hint


def _indexes(spec: Spec) -> set[str]:
    """Indexes that something comes from. What a package requires comes from the default index
    where no statement says otherwise, so that one is used as soon as there is a package."""
    used = {p.index or DEFAULT_INDEX for p in spec.packages}
    used |= {e.index or DEFAULT_INDEX for e in spec.extensions if e.git is None}
    if isinstance(spec.project.source, ArchiveSource) and spec.project.source.index:
        used.add(spec.project.source.index)
    if spec.packages or spec.extensions:
        used.add(DEFAULT_INDEX)
    return used
