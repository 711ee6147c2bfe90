"""What a source archive says of itself, read from its files. None of its code is run.

What a package requires stands, in this order, in ``PKG-INFO`` (``Requires-Dist``), in the
``requires.txt`` that setuptools puts beside it, and in ``pyproject.toml`` where it is not dynamic.
What only a setup.py works out is not known: see `Described.requires`.
"""

from __future__ import annotations

import re
import sys
import tarfile
import zlib
from email.parser import HeaderParser
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

_MOST_MEMBERS = 200_000
_MOST_BYTES = 4 << 30
_LARGEST = 4 << 20
"""Bytes of a file that is read; the long descriptions in ``PKG-INFO`` have some hundred KiB."""

_SECTION = re.compile(r"\[([^:\]]*)(?::(.*))?\]")


class Described(NamedTuple):
    """``name``, ``version`` and ``python`` are ``""`` where they are not stated. ``requires`` are
    PEP 508 lines, None where no file states them; ``build`` are those of ``[build-system]``."""

    name: str = ""
    version: str = ""
    python: str = ""
    requires: tuple[str, ...] | None = None
    build: tuple[str, ...] = ()


class UnreadableError(Exception):
    """The archive is damaged, or a file in it is not what its name says; ``reason`` is a clause."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def read(archive: Path) -> Described:
    """What the files of a source archive say.

    Raises:
        UnreadableError: it is no archive, or one of these files cannot be read.
    """
    try:
        found = _files(archive)
    except (tarfile.TarError, zlib.error, EOFError, OSError, ValueError) as error:
        raise UnreadableError("it is damaged, or no archive at all") from error
    return described(found)


def described(files: dict[str, str]) -> Described:
    """What ``PKG-INFO``, ``requires.txt`` and ``pyproject.toml`` say together. Pure."""
    project, build = _pyproject(files.get("pyproject.toml", ""))
    static = not isinstance(project.get("dynamic"), list)
    dynamic = () if static else project["dynamic"]
    headers = HeaderParser().parsestr(files.get("PKG-INFO", ""))
    requires: tuple[str, ...] | None = tuple(map(str, headers.get_all("Requires-Dist") or ()))
    if not requires and "requires.txt" in files:
        requires = tuple(_requires_txt(files["requires.txt"]))
    if not requires and "dependencies" in project and "dependencies" not in dynamic:
        requires = _texts(project["dependencies"], "project.dependencies")
    if not requires and not _states_all(files, project, dynamic, headers):
        requires = None
    stated = project.get("version")
    return Described(
        str(headers.get("Name") or project.get("name") or "").strip(),
        str(headers.get("Version") or (stated if "version" not in dynamic else "") or "").strip(),
        str(headers.get("Requires-Python") or project.get("requires-python") or "").strip(),
        requires,
        build,
    )


def _states_all(files: dict[str, str], project: dict[str, Any], dynamic: Any, headers: Any) -> bool:
    """Whether a list that is empty says that nothing is required."""
    if "requires.txt" in files or "egg-info" in files:
        return True
    if project and "dependencies" not in dynamic:
        return True
    dynamic_fields = {str(v).strip().lower() for v in headers.get_all("Dynamic") or ()}
    version = re.match(r"(\d+)\.(\d+)", str(headers.get("Metadata-Version") or ""))
    # From 2.2 on, what may still change is marked as such.
    new = version is not None and (int(version[1]), int(version[2])) >= (2, 2)
    return new and "requires-dist" not in dynamic_fields


def _files(archive: Path) -> dict[str, str]:
    """The texts that matter, by name; of several, the one nearest to the top. Under ``egg-info``
    stands an empty text where setuptools left its folder, whose ``requires.txt`` is there only if
    something is required."""
    found: dict[str, tuple[int, str]] = {}
    total = 0
    with tarfile.open(archive, "r:*") as tar:
        for count, member in enumerate(tar):
            total += max(member.size, 0)
            if count >= _MOST_MEMBERS or total > _MOST_BYTES:
                raise UnreadableError("it unpacks to more than any source archive")
            path = PurePosixPath(member.name)
            depth = len([part for part in path.parts if part != "."])
            key = _key(path, depth)
            if not key or not member.isreg() or found.get(key, (99, ""))[0] <= depth:
                continue
            if key == "egg-info":
                found[key] = (depth, "")
                continue
            if member.size > _LARGEST:
                raise UnreadableError(f"its `{path.name}` is longer than {_LARGEST >> 20} MiB")
            content = tar.extractfile(member)
            text = content.read().decode("utf-8", "replace") if content else ""
            found[key] = (depth, text)
    return {key: text for key, (_, text) in found.items()}


def _key(path: PurePosixPath, depth: int) -> str:
    if depth <= 2 and path.name in {"PKG-INFO", "pyproject.toml"}:
        return path.name
    if depth <= 4 and path.parent.suffix == ".egg-info":
        return {"requires.txt": "requires.txt", "PKG-INFO": "egg-info"}.get(path.name, "")
    return ""


def _requires_txt(text: str) -> list[str]:
    """What is required without an extra; a section such as ``[:marker]`` is conditional."""
    lines, marker, extra = [], "", ""
    for line in map(str.strip, text.splitlines()):
        if section := _SECTION.fullmatch(line):
            extra, marker = section[1], section[2] or ""
        elif line and not line.startswith("#") and not extra:
            lines.append(f"{line} ; {marker}" if marker else line)
    return lines


def _pyproject(text: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The ``[project]`` table, and what ``[build-system]`` requires."""
    if not text:
        return {}, ()
    tomllib = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableError("its `pyproject.toml` is not valid TOML") from error
    tables = [data.get("project", {}), data.get("build-system", {})]
    project, build = (table if isinstance(table, dict) else {} for table in tables)
    return project, _texts(build.get("requires", []), "build-system.requires")


def _texts(value: object, what: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise UnreadableError(f"`{what}` of its `pyproject.toml` is no list of texts")
    return tuple(value)
