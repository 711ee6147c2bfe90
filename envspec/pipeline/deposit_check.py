"""Looking a deposit over: its files, and whether they are those that its lock asks for."""

from __future__ import annotations

import json
from pathlib import Path

from envspec.diagnostics import DiagnosticError
from envspec.language.parse import parse
from envspec.language.resolve import resolve
from envspec.pipeline import deposit
from envspec.pipeline import load as loading
from envspec.pipeline.compile import compiled
from envspec.pipeline.load import Loaded
from envspec.render import visible
from envspec.reporter import Reporter


def check(folder: Path, reporter: Reporter) -> int:
    """Compare a deposit with its list, and its list with its lock. The number of files.

    Raises:
        DiagnosticError: E0506 naming what is missing, changed or left over, and what reading its
            spec and its lock raises.
    """
    digests = deposit.read_sums(folder)
    reporter.stage(f"reading {len(digests)} files")
    total = sum(_size(folder / name) for name in digests)
    hint = "take them from another copy of the deposit, or delete what does not belong to it"
    deposit.refuse(
        folder, deposit.compare(folder, digests, deposit.progress(reporter, total)), hint
    )
    spec = folder / _spec_of(folder)
    source = loading.read_spec(spec)
    loaded = Loaded(spec, source, resolve(parse(source), source))
    lock, text = loading.locked(loaded, reporter, frozen=True)
    wanted = deposit.wheels(compiled(loaded, lock, text, ()).plan)
    missing = sorted(wanted.keys() - digests.keys())
    changed = sorted(n for n in wanted.keys() & digests.keys() if wanted[n] != digests[n])
    hint = "the list of files and the lock do not belong together: take another copy"
    deposit.refuse(folder, deposit.Faults(tuple(missing), tuple(changed)), hint)
    return len(digests) + 1


def _spec_of(folder: Path) -> str:
    """The name of the spec, by the mark, which is one of the files that were just compared."""
    try:
        name = json.loads((folder / deposit.MARK).read_bytes())["spec"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        name = None
    if not isinstance(name, str) or name != Path(name).name:
        raise DiagnosticError.of(
            "E0506",
            f"`{visible(str(folder))}` is no deposit: its `{deposit.MARK}` names no spec",
            hint="name the folder that `envspec vendor` wrote, or unpack its archive again",
        )
    return name


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
