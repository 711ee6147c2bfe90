"""The file that says that a prefix is finished, and what a run needs to know of it.

It is written last, so a prefix without one is a build that was cut short.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from envspec.build import tree
from envspec.build.interpreter import Interpreter
from envspec.build.protocol import BuiltWheel
from envspec.plan.model import Plan

FINISHED = "built.json"
BUILDING = "building.json"
ENV, SRC, BUILD = "env", "src", "build"
_FORMAT = 2


def settings(plan: Plan, found: Interpreter) -> dict[str, Any]:
    """What a run needs of the plan, which it does not get to see.

    ``homes`` are the folders that the environment's interpreter lives in.
    """
    homes = {found.home, Path(os.path.realpath(found.program)).parent.parent}
    return {
        "format": _FORMAT,
        "python": found.version,
        "homes": sorted(str(home) for home in homes if home != Path("/usr")),
        "environment": [list(pair) for pair in plan.environment],
        "import_roots": list(plan.import_roots),
    }


def finish(folder: Path, what: dict[str, Any], wheels: Sequence[BuiltWheel] = ()) -> None:
    """Mark a prefix as finished, with digests of what it holds now."""
    (folder / BUILDING).unlink(missing_ok=True)
    write(
        folder / FINISHED,
        {
            **what,
            "wheels": [list(wheel) for wheel in wheels],
            "content": tree.content(folder, (ENV, SRC)),
            "fingerprint": tree.fingerprint(folder, (ENV, SRC)),
        },
    )


def write(path: Path, what: dict[str, Any]) -> None:
    """Write a marker whole or not at all."""
    partial = path.with_suffix(".partial")
    with partial.open("w", encoding="utf-8") as file:
        json.dump(what, file, sort_keys=True)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def read(path: Path) -> dict[str, Any] | None:
    """A marker; None where there is none that we can read."""
    try:
        what = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return what if isinstance(what, dict) and what.get("format") == _FORMAT else None


def ready(folder: Path) -> bool:
    """Whether a finished prefix stands there, as it was when it was finished."""
    what = read(folder / FINISHED)
    if what is None or not all(Path(home).is_dir() for home in what["homes"]):
        return False
    return bool(what["fingerprint"] == tree.fingerprint(folder, (ENV, SRC)))
