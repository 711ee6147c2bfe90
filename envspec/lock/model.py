"""What a lock holds: every file the build takes in, known by its sha256.

A lock never depends on the machine that wrote it: an artefact is (index alias, file name,
sha256, size). Where the bytes come from (store, find-links, mirror, index) is no part of it.
"""

from __future__ import annotations

from typing import NamedTuple

LOCK_VERSION = 3
"""Version 1 did not say how the lock was made, version 2 held no packages of the distribution and
no extensions."""


DEB_INDEX = "debian"
"""The alias of the mirror that a distribution's own sources name."""


class Artefact(NamedTuple):
    """A file to fetch. ``index`` is an alias such as ``pypi``, or ``""`` for a file beside
    the spec; ``size`` is in bytes, 0 where the index did not say."""

    index: str  # type: ignore[assignment]  # shadows tuple.index, which nobody calls
    file: str
    sha256: str
    size: int


class LockedPackage(NamedTuple):
    """One wheel. ``why`` names what asked for it: ``spec`` or the packages that require it."""

    name: str
    version: str
    artefact: Artefact
    requires: tuple[str, ...]
    why: tuple[str, ...]


class Deb(NamedTuple):
    """A package of the distribution. ``file`` is a plain file name; ``pool`` is the path below
    the mirror, as the distribution's list gives it."""

    name: str
    version: str
    architecture: str
    file: str
    pool: str
    sha256: str
    size: int


class System(NamedTuple):
    """Packages of the distribution, everything included that the images lack.

    ``suites`` are (suite, moment) of the lists they were chosen from: RFC 3339, UTC.
    ``asked`` is the image that was asked in place of the base, ``""`` for the base itself.
    ``runtime`` is what the base lacks, ``build`` what the image that compiles lacks beyond it.
    """

    suites: tuple[tuple[str, str], ...]
    asked: str
    runtime: tuple[Deb, ...]
    build: tuple[Deb, ...]


class LockedExtension(NamedTuple):
    """A package that is compiled. ``artefact`` is its source archive.

    ``requires`` are packages of the lock that it needs at run time; ``build`` is everything that
    its build can import, the framework included, sorted by name. ``wheel`` and ``wheel_sha256``
    are what the build gave, both ``""`` until it was built and recorded.
    """

    name: str
    version: str
    artefact: Artefact
    requires: tuple[str, ...]
    build: tuple[LockedPackage, ...]
    wheel: str = ""
    wheel_sha256: str = ""


class Nixpkgs(NamedTuple):
    """The nixpkgs revision that flakes of this lock pin, as flake.lock names it."""

    owner: str
    repo: str
    rev: str
    nar_hash: str
    last_modified: int


NO_NIXPKGS = Nixpkgs("", "", "", "", 0)
NO_SYSTEM = System((), "", (), ())


class Lock(NamedTuple):
    """The content of ``spec.lock``.

    ``inputs`` are the lines of the spec that decided the resolution, in the form of
    `envspec.lock.inputs.resolution_inputs`; a lock whose inputs differ from the spec's is stale.
    ``installer`` is the uv wheel that installs the set, itself hashed like everything else.

    The rest says how the lock was made: ``exclude_newer`` is the moment (RFC 3339, UTC) after
    which nothing was considered, ``""`` for no limit; ``tools`` are (name, version) of the
    programs that took part, beside the resolver; ``facts`` is the digest of the tables of facts;
    ``cuda`` is what the locked framework was built for, and ``driver_floor`` the oldest Linux
    driver for it, both ``""`` where there is none or the tables do not tell.

    ``devel_name`` and ``devel_digest`` are the image that compiles, ``""`` for the base itself.
    ``extensions`` stand in the order in which they are built and installed.
    """

    inputs: tuple[tuple[str, str], ...]
    base_name: str
    base_digest: str
    source: Artefact
    installer: LockedPackage
    packages: tuple[LockedPackage, ...]
    resolver: str
    resolver_version: str
    exclude_newer: str = ""
    tools: tuple[tuple[str, str], ...] = ()
    facts: str = ""
    nixpkgs: Nixpkgs = NO_NIXPKGS
    cuda: str = ""
    driver_floor: str = ""
    devel_name: str = ""
    devel_digest: str = ""
    system: System = NO_SYSTEM
    extensions: tuple[LockedExtension, ...] = ()


def artefacts(lock: Lock) -> tuple[Artefact, ...]:
    """Every file of a lock that an index or a folder offers, each once: all but the packages of
    the distribution."""
    extensions = [(e.artefact, *(p.artefact for p in e.build)) for e in lock.extensions]
    found = [lock.source, lock.installer.artefact, *(p.artefact for p in lock.packages)]
    return tuple(dict.fromkeys([*found, *(a for several in extensions for a in several)]))
