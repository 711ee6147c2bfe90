"""Resolving with pip-tools: for the Python that runs this tool and no other.

pip resolves for its own interpreter. So this serves only where that is the target's, and the
exact file is then chosen from the index by the target's tags, not by this machine's.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from envspec.diagnostics import DiagnosticError
from envspec.lock.explain import explain, no_wheel
from envspec.lock.indexes import PYPI, Indexes, UnreachableError
from envspec.lock.links import html_page, linked
from envspec.lock.listed import PROJECT, Listed, read_listed
from envspec.lock.listing import IndexFile
from envspec.lock.request import Chosen, PackageRequest, Request
from envspec.lock.target import best, fits, machine, satisfying

Files = dict[str, tuple[IndexFile, ...]]


def resolve_piptools(request: Request, indexes: Indexes) -> tuple[list[Chosen], str]:
    """One consistent set, and pip-tools' version.

    A package ``from`` another index than the default is pinned, before the rest is resolved,
    to the newest release there that satisfies its specifier and fits the target.

    Raises:
        DiagnosticError: E0403, E0404, E0405, E0408, E0501, at the package lines.
    """
    tool = _usable(request)
    own: Files = {}
    try:
        for package in request.packages:
            if package.index and package.index != PYPI:
                own[package.name] = _own_files(package, request, indexes)
        with tempfile.TemporaryDirectory(prefix=f"{PROJECT}-") as name:
            listed = _compile(Path(name), request, indexes, own)
        return [_choose(name, pin, request, indexes, own) for name, pin in listed.items()], tool
    except UnreachableError as error:
        span = next((p.span for p in request.packages if p.alias == error.alias), request.fallback)
        raise error.finding(request.source, span) from None


def _usable(request: Request) -> str:
    """Version of pip-tools, where it can answer for this target."""
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    machine_here = {"arm64": "aarch64"}.get(platform.machine(), platform.machine())
    cause = ""
    try:
        tool = version("pip-tools")
    except PackageNotFoundError:
        tool, cause = "", "it is not installed beside this tool"
    if here != request.python:
        cause = f"it resolves for the Python that runs it, {here}, and the spec is for "
        cause += request.python
    elif machine_here != machine(request) or sys.platform != "linux":
        cause = f"it resolves for the machine that runs it, {sys.platform} on {machine_here}"
    if cause:
        raise DiagnosticError.of(
            "E0408",
            "the resolver pip-tools cannot serve this spec",
            source=request.source,
            span=request.fallback,
            cause=cause,
            hint="use `--resolver uv`, which resolves for any Python and platform",
        )
    return tool


def _own_files(
    package: PackageRequest, request: Request, indexes: Indexes
) -> tuple[IndexFile, ...]:
    """Files of the release that a package with its own index is pinned to."""
    files = linked(package, request, indexes) or indexes.files(package.alias, package.name) or ()
    fitting = [pair for pair in satisfying(files, package.specifier) if fits(pair[1], request)]
    if not fitting:
        raise explain("No solution found", request, indexes)
    return tuple(file for release, file in fitting if release == fitting[0][0])


def _compile(folder: Path, request: Request, indexes: Indexes, own: Files) -> dict[str, Listed]:
    links = html_page(file for files in own.values() for file in files)
    (folder / "links.html").write_text(links, "utf-8")
    (folder / "request.in").write_text(_requirements(request, own), "utf-8")
    # Neither the user's constraints nor the user's find-links may decide what a lock holds.
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PIP_", "CUSTOM_"))}
    environment |= {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_INDEX_URL": indexes.url(PYPI),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_RETRIES": "2",
        "NO_COLOR": "1",
        # pip has folders of its own there, and leaves them behind where it is killed.
        "TMPDIR": str(folder),
    }
    if indexes.pip.cert:
        environment["PIP_CERT"] = indexes.pip.cert
    if indexes.pip.proxy:
        environment["PIP_PROXY"] = indexes.pip.proxy
    done = subprocess.run(
        [
            *(sys.executable, "-m", "piptools", "compile", "--no-config", "--quiet"),
            *("--no-strip-extras", "--allow-unsafe", "--no-header", "--annotation-style", "split"),
            *("--no-emit-index-url", "--no-emit-find-links", "--no-emit-trusted-host"),
            *("--find-links", "links.html", "--cache-dir", "cache", "--output-file", "-"),
            *("--pip-args", "--only-binary=:all:", "request.in"),
        ],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        raise explain(done.stderr, request, indexes)
    return read_listed(done.stdout)


def _requirements(request: Request, own: Files) -> str:
    lines = []
    for package in request.packages:
        if package.name in own:
            release = satisfying(own[package.name], package.specifier)[0][0]
            package = package._replace(specifier=f"=={release}")  # noqa: PLW2901
        lines.append(package.requirement)
    return "\n".join(lines) + "\n"


def _choose(name: str, pin: Listed, request: Request, indexes: Indexes, own: Files) -> Chosen:
    files = own[name] if name in own else indexes.files(PYPI, name) or ()
    file = best(files, pin.version, request)
    if file is None:
        package = PackageRequest(name, f"=={pin.version}", "", span=request.span_of(name))
        raise DiagnosticError([no_wheel(package, list(files), request)])
    return Chosen(name, pin.version, file.filename, file.url, file.sha256, file.size, pin.parents)
