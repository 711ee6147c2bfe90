"""Golden files: expected text beside its input, written anew with one switch.

    ENVSPEC_REGENERATE=1 python -m pytest tests/golden

writes every golden file from what the code gives now; `git diff` then shows what changed.
"""

from __future__ import annotations

import difflib
import os
from pathlib import Path

SWITCH = "ENVSPEC_REGENERATE"


def compare(path: Path, text: str, comment: str = "#", folder: str = "tests/golden") -> None:
    """Assert that a golden file holds ``text`` below its header, or write it."""
    wanted = (
        f"{comment} Generated: {SWITCH}=1 python -m pytest {folder}. "
        f"Read the diff before you commit it.\n{text}"
    )
    if os.environ.get(SWITCH) == "1":
        path.write_bytes(wanted.encode("utf-8"))
        return
    assert path.is_file(), f"{path.name} is missing; write it with {SWITCH}=1"
    found = path.read_bytes().decode("utf-8")
    if found != wanted:
        change = difflib.unified_diff(
            found.splitlines(), wanted.splitlines(), f"{path.name}, committed", "now", lineterm=""
        )
        raise AssertionError("\n".join([f"{path} differs; if that is right: {SWITCH}=1", *change]))


def unclaimed(folder: Path, suffix: str, claimed: set[str]) -> list[str]:
    """Golden files that no input stands for: left over from a case that was renamed."""
    return sorted(p.name for p in folder.glob(f"*{suffix}") if p.stem not in claimed)
