"""A lock as `pylock.toml` (PEP 751).

A lock names no host, and a `pylock.toml` has to say where each file is. So it says where
`envspec fetch` puts them: a path in the wheelhouse, relative to the file's own folder. The alias
of the index stands in `tool.envspec`, for readers; no installer looks at it.

An extension stands there as its source, and installers compile it: leaving it out would install
an environment that lacks what its spec asks for. They choose the tools of that build themselves,
by no hash; so a comment in front of it says which are locked, and how to have those. An installer
that is told to build nothing refuses the whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from envspec.diagnostics import DiagnosticError
from envspec.lock.layers import layer
from envspec.lock.model import Artefact, Lock, LockedExtension, LockedPackage
from envspec.machines import MACHINES

_WHEEL = ".whl"


def pylock(lock: Lock, wheelhouse: str = "wheels") -> str:
    """The text of `pylock.toml`; ``wheelhouse`` is the folder that `envspec fetch` filled, with
    `/` between its parts, relative to the folder of the text.

    Raises:
        DiagnosticError: E0407 where a file is not named after its package.
    """
    inputs = dict(lock.inputs)
    python = inputs.get("python", "")
    machine = MACHINES.get(inputs.get("platform", ""), "")
    markers = ["sys_platform == 'linux'", "implementation_name == 'cpython'"]
    markers += [f"platform_machine == '{machine}'"] if machine else []
    lines = ['lock-version = "1.0"', f"environments = [{_text(' and '.join(markers))}]"]
    if python.replace(".", "").isdecimal():
        lines.append(f"requires-python = {_text(f'=={python}.*')}")
    lines.append('created-by = "envspec"')
    if not lock.packages and not lock.extensions:
        lines.append("packages = []")
    folder = wheelhouse.rstrip("/") or "."
    every: list[LockedPackage | LockedExtension] = [*lock.packages, *lock.extensions]
    for one in sorted(every, key=lambda one: one.name):
        if isinstance(one, LockedExtension):
            lines += ["", *_extension(one, folder)]
        else:
            lines += ["", *_package(one, folder)]
    return "\n".join(lines) + "\n"


def _extension(extension: LockedExtension, wheelhouse: str) -> Iterator[str]:
    """The archive of an index is an `sdist`; one that was packed from a repository is not named
    like one, and is an `archive`."""
    tools = ", ".join(f"{p.name} {p.version}" for p in sorted(extension.build))
    yield f"# {extension.name} is compiled when it is installed, and installers choose the tools"
    yield "# for that, by no hash. To compile it with what is locked, install this first and pass"
    yield f"# `--no-build-isolation`: {tools or 'nothing'}"
    yield "[[packages]]"
    yield f"name = {_text(extension.name)}"
    yield f"version = {_text(extension.version)}"
    yield from _dependencies(extension.requires)
    artefact = extension.artefact
    path = f"{wheelhouse}/extension-{extension.name}/{artefact.file}"
    if _is_named_after(artefact.file, extension.name, extension.version):
        yield f"sdist = {_file(artefact, path, named=True)}"
    else:
        yield f"archive = {_file(artefact, path, named=False)}"
    if artefact.index:
        yield f"tool.envspec.index = {_text(artefact.index)}"


def _package(package: LockedPackage, wheelhouse: str) -> Iterator[str]:
    _check(package)
    artefact = package.artefact
    yield "[[packages]]"
    yield f"name = {_text(package.name)}"
    yield f"version = {_text(package.version)}"
    yield from _dependencies(package.requires)
    path = f"{wheelhouse}/{layer(package.name)}/{artefact.file}"
    is_wheel = artefact.file.endswith(_WHEEL)
    said = _file(artefact, path, named=True)
    yield f"wheels = [{said}]" if is_wheel else f"sdist = {said}"
    if artefact.index:
        yield f"tool.envspec.index = {_text(artefact.index)}"


def _dependencies(requires: tuple[str, ...]) -> Iterator[str]:
    if requires:
        names = ", ".join(f"{{name = {_text(name)}}}" for name in sorted(requires))
        yield f"dependencies = [{names}]"


def _file(artefact: Artefact, path: str, *, named: bool) -> str:
    fields = [f"name = {_text(artefact.file)}"] if named else []
    fields.append(f"path = {_text(path)}")
    fields += [f"size = {artefact.size}"] if artefact.size else []
    fields.append(f"hashes = {{sha256 = {_text(artefact.sha256)}}}")
    return f"{{{', '.join(fields)}}}"


def _check(package: LockedPackage) -> None:
    """Readers refuse the whole file for one artefact that is not its package's, so it is told
    here, where the lock can still be mended."""
    file = package.artefact.file
    good = _is_named_after(file, package.name, package.version)
    if not good:
        raise DiagnosticError.of(
            "E0407",
            f"the file of `{package.name}` {package.version} in the lock is not named after it",
            cause=f"it is `{file}`, and installers read name and version from there",
            hint="run `envspec lock` to write the lock anew",
        )


def _is_named_after(file: str, name: str, version: str) -> bool:
    from packaging.utils import (  # noqa: PLC0415 - not on the way of `compile`
        InvalidSdistFilename,
        InvalidWheelFilename,
        parse_sdist_filename,
        parse_wheel_filename,
    )
    from packaging.version import InvalidVersion, Version  # noqa: PLC0415

    try:
        found = (
            parse_wheel_filename(file)[:2] if file.endswith(_WHEEL) else parse_sdist_filename(file)
        )
        return found[0] == name and found[1] == Version(version)
    except (InvalidWheelFilename, InvalidSdistFilename, InvalidVersion):
        return False


def _text(value: str) -> str:
    """A TOML basic string. JSON's escapes are TOML's; TOML also wants U+007F escaped."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
