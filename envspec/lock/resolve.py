"""Resolution: from the packages of a spec to one exact file for each, the target's own.

All packages are resolved together, always: adding them one at a time drags shared dependencies
past what the others accept.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from envspec.diagnostics import DiagnosticError
from envspec.lock import crew
from envspec.lock.confusion import check_one_index
from envspec.lock.digest import digest
from envspec.lock.indexes import PYPI, Indexes, UnreachableError
from envspec.lock.model import Artefact, LockedPackage
from envspec.lock.piptools import resolve_piptools
from envspec.lock.request import Chosen, PackageRequest, Request, Resolution
from envspec.lock.target import best
from envspec.lock.transfer import Desk
from envspec.lock.uv import resolve_uv
from envspec.lock.uvrun import uv_version
from envspec.machines import MACHINES
from envspec.reporter import Reporter

__all__ = ["PackageRequest", "Request", "Resolution", "installer", "resolve"]

RESOLVERS = ("uv", "pip-tools")
HANDS = 4
"""Files asked about at a time."""


def resolve(
    request: Request, resolver: str | None, reporter: Reporter, indexes: Indexes | None = None
) -> Resolution:
    """One exact file for every package that the spec needs, directly or not.

    ``resolver`` is ``uv`` (also for None) or ``pip-tools``.

    Raises:
        DiagnosticError: E0403 a package or release does not exist, E0404 none for this target,
            E0405 the requirements exclude each other, E0408 the resolver cannot do this,
            E0410 two indexes have a package and the spec does not say which one is meant,
            E0417 an index names a file by credentials, E0501 an index gave no answer.
    """
    indexes = indexes or Indexes(request.indexes)
    name = resolver or RESOLVERS[0]
    _check(request, name)
    reporter.stage(f"resolving {len(request.packages)} packages with {name}")
    solve = resolve_uv if name == "uv" else resolve_piptools
    chosen, version = solve(request, indexes)
    _refuse_echoes(chosen, request, indexes)
    check_one_index(chosen, request, indexes, reporter)
    return Resolution(_lock(chosen, request, indexes, reporter), name, version)


def installer(request: Request, indexes: Indexes | None = None) -> LockedPackage:
    """The uv wheel that installs the set: the release this tool runs, for the target.

    Raises:
        DiagnosticError: E0404 no wheel for the target, E0408 no uv to take the release from,
            E0501 the index gave no answer.
    """
    indexes = indexes or Indexes(request.indexes)
    version = uv_version()
    _check(request, "uv")
    try:
        file = best(indexes.files(PYPI, "uv") or (), version, request) if version else None
    except UnreachableError as error:
        raise error.finding(request.source, request.fallback) from None
    if file is None:
        raise DiagnosticError.of(
            "E0404" if version else "E0408",
            f"the installer uv {version} has no wheel for {request.platform}"
            if version
            else "the installer uv is not installed here, so there is no release to lock",
            source=request.source,
            span=request.fallback,
            cause=f"looked at the index `{PYPI}`, for glibc {request.glibc}",
            hint="install another release of uv beside this tool, then lock again",
        )
    chosen = Chosen("uv", version, file.filename, file.url, file.sha256, file.size, ("spec",))
    return _lock([chosen], request, indexes, None)[0]


def _refuse_echoes(chosen: Sequence[Chosen], request: Request, indexes: Indexes) -> None:
    """A resolver reads pages by itself, and so may take a file that is named by a password."""
    for file in chosen:
        if indexes.kept.repeats(file.filename) or indexes.kept.repeats(file.version):
            named = next((p.name for p in request.packages if p.name == file.name), "a dependency")
            alias = request.aliases.get(file.name, PYPI)
            raise DiagnosticError.of(
                "E0417",
                f"the index `{alias}` offers a file that is named by credentials it was sent",
                source=request.source,
                span=request.span_of(file.name),
                cause=f"the newest file of `{named}` there has them in its name or version, which "
                "would stand in the lock",
                hint="change these credentials, and tell who runs the index",
            )


def _check(request: Request, resolver: str) -> None:
    wrong = ""
    if resolver not in RESOLVERS:
        wrong = f"there is no resolver {resolver!a}; there are {' and '.join(RESOLVERS)}"
    elif request.platform not in MACHINES:
        wrong = f"packages are resolved for {' and '.join(MACHINES)}, not {request.platform!a}"
    if wrong:
        raise DiagnosticError.of(
            "E0408", wrong, source=request.source, span=request.fallback, hint="choose one of them"
        )


def _lock(
    chosen: Sequence[Chosen], request: Request, indexes: Indexes, reporter: Reporter | None
) -> tuple[LockedPackage, ...]:
    """Fill in hashes and sizes that nobody told, and turn parents into children."""
    aliases = request.aliases
    told = {c.name: _told(c, aliases.get(c.name, PYPI), request) for c in chosen}

    def tell(file: Chosen, _: Desk) -> None:
        try:
            told[file.name] = digest(file, aliases.get(file.name, PYPI), indexes)
        except UnreachableError as error:
            raise error.finding(request.source, request.span_of(file.name)) from None

    crew.run([partial(tell, c) for c in chosen if not all(told[c.name])], 0, reporter, HANDS)
    names = {c.name for c in chosen}
    return tuple(
        LockedPackage(
            c.name,
            c.version,
            Artefact(aliases.get(c.name, PYPI), c.filename, *told[c.name]),
            tuple(sorted(child.name for child in chosen if c.name in child.parents)),
            tuple(sorted((p for p in c.parents if p == "spec" or p in names), key=_spec_first)),
        )
        for c in sorted(chosen)
    )


def _told(file: Chosen, alias: str, request: Request) -> tuple[str, int]:
    """Hash and size as the index told them; where it told none, as an earlier lock has them.

    Bytes that changed since under the same name are found when they are fetched: E0502.
    """
    known = request.known.get((alias, file.filename))
    if known is None or (file.sha256 and file.sha256 != known.sha256):
        return file.sha256, file.size
    return known.sha256, file.size or known.size


def _spec_first(parent: str) -> tuple[bool, str]:
    return parent != "spec", parent
