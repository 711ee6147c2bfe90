"""From a spec and its lock to the published outputs."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from envspec.diagnostics import DiagnosticError
from envspec.emit import publish
from envspec.emit.outputs import DEFAULT_TARGETS, MANIFEST, TARGETS, outputs
from envspec.lock.model import Lock
from envspec.pipeline import scripts
from envspec.pipeline.load import Loaded
from envspec.placing import placed
from envspec.plan.lower import lower
from envspec.plan.model import Plan


class Compiled(NamedTuple):
    """A plan and the files that stand for it."""

    plan: Plan
    files: dict[str, str]
    lock_text: str


def compiled(
    loaded: Loaded, lock: Lock, lock_text: str, targets: Collection[str] = DEFAULT_TARGETS
) -> Compiled:
    """The plan and every output. Pure but for the scripts that entries name.

    Raises:
        DiagnosticError: E0207 (a script is not there), E0603.
    """
    found, missing = scripts.read(loaded.spec, loaded.source, loaded.path.parent)
    if missing:
        raise DiagnosticError(missing)
    with placed(loaded.source, loaded.home):
        plan = lower(loaded.spec, lock, found, lock.nixpkgs, loaded.source)
        files = outputs(plan, loaded.source.text, lock_text, targets)
    return Compiled(plan, files, lock_text)


def write(loaded: Loaded, made: Compiled, folder: Path) -> bool:
    """Publish the outputs as a set. False where the folder already holds them."""
    with placed(loaded.source, loaded.home):
        return publish.publish(folder, made.files, frozenset(made.files) | _past_names(folder))


def check_fresh(loaded: Loaded, made: Compiled, folder: Path) -> None:
    """Compare a folder with what compiling gives now, and write nothing.

    Raises:
        DiagnosticError: E0602 naming the files that differ.
    """
    wrong = publish.stale(folder, made.files)
    if wrong:
        more = f" and {len(wrong) - 5} more" if len(wrong) > 5 else ""
        raise DiagnosticError.of(
            "E0602",
            f"`{folder}` is not what this spec compiles to",
            source=loaded.source,
            span=loaded.home,
            cause=f"different, missing or left over: {', '.join(wrong[:5])}{more}",
            hint=f"run `envspec compile {loaded.argument}` and commit the outputs",
        )


def targets_of(folder: Path) -> tuple[str, ...]:
    """The targets that the outputs in a folder were made for; the default ones where it holds no
    outputs that say so."""
    try:
        data = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        found = tuple(target for target in TARGETS if target in data["targets"])
    except (OSError, ValueError, KeyError, TypeError):
        found = ()
    return found or DEFAULT_TARGETS


def _past_names(folder: Path) -> frozenset[str]:
    """Names in the manifest of an earlier version's set, which may have had other files."""
    try:
        data = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        return frozenset(str(name) for name in data["files"])
    except (OSError, ValueError, KeyError, TypeError):
        return frozenset()
