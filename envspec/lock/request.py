"""What a resolver is asked and what it answers, whichever resolver it is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from envspec.lock.indexes import PYPI
from envspec.lock.listing import local_path
from envspec.lock.model import Artefact, LockedPackage
from envspec.source import SourceFile, Span


class PackageRequest(NamedTuple):
    """One line of ``packages``: a PEP 503 name, a PEP 440 specifier (may be empty), the alias
    of the only index it may come from (``""``: the default), extras, and where it stands."""

    name: str
    specifier: str
    index: str  # type: ignore[assignment]  # shadows tuple.index, which nobody calls
    extras: tuple[str, ...] = ()
    span: Span = Span(0, 0)

    @property
    def requirement(self) -> str:
        """The PEP 508 form."""
        extras = f"[{','.join(self.extras)}]" if self.extras else ""
        return f"{self.name}{extras}{self.specifier}"

    @property
    def alias(self) -> str:
        """The index that this package comes from."""
        return self.index or PYPI


class Request(NamedTuple):
    """All packages of a spec and the machine they are for.

    ``python`` is ``3.11``, ``platform`` ``linux/amd64`` or ``linux/arm64``, ``glibc`` the
    oldest version they must run on, as ``2.28``. ``indexes`` maps declared aliases to
    addresses. ``sdists_allowed`` names packages that may come as source archives, where no
    wheel will do. ``source`` and ``fallback`` are where findings point to that belong to no
    package line.

    ``pins`` are the versions to keep where they still fit, by name: wishes, never conditions.
    ``known`` are files of an earlier lock, by index and name: an index that tells no hash is not
    asked for their bytes again. ``exclude_newer`` is a moment (RFC 3339, UTC): what was uploaded
    later is not there; packages pinned with ``==`` are taken whenever they were uploaded.
    """

    python: str
    platform: str
    glibc: str
    packages: tuple[PackageRequest, ...]
    indexes: Mapping[str, str] = MappingProxyType({})
    sdists_allowed: frozenset[str] = frozenset()
    source: SourceFile | None = None
    fallback: Span = Span(0, 0)
    pins: Mapping[str, str] = MappingProxyType({})
    known: Mapping[tuple[str, str], Artefact] = MappingProxyType({})
    exclude_newer: str = ""

    @property
    def aliases(self) -> dict[str, str]:
        """Index alias by package name, for the packages that the spec names."""
        return {package.name: package.alias for package in self.packages}

    def span_of(self, name: str) -> Span:
        """The line of the spec about a package, else the fallback."""
        return next((p.span for p in self.packages if p.name == name), self.fallback)


class Chosen(NamedTuple):
    """A file a resolver settled on. ``sha256`` may be empty and ``size`` 0 where it was not
    told; ``parents`` are the names that require the package, ``spec`` among them."""

    name: str
    version: str
    filename: str
    url: str
    sha256: str
    size: int
    parents: tuple[str, ...]

    @property
    def path(self) -> Path | None:
        """The file, where it is on this machine."""
        return local_path(self.url)


class Resolution(NamedTuple):
    """A consistent set, sorted by name, and who found it."""

    packages: tuple[LockedPackage, ...]
    resolver: str
    resolver_version: str
