"""Resolving with pip-tools: for the Python that runs this tool and no other.

pip resolves for its own interpreter. So this serves only where that is the target's, and the
exact file is then chosen from the index by the target's tags, not by this machine's.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from urllib.parse import quote

from envspec.diagnostics import DiagnosticError
from envspec.lock.access import Login, joined
from envspec.lock.explain import explain, no_wheel
from envspec.lock.indexes import PYPI, Indexes, UnreachableError
from envspec.lock.links import linked
from envspec.lock.listed import PROJECT, Listed, read_listed
from envspec.lock.listing import IndexFile
from envspec.lock.request import Chosen, PackageRequest, Request
from envspec.lock.target import best, fits, machine, satisfying
from envspec.lock.uvrun import proxy_variables
from envspec.names import normalise

Files = dict[str, tuple[IndexFile, ...]]

_ADDRESSED = re.compile(r"^([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])? @ \S+$", re.MULTILINE)
"""A package that was handed to pip by the address of its file, in pip-tools' answer."""


def resolve_piptools(request: Request, indexes: Indexes) -> tuple[list[Chosen], str]:
    """One consistent set, and pip-tools' version.

    A package ``from`` another index than the default is settled before the rest is resolved: the
    newest release there that satisfies its specifier and fits the target. pip is handed the
    address of that one file, because of two places that have one version it may take either.

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
    elif request.exclude_newer:
        cause = f"it cannot leave out what was uploaded after {request.exclude_newer} and still "
        cause += "take packages that are pinned with `==` or whose index tells no day"
    if cause:
        raise DiagnosticError.of(
            "E0408",
            "the resolver pip-tools cannot serve this spec",
            source=request.source,
            span=request.fallback,
            cause=cause,
            hint="use `--resolver uv`, which resolves for any Python, platform and day",
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
    kept = request.pins.get(package.name)
    releases = [release for release, _ in fitting]
    wanted = next((r for r in releases if kept is not None and str(r) == kept), releases[0])
    return tuple(file for release, file in fitting if release == wanted)


def _compile(folder: Path, request: Request, indexes: Indexes, own: Files) -> dict[str, Listed]:
    (folder / "request.in").write_text(_requirements(request, own, indexes), "utf-8")
    # A file that is there already holds the versions to keep where they still fit.
    wishes = {name: version for name, version in request.pins.items() if name not in own}
    pinned = "".join(f"{name}=={version}\n" for name, version in wishes.items())
    (folder / "request.txt").write_text(pinned, "utf-8")
    # Neither the user's constraints nor the user's find-links may decide what a lock holds.
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PIP_", "CUSTOM_"))}
    environment |= {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_INDEX_URL": joined(indexes.url(PYPI), indexes.login(PYPI)),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_RETRIES": "2",
        "NO_COLOR": "1",
        # pip has folders of its own there, and leaves them behind where it is killed.
        "TMPDIR": str(folder),
    }
    from envspec.lock.web import certificate  # noqa: PLC0415  (it is slow to import)

    if cert := certificate(indexes.pip.cert):
        environment["PIP_CERT"] = cert
    environment |= proxy_variables(indexes.pip)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "piptools", "compile", "--no-config", "--quiet"),
            *("--no-strip-extras", "--allow-unsafe", "--no-header", "--annotation-style", "split"),
            *("--no-emit-index-url", "--no-emit-find-links", "--no-emit-trusted-host"),
            *("--cache-dir", "cache", "--output-file", "request.txt"),
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
        raise explain(indexes.masked(done.stderr), request, indexes)
    listed = (folder / "request.txt").read_text("utf-8")
    return read_listed(_ADDRESSED.sub(lambda m: f"{m[1]}=={_release(m[1], request, own)}", listed))


def _requirements(request: Request, own: Files, indexes: Indexes) -> str:
    lines = []
    for package in request.packages:
        line = package.requirement
        if package.name in own:
            release = _release(package.name, request, own)
            file = best(own[package.name], release, request)
            assert file is not None, "`_own_files` keeps those that fit"
            extras = f"[{','.join(package.extras)}]" if package.extras else ""
            line = f"{package.name}{extras} @ {_address(file, indexes.kept.login(file.url))}"
        lines.append(line)
    return "\n".join(lines) + "\n"


def _release(name: str, request: Request, own: Files) -> str:
    """The one release that `_own_files` left of a package."""
    wanted = next(p for p in request.packages if p.name == normalise(name))
    return str(satisfying(own[wanted.name], wanted.specifier)[0][0])


def _address(file: IndexFile, login: Login | None) -> str:
    """An address as one word of a requirement, in a file that others cannot read. pip would
    replace `${NAME}` in it by the value of a variable, and send that to the index."""
    mark = f"#sha256={file.sha256}" if file.sha256 else ""
    return joined(quote(file.url, safe=":/?&=@+,;!'()*~%[]"), login) + mark


def _choose(name: str, pin: Listed, request: Request, indexes: Indexes, own: Files) -> Chosen:
    files = own[name] if name in own else indexes.files(PYPI, name) or ()
    file = best(files, pin.version, request)
    if file is None:
        package = PackageRequest(name, f"=={pin.version}", "", span=request.span_of(name))
        raise DiagnosticError([no_wheel(package, list(files), request)])
    return Chosen(name, pin.version, file.filename, file.url, file.sha256, file.size, pin.parents)
