"""Checking the values of a lock: what is wrong is told with its path in the document.

Those on the way of every package are in `envspec.lock.file`, which is measured.
"""

from __future__ import annotations

import json
import re
from typing import Any

Path = tuple[str | int, ...]
"""Keys and positions that lead to a value."""

_MADE = {
    "facts": (r"(?:[0-9a-f]{64})?", "64 hexadecimal digits in lower case or empty"),
    "exclude_newer": (r"(?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)?", "a moment in UTC or empty"),
    "owner": (r"[A-Za-z0-9-]+", "the owner of a repository"),
    "repo": (r"(?!\.)[A-Za-z0-9._-]+", "the name of a repository"),
    "rev": (r"[0-9a-f]{40}", "40 hexadecimal digits in lower case"),
    "nar_hash": (r"sha256-[A-Za-z0-9+/]{43}=", "`sha256-` and a hash in base 64"),
    "cuda": (r"(?:\d+(?:\.\d+)*)?", "a CUDA version or empty"),
    "floor": (r"(?:\d+(?:\.\d+)*)?", "a driver version or empty"),
}


class WrongError(Exception):
    """A value that does not belong, by its path in the document."""

    def __init__(self, path: Path, title: str) -> None:
        super().__init__(title)
        self.path = path
        self.title = title


def object_of(data: object, path: Path, keys: tuple[str, ...], what: str) -> dict[str, Any]:
    """An object with exactly these keys."""
    if type(data) is not dict:
        raise WrongError(path, f"{what} must be an object, found {shown(data)}")
    for key in keys:
        if key not in data:
            raise WrongError(path, f"{what} lacks `{key}`")
    for key in data:
        if key not in keys:
            raise WrongError((*path, key), f"{what} holds an unknown key {shown(key)}")
    return data


def text_of(value: object, path: Path) -> str:
    """A text that can be shown."""
    if type(value) is not str:
        raise WrongError(path, f"{dotted(path)} must be a text, found {shown(value)}")
    # Not printable: control characters, line separators, direction overrides, lone surrogates.
    if not value.isprintable():
        raise WrongError(path, f"{dotted(path)} holds a control character: {shown(value)}")
    return value


def matching(value: object, path: Path, pattern: str, expected: str) -> None:
    """Refuse what is no text of a pattern; ``expected`` says what it should be."""
    if type(value) is not str or not re.fullmatch(pattern, value, re.ASCII):
        raise WrongError(path, f"{dotted(path)} must be {expected}, found {shown(value)}")


def check_made(
    top: dict[str, Any], resolver: dict[str, Any], nixpkgs: dict[str, Any], driver: dict[str, Any]
) -> None:
    """Check the fields that say how the lock was made."""
    parts = (
        (top, (), ("facts",)),
        (resolver, ("resolver",), ("exclude_newer",)),
        (nixpkgs, ("nixpkgs",), ("owner", "repo", "rev", "nar_hash")),
        (driver, ("driver",), ("cuda", "floor")),
    )
    for part, path, keys in parts:
        for key in keys:
            matching(part[key], (*path, key), *_MADE[key])
    if type(nixpkgs["last_modified"]) is not int or nixpkgs["last_modified"] < 0:
        at = ("nixpkgs", "last_modified")
        raise WrongError(at, f"{dotted(at)} must be a number of seconds")


def dotted(path: Path) -> str:
    """A path as people write it: `packages[1].size`."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return f"`{text.lstrip('.')}`"


def shown(value: object) -> str:
    """A value as it would stand in the file, escaped and cut."""
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "…"
