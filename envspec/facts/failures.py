"""Questions to the tables about failures. What a table does not say is ``None``, never a guess."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from envspec.facts.failure_rows import RemovedName, Sign, SymbolSign, SystemLibrary
from envspec.facts.tables import rows


class Compiled(NamedTuple):
    """A sign with its pattern compiled."""

    sign: Sign
    pattern: re.Pattern[str] | None


@cache
def signs() -> tuple[Compiled, ...]:
    """Every sign, in the order of the table: of two that are as strong, the first one counts."""
    return tuple(
        Compiled(row, re.compile(row.pattern) if row.pattern else None) for row in rows(Sign)
    )


def sign(name: str) -> Sign:
    """A sign by its name; a KeyError for one that is not there."""
    return _by_name()[name]


@cache
def _by_name() -> dict[str, Sign]:
    return {row.name: row for row in rows(Sign)}


@cache
def _libraries() -> dict[str, SystemLibrary]:
    return {row.name: row for row in rows(SystemLibrary)}


def system_library(name: str) -> SystemLibrary | None:
    """The row of a shared library (``libGL.so.1``) or a program (``ffmpeg``)."""
    return _libraries().get(name)


@cache
def _removed() -> dict[str, RemovedName]:
    return {row.name: row for row in rows(RemovedName)}


def removed_name(name: str) -> RemovedName | None:
    """The row of ``module`` or ``module.attribute``; of a module inside a removed one as well."""
    while name:
        if name in _removed():
            return _removed()[name]
        name = name.rpartition(".")[0]
    return None


def symbol_meaning(name: str) -> str:
    """What a missing symbol of torch tells, ``""`` where no row knows it."""
    return next((row.meaning for row in rows(SymbolSign) if row.text in name), "")
