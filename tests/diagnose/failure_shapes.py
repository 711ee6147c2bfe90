"""The corpus: shapes of failures by category, and texts that have none."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

from envspec.diagnose import engine, log

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER = Path(__file__).parent / "corpus"


class Shape(NamedTuple):
    """``thread`` is where the line that tells was reported."""

    thread: str
    category: str
    text: str


def shapes(*folders: str) -> list[Shape]:
    """The shapes in the corpus, or in a folder of it."""
    found = []
    for path in sorted(FOLDER.joinpath(*folders).glob("*.toml")):
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        found += [Shape(s["thread"], s["category"], s["text"]) for s in data["shape"]]
    return found


def texts() -> dict[str, str]:
    """Texts without a category, by name."""
    found = {}
    for path in sorted((FOLDER / "none").glob("*.toml")):
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        found.update({t["name"]: t["text"] for t in data["text"]})
    return found


def diagnosed(text: str) -> engine.Outcome:
    """What the engine says of a text."""
    return engine.diagnose(log.read("log", text.encode()))


def category(text: str) -> str:
    """The category that it tells, `` `` for none."""
    found = diagnosed(text).found
    return found.category if found else ""
