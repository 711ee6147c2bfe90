"""Where the grammar and the probes lie: in the wheel, or beside the package in a checkout."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def folder(kind: str) -> Path:
    """The folder ``grammar`` or ``probes``.

    A checkout wins, so that an editable install never reads a stale copy of its own data.
    """
    beside = _PACKAGE.parent / kind
    if beside.is_dir() and (_PACKAGE.parent / "pyproject.toml").is_file():
        return beside
    return _PACKAGE / "_data" / kind
