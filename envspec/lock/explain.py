"""Why there is no set: the resolver's failure, found again by asking the index ourselves.

A resolver's text changes with its version, so it is not read for the facts that the index can
tell: whether a package exists, and for which targets. Only which two requirements exclude each
other is taken from it, and the text is kept as evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from urllib.parse import unquote

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import InvalidVersion

from envspec.diagnostics import Diagnostic, DiagnosticError, in_order
from envspec.facts.lookup import known_names
from envspec.lock.indexes import PYPI, Indexes, UnreachableError
from envspec.lock.listed import PROJECT
from envspec.lock.listing import IndexFile, projects_of
from envspec.lock.request import PackageRequest, Request
from envspec.lock.target import fits, machine, python_allowed, satisfying, version_of
from envspec.names import normalise
from envspec.source import Span
from envspec.suggest import closest

_NAME = r"[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?"
_CLAUSE = r"(?:[=<>!~]=?=?[\w.+*!-]*[\w*])"
_REQUIREMENT = rf"{_NAME}(?:\[[\w,-]*\])?(?:{_CLAUSE}(?:,{_CLAUSE})*)?"
# pip-tools lets pip's exceptions through: where in pip they were raised tells a user nothing.
_TRACEBACK = re.compile(
    r"^Traceback \(most recent call last\):\n(?:[ \t].*\n|\n)*(?:\S.*(?:\n|\Z))?"
    r"|^(?:The above exception|During handling).*\n",
    re.MULTILINE,
)
_NO_SPACE = re.compile(r"no space left on device|disk quota exceeded", re.IGNORECASE)
_MAX_EXCERPT = 30
_MAX_NAMES = 20


def explain(text: str, request: Request, indexes: Indexes) -> DiagnosticError:
    """What to tell of a resolver's failure.

    E0504 the disk is full, E0501 an index gave no answer, E0403 a package or release does not
    exist, E0404 it exists but not for this target, E0405 the requirements exclude each other.
    """
    if _NO_SPACE.search(text):
        return _full(text, request)
    late = tuple(_filtered(text, request))
    if late:
        return DiagnosticError(in_order(late))
    try:
        findings = tuple(_from_indexes(text, request, indexes))
    except UnreachableError as error:
        span = next((p.span for p in request.packages if p.alias == error.alias), request.fallback)
        return error.finding(request.source, span)
    if findings:
        return DiagnosticError(in_order(findings))
    if "No solution found" not in text and "ResolutionImpossible" not in text:
        # Both resolvers say so of every conflict. Anything else went wrong on the way: the
        # index answered us just now, but not the resolver.
        trouble = UnreachableError(PYPI, "the resolver could not finish, though a page was had")
        first = trouble.finding(request.source, request.fallback).diagnostics[0]
        return DiagnosticError([first._replace(excerpt=excerpt(text))])
    return DiagnosticError([_conflict(text, request)])


def _filtered(text: str, request: Request) -> Iterator[Diagnostic]:
    """E0403 for packages of which nothing is old enough; uv says so in a sentence of its own."""
    if not request.exclude_newer:
        return
    flat = " ".join(text.split())
    for name in dict.fromkeys(re.findall(rf"`({_NAME})` was filtered by `exclude-newer`", flat)):
        package = normalise(name)
        yield DiagnosticError.of(
            "E0403",
            f"no release of `{package}` that fits was uploaded before {request.exclude_newer}",
            source=request.source,
            span=request.span_of(package),
            cause="what is newer is left out, and so is what its index gives no day for",
            hint="take a later day, pin the package with `==`, or say `--exclude-newer none`",
        ).diagnostics[0]


def _full(text: str, request: Request) -> DiagnosticError:
    return DiagnosticError.of(
        "E0504",
        "the disk is full: the resolver could not write its files",
        source=request.source,
        span=request.fallback,
        cause="it needs its cache and a temporary folder; its own words are above",
        hint="make room, or set UV_CACHE_DIR or TMPDIR to a folder on another disk",
        excerpt=excerpt(text),
    )


def excerpt(text: str) -> tuple[str, ...]:
    """The resolver's own lines as evidence: printable, without addresses, not too many."""
    text = _TRACEBACK.sub("", text)
    lines = [re.sub(r"\S+://\S+", "<address>", line.expandtabs()) for line in text.splitlines()]
    lines = ["".join(c if c.isprintable() else "?" for c in line)[:200].rstrip() for line in lines]
    lines = [line for line in lines if line]
    if len(lines) > _MAX_EXCERPT:
        lines = [*lines[:_MAX_EXCERPT], f"… {len(lines) - _MAX_EXCERPT} more lines"]
    return tuple(lines)


def _from_indexes(text: str, request: Request, indexes: Indexes) -> Iterator[Diagnostic]:
    """Look at every package of the spec, then at those that the text complains about."""
    named = {package.name for package in request.packages}
    packages = list(request.packages)
    for name in _complained_about(text):
        if name not in named:
            named.add(name)
            packages.append(PackageRequest(name, "", "", span=_span_of_parent(name, text, request)))
    for package in packages[: len(request.packages) + _MAX_NAMES]:
        files = indexes.files(package.alias, package.name)
        if files is None:
            yield _absent(package, text, request)
            continue
        matching = satisfying(files, package.specifier)
        if not matching:
            yield _no_release(package, files, request)
        elif package.name not in request.sdists_allowed and not any(
            fits(file, request) for _, file in matching
        ):
            yield no_wheel(package, [file for _, file in matching], request)


def _complained_about(text: str) -> Iterable[str]:
    flat = " ".join(text.split())
    patterns = (
        rf"({_NAME}) was not found in the",
        rf"[Aa]ll versions of ({_NAME}) ",
        rf"({_REQUIREMENT}) ha(?:s|ve) no (?:usable )?wheels",
        rf"found wheels for `({_NAME})`",
        rf"required for `({_NAME})`",
        rf"No matching distribution found for ({_REQUIREMENT})",
    )
    for pattern in patterns:
        for found in re.findall(pattern, flat):
            yield normalise(re.split(r"[=<>!~\[]", found)[0])


def _span_of_parent(name: str, text: str, request: Request) -> Span:
    for who, requirement in _dependencies(text):
        if _project(requirement) == name:
            return request.span_of(_project(who))
    return request.fallback


def _absent(package: PackageRequest, text: str, request: Request) -> Diagnostic:
    parents = [w for w, r in _dependencies(text) if _project(r) == package.name and w != "spec"]
    asked = f"; `{parents[0]}` requires it" if parents else ""
    near = closest(package.name, known_names())
    meant = f"did you mean `{near}`? If not, " if near else "check the spelling, or "
    return DiagnosticError.of(
        "E0403",
        f"the package `{package.name}` does not exist on the index `{package.alias}`",
        source=request.source,
        span=package.span,
        cause=f"the index knows no project of this name{asked}",
        hint=f"{meant}name the index that has it: `from ALIAS`",
    ).diagnostics[0]


def _no_release(
    package: PackageRequest, files: Iterable[IndexFile], request: Request
) -> Diagnostic:
    versions = sorted({v for f in files if (v := version_of(f.filename)) is not None}, reverse=True)
    newest = ", ".join(str(version) for version in versions[:5]) or "none"
    return DiagnosticError.of(
        "E0403",
        f"no release of `{package.name}` on the index `{package.alias}` is `{package.specifier}`",
        source=request.source,
        span=package.span,
        cause=f"its newest releases there: {newest}",
        hint="ask for a release that exists, or name the index that has it: `from ALIAS`",
    ).diagnostics[0]


def no_wheel(package: PackageRequest, files: list[IndexFile], request: Request) -> Diagnostic:
    """E0404 for a package: ``files`` are those that satisfy it, newest first, and none fits."""
    newest = version_of(files[0].filename)
    names = [f.filename for f in files if version_of(f.filename) == newest]
    pythons, platforms = _offered(names)
    wanted = f"cp{request.python.replace('.', '')} on {machine(request)} with glibc {request.glibc}"
    if not platforms:
        there, hint = "only a source archive", "ask for a release that has a wheel"
    else:
        there = f"wheels for {', '.join(pythons)} on {', '.join(platforms)}"
        hint = "ask for a release, a Python or a platform that it has a wheel for"
    if not all(python_allowed(f, request) for f in files[:1]) and platforms:
        there += f", and it requires Python {files[0].requires_python}"
    return DiagnosticError.of(
        "E0404",
        f"`{package.name}` has no wheel for Python {request.python} on {request.platform}",
        source=request.source,
        span=package.span,
        cause=f"{package.name} {newest} has {there}; the target is {wanted}",
        hint=hint,
    ).diagnostics[0]


def _offered(filenames: Iterable[str]) -> tuple[list[str], list[str]]:
    pythons: set[str] = set()
    platforms: set[str] = set()
    for filename in filenames:
        try:
            tags = parse_wheel_filename(filename)[3]
        except (InvalidWheelFilename, InvalidVersion):
            continue
        pythons.update(tag.interpreter for tag in tags)
        platforms.update(tag.platform for tag in tags)
    order = sorted(pythons, key=lambda tag: (len(tag), tag))
    return order, sorted(platforms)


def _conflict(text: str, request: Request) -> Diagnostic:
    pair = _excluding_pair(text, request)
    if pair is None:
        title = "no set of packages satisfies all requirements together"
        cause = "the resolver tried every release it could; its own account is below"
        span = request.fallback
    else:
        (first, one), (second, other) = pair
        title = f"{_who(first)} `{one}`, but {_who(second)} `{other}`"
        cause = f"no release of `{_project(one)}` satisfies both, so no set of packages does"
        named = [who for who in (first, second) if who != "spec"]
        project = _project(one) if "spec" in {first, second} else _project(named[0])
        span = request.span_of(project)
    return DiagnosticError.of(
        "E0405",
        title,
        source=request.source,
        span=span,
        cause=cause,
        hint="loosen one of the two, and let all packages be resolved together",
        excerpt=excerpt(text),
    ).diagnostics[0]


def _who(who: str) -> str:
    return "the spec asks for" if who == "spec" else f"`{who}` requires"


Dependency = tuple[str, str]


def _excluding_pair(text: str, request: Request) -> tuple[Dependency, Dependency] | None:
    """Two requirements on one project, by different sides, that no release satisfies both.

    Whether they do is tried on the releases that the two specifiers name.
    """
    found = list(dict.fromkeys([*_own(request), *_dependencies(text)]))
    for i, (who, one) in enumerate(found):
        for other_who, other in found[i + 1 :]:
            if who != other_who and _project(one) == _project(other) and _exclude(one, other):
                return (who, one), (other_who, other)
    return None


def _own(request: Request) -> Iterator[Dependency]:
    yield from (("spec", p.name + p.specifier) for p in request.packages if p.specifier)


def _dependencies(text: str) -> Iterator[Dependency]:
    """Pairs (who, requirement) in a resolver's account: uv's sentences, pip's exception."""
    flat = " ".join(text.split())
    for who, what in re.findall(rf"({_REQUIREMENT}) depends? on ({_REQUIREMENT})", flat):
        if _project(who) not in {PROJECT, "project"}:  # the spec's own are known better
            yield who, what
    for what, address in re.findall(
        r"requirement=\w+\('([^']*)'\), parent=\w+\('([^' ]*\.whl)", flat
    ):
        filename = unquote(address.rpartition("/")[2])
        if (version := version_of(filename)) is not None:
            yield f"{projects_of(filename)[0]}=={version}", what


def _project(requirement: str) -> str:
    return normalise(re.split(r"[=<>!~\[]", requirement)[0])


def _exclude(one: str, other: str) -> bool:
    """True where no version that either specifier names, or one next to it, satisfies both."""
    try:
        both = Requirement(one).specifier & Requirement(other).specifier
    except InvalidRequirement:
        return False
    bounds = [clause.version.removesuffix(".*") for clause in both]
    tried = ["0", "99999", *bounds, *(f"{b}.0.1" for b in bounds), *(f"{b}.post1" for b in bounds)]
    # Next to a version with a local label there is none: `contains` answers False for it.
    return bool(bounds) and not any(both.contains(v, prereleases=True) for v in tried)
