"""Taking the wheels that a verification built into the lock: from then on a build that gives
another one is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from envspec.diagnostics import DiagnosticError
from envspec.emit import publish
from envspec.lock import file as lock_file
from envspec.lock.model import Lock
from envspec.pipeline import scripts
from envspec.pipeline.load import Loaded
from envspec.pipeline.relock import Relocked
from envspec.placing import placed
from envspec.plan.digest import build_digest
from envspec.plan.lower import lower
from envspec.source import SourceFile

CODE = "E0436"
_LARGEST = 64 << 20


def record(loaded: Loaded, lock: Lock, report: Path) -> Relocked:
    """Write the digests of the extensions' wheels of ``report`` into the lock.

    Raises:
        DiagnosticError: E0436 the report is none, or is of another environment or engine.
    """
    found = _read(loaded, report)
    if found.get("engine", {}).get("name") != "docker":
        raise _wrong(
            loaded,
            report,
            "it was not built in an image",
            "another machine has another compiler, and its wheel would never be met again",
        )
    known, missing = scripts.read(loaded.spec, loaded.source, loaded.path.parent)
    if missing:
        raise DiagnosticError(missing)
    plan = lower(loaded.spec, lock, known, lock.nixpkgs, loaded.source)
    if found.get("spec", {}).get("build_digest") != build_digest(plan):
        raise _wrong(loaded, report, "it is about another environment than the lock holds")
    wheels = {w["name"]: (w["file"], w["sha256"]) for w in found["extensions"] if w["sha256"]}
    absent = [e.name for e in lock.extensions if e.name not in wheels]
    if absent:
        raise _wrong(loaded, report, f"it has no wheel of {', '.join(absent)}")
    extensions = tuple(
        e._replace(wheel=wheels[e.name][0], wheel_sha256=wheels[e.name][1]) for e in lock.extensions
    )
    new = lock._replace(extensions=extensions)
    text = lock_file.dumps(new)
    # What a stranger's report says is held to the same rules as what a stranger's lock says.
    lock_file.loads(text, SourceFile(str(report), text))
    with placed(loaded.source, loaded.home):
        publish.write_file(loaded.lock_path, text)
    told = tuple(
        f"  {e.name} {e.version}: sha256 {e.wheel_sha256}"
        for e, old in zip(extensions, lock.extensions, strict=True)
        if e != old
    )
    return Relocked(new, told, written=new != lock)


def _read(loaded: Loaded, report: Path) -> dict[str, Any]:
    try:
        with report.open("rb") as stream:
            data = json.loads(stream.read(_LARGEST))
    except OSError as error:
        raise _wrong(loaded, report, (error.strerror or "it cannot be read").lower()) from None
    except (ValueError, RecursionError):
        data = None
    try:
        whole = isinstance(data["engine"], dict) and isinstance(data["spec"], dict)
        whole = whole and all({"name", "file", "sha256"} <= w.keys() for w in data["extensions"])
    except (TypeError, KeyError, AttributeError):
        whole = False
    if not whole or data is None:
        raise _wrong(loaded, report, "it is no report of `envspec verify`")
    return dict(data)


def _wrong(loaded: Loaded, report: Path, what: str, why: str = "") -> DiagnosticError:
    return DiagnosticError.of(
        CODE,
        f"the wheels of {str(report)!a} cannot be recorded: {what}",
        source=loaded.source,
        span=loaded.home,
        cause=why,
        hint=f"run `envspec verify {loaded.argument} --engine docker`, then name its report",
    )
