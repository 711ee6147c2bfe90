"""The nixpkgs revision that generated flakes are locked to.

It stands apart from the other tables, and is JSON, because every compile reads it: without
tomllib and the row types it costs a quarter of a millisecond instead of fifteen.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

from envspec.facts.reader import read_table


class NixpkgsPin(NamedTuple):
    """A nixpkgs revision as flake.lock names it; ``last_modified`` is in Unix seconds."""

    owner: str
    repo: str
    ref: str
    rev: str
    nar_hash: str
    last_modified: int
    source: str
    as_of: str


@cache
def nixpkgs() -> NixpkgsPin:
    """The pin, read once."""
    pin: NixpkgsPin = read_table(Path(__file__).with_name("nixpkgs.json"), NixpkgsPin).rows[0]
    return pin
