"""Resolving with uv: for any Python and platform, all packages at once.

The packages go into a project file of their own in a temporary folder, because only there can
uv be told that a package comes from one index and no other. Addresses stand in that file and in
the environment, not in the arguments, which every user of the machine can read.
"""

from __future__ import annotations

import json
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any
from urllib.parse import unquote, urlsplit

from envspec.diagnostics import DiagnosticError
from envspec.lock.access import variable
from envspec.lock.explain import explain
from envspec.lock.indexes import PYPI, UV_VARIABLE, Indexes, UnreachableError
from envspec.lock.links import html_page, linked
from envspec.lock.listed import PROJECT, Listed, read_listed
from envspec.lock.listing import IndexFile, safe_name
from envspec.lock.request import Chosen, PackageRequest, Request
from envspec.lock.target import fits, machine, rank, satisfying
from envspec.lock.uvrun import run_uv, uv_version
from envspec.names import normalise

tomllib = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")

# The glibc versions uv has a platform for; one in between means the next older.
_GLIBC = (17, 28, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40)


def resolve_uv(request: Request, indexes: Indexes) -> tuple[list[Chosen], str]:
    """One consistent set for the target, and uv's version.

    Raises:
        DiagnosticError: E0403, E0404, E0405, E0408, E0501, at the package lines.
    """
    with tempfile.TemporaryDirectory(prefix="envspec-") as name:
        folder = Path(name)
        environment = _write_project(folder, request, indexes)
        # A file that is there already holds the versions to keep where they still fit.
        if request.pins:
            (folder / "pylock.toml").write_text(_wishes(request), "utf-8")
        more = ["--format", "pylock.toml", "--output-file", "pylock.toml"]
        _compile(more, folder, request, indexes, environment)
        locked = (folder / "pylock.toml").read_text("utf-8")
        found = [_package(entry, request) for entry in tomllib.loads(locked).get("packages", [])]
        pins = "".join(f"{name}=={version}\n" for name, version, _ in found)
        (folder / "pins.txt").write_text(pins, "utf-8")
        # The format above has no parents. Pinned, this needs nothing that is not in uv's cache,
        # where there is one: without the network it is quick.
        more = ["--annotation-style", "split", "--constraints", "pins.txt"]
        done = _run([*more, "--offline"], folder, request, indexes, environment)
        listed = (
            _compile(more, folder, request, indexes, environment)
            if done.returncode
            else done.stdout
        )
    pinned = read_listed(listed)
    chosen = [
        Chosen(name, release, *file[:4], pinned.get(name, Listed(release, ())).parents)
        for name, release, file in found
    ]
    return chosen, uv_version()


def _wishes(request: Request) -> str:
    lines = ['lock-version = "1.0"', f'created-by = "{PROJECT}"']
    for name, version in request.pins.items():
        lines += ["[[packages]]", f"name = {json.dumps(name)}", f"version = {json.dumps(version)}"]
    return "\n".join(lines) + "\n"


def _write_project(folder: Path, request: Request, indexes: Indexes) -> dict[str, str]:
    """Write ``pyproject.toml``; the environment that names the default index."""
    links: list[IndexFile] = []
    sources: list[str] = []
    tables: dict[str, list[str]] = {}
    for package in request.packages:
        name = package.index
        if here := linked(package, request, indexes):
            # As a page with hashes: of a file in a folder uv would have to find the hash,
            # and does so by unpacking it.
            links.extend(here)
            name = f"{name}-links"
            page = (folder / "links.html").as_uri()
            tables[name] = [f"url = {json.dumps(page)}", 'format = "flat"']
        elif name and name != PYPI:
            tables[name] = [f"url = {json.dumps(_address(package, request, indexes))}"]
        else:
            continue
        sources.append(f"{json.dumps(package.name)} = {{ index = {json.dumps(name)} }}")
    lines = [
        "[project]",
        f'name = "{PROJECT}"',
        'version = "0"',
        f'requires-python = ">={request.python}"',
        f"dependencies = {json.dumps([p.requirement for p in request.packages])}",
        "[tool.uv.sources]",
        *sources,
    ]
    for name, table in tables.items():
        lines += ["[[tool.uv.index]]", f"name = {json.dumps(name)}", "explicit = true", *table]
    (folder / "links.html").write_text(html_page(links), "utf-8")
    (folder / "pyproject.toml").write_text("\n".join(lines) + "\n", "utf-8")
    default = PackageRequest("", "", PYPI, span=request.fallback)
    # A name of its own, because credentials are told by an index's name.
    environment = {"UV_DEFAULT_INDEX": f"{PYPI}={_address(default, request, indexes)}"}
    for alias in {PYPI, *tables}:
        if login := indexes.login(alias):
            stem = variable(UV_VARIABLE, alias)
            environment[f"{stem}_USERNAME"] = login.user
            environment[f"{stem}_PASSWORD"] = login.password
    return environment


def _address(package: PackageRequest, request: Request, indexes: Indexes) -> str:
    try:
        return indexes.url(package.alias)
    except UnreachableError as error:
        raise error.finding(request.source, package.span) from None


def _compile(
    more: list[str],
    folder: Path,
    request: Request,
    indexes: Indexes,
    environment: dict[str, str],
) -> str:
    done = _run(more, folder, request, indexes, environment)
    if done.returncode != 0:
        raise explain(indexes.masked(done.stderr), request, indexes)
    return done.stdout


def _run(
    more: list[str],
    folder: Path,
    request: Request,
    indexes: Indexes,
    environment: dict[str, str],
) -> CompletedProcess[str]:
    limit = ["--exclude-newer", request.exclude_newer] if request.exclude_newer else []
    for package in request.packages if limit else ():
        if "==" in package.specifier:
            limit += ["--exclude-newer-package", f"{package.name}=false"]
    try:
        return run_uv(
            [
                *("pyproject.toml", "-q", *_binary_only(request, indexes), *limit, *more),
                *("--python-version", request.python, "--python-platform", _platform(request)),
            ],
            folder,
            indexes.pip,
            environment,
        )
    except FileNotFoundError:
        raise DiagnosticError.of(
            "E0408",
            "the resolver uv is not installed",
            source=request.source,
            span=request.fallback,
            cause="the Python package `uv`, which brings it, is missing beside this tool",
            hint="install it with `pip install uv`, or use `--resolver pip-tools`",
        ) from None


def _binary_only(request: Request, indexes: Indexes) -> list[str]:
    """No source archives but those of allowed packages, and of these only where none of their
    releases that are asked for has a wheel: to read what an archive needs may mean to run it."""
    words = ["--only-binary", ":all:"]
    for package in request.packages:
        if package.name in request.sdists_allowed:
            try:
                files = indexes.files(package.alias, package.name) or ()
            except UnreachableError as error:
                raise error.finding(request.source, package.span) from None
            if not any(fits(file, request) for _, file in satisfying(files, package.specifier)):
                words += ["--no-binary", package.name]
    return words


def _platform(request: Request) -> str:
    wanted = int(request.glibc.split(".")[1])
    known = max((g for g in _GLIBC if g <= wanted), default=_GLIBC[0])
    return f"{machine(request)}-manylinux_2_{known}"


def _package(entry: dict[str, Any], request: Request) -> tuple[str, str, IndexFile]:
    """Name, version and the one file of an entry of ``pylock.toml``.

    Raises:
        DiagnosticError: E0404, no wheel among its files fits.
    """
    name, version = normalise(entry["name"]), entry.get("version", "")
    wheels = [_file(wheel) for wheel in entry.get("wheels", ())]
    fitting = [(r, w) for w in wheels if (r := rank(w.filename, request)) is not None]
    if fitting:
        return name, version, min(fitting)[1]
    if "sdist" in entry and name in request.sdists_allowed:
        return name, version, _file(entry["sdist"])
    raise DiagnosticError.of(
        "E0404",
        f"`{name}` {version} has no wheel for Python {request.python} on {request.platform}",
        source=request.source,
        span=request.span_of(name),
        cause=f"with glibc {request.glibc} only a source archive of this version can be had",
        hint="ask for a version that has a wheel, or allow its source archive",
    )


def _file(entry: dict[str, Any]) -> IndexFile:
    url = entry.get("url") or entry.get("path") or ""
    name = entry.get("name") or unquote(urlsplit(url).path.rpartition("/")[2])
    if not safe_name(name):
        raise ValueError(f"uv names a file {name!r}")
    sha256 = entry.get("hashes", {}).get("sha256", "")
    return IndexFile(name, url, sha256, entry.get("size", 0), "", False)
