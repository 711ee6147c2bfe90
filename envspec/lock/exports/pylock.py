"""A lock as `pylock.toml` (PEP 751).

A lock names no host, and a `pylock.toml` has to say where each file is. So it says where
`envspec fetch` puts them: a path in the wheelhouse, relative to the file's own folder. The alias
of the index stands in `tool.envspec`, for readers; no installer looks at it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from envspec.diagnostics import DiagnosticError
from envspec.lock.layers import layer
from envspec.lock.model import Lock, LockedPackage
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
    if not lock.packages:
        lines.append("packages = []")
    for package in sorted(lock.packages):
        lines += ["", *_package(package, wheelhouse.rstrip("/") or ".")]
    return "\n".join(lines) + "\n"


def _package(package: LockedPackage, wheelhouse: str) -> Iterator[str]:
    _check(package)
    artefact = package.artefact
    yield "[[packages]]"
    yield f"name = {_text(package.name)}"
    yield f"version = {_text(package.version)}"
    if package.requires:
        names = ", ".join(f"{{name = {_text(name)}}}" for name in sorted(package.requires))
        yield f"dependencies = [{names}]"
    path = f"{wheelhouse}/{layer(package.name)}/{artefact.file}"
    fields = [f"name = {_text(artefact.file)}", f"path = {_text(path)}"]
    fields += [f"size = {artefact.size}"] if artefact.size else []
    fields.append(f"hashes = {{sha256 = {_text(artefact.sha256)}}}")
    is_wheel = artefact.file.endswith(_WHEEL)
    said = f"{{{', '.join(fields)}}}"
    yield f"wheels = [{said}]" if is_wheel else f"sdist = {said}"
    if artefact.index:
        yield f"tool.envspec.index = {_text(artefact.index)}"


def _check(package: LockedPackage) -> None:
    """Readers refuse the whole file for one artefact that is not its package's, so it is told
    here, where the lock can still be mended."""
    from packaging.utils import (  # noqa: PLC0415 - not on the way of `compile`
        InvalidSdistFilename,
        InvalidWheelFilename,
        parse_sdist_filename,
        parse_wheel_filename,
    )
    from packaging.version import InvalidVersion, Version  # noqa: PLC0415

    file = package.artefact.file
    try:
        name, version = (
            parse_wheel_filename(file)[:2] if file.endswith(_WHEEL) else parse_sdist_filename(file)
        )
        good = name == package.name and version == Version(package.version)
    except (InvalidWheelFilename, InvalidSdistFilename, InvalidVersion):
        good = False
    if not good:
        raise DiagnosticError.of(
            "E0407",
            f"the file of `{package.name}` {package.version} in the lock is not named after it",
            cause=f"it is `{file}`, and installers read name and version from there",
            hint="run `envspec lock` to write the lock anew",
        )


def _text(value: str) -> str:
    """A TOML basic string. JSON's escapes are TOML's; TOML also wants U+007F escaped."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
