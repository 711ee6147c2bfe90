"""Rows about failures: by which line of a log one is known, and what mends it.

As in `envspec.facts.rows`, a field that may be absent is ``… | None``, and every row ends with its
birth certificate. `envspec.facts.failures` answers questions from them.
"""

from __future__ import annotations

from typing import NamedTuple


class Sign(NamedTuple):
    """A line of a log that says what went wrong.

    ``needles`` are texts of which the line holds at least one: only then ``pattern``, a regular
    expression, is tried, at the start of the line (without timestamps, ranks, levels and the name
    of the exception) or, with ``at`` = ``needle``, at the needle. Its named groups are put into
    ``because``, the sentence that is shown. ``exceptions`` are the names of the exceptions whose
    message the line has to be, None for any line. A row without pattern knows a failure by the
    name of its exception, or, where it has none either, is used by name for what a report states.
    ``frame`` says whose code raised (``library`` or ``repository``), ``within`` is a part of the
    path of one of the frames of its traceback.

    ``weight``: 4 is the cause of what other signs say, 3 tells the cause, 2 tells it unless a
    stronger sign says otherwise, 1 only follows from one. ``warns`` says that the line counts
    although it is only a warning. ``mend`` names a recipe of `envspec.diagnose.mends`; ``rules``
    are codes of `envspec check` that find the same in a spec. ``cause`` is whose fault it is where
    that is not the one of the category.
    """

    name: str
    category: str
    needles: tuple[str, ...] | None
    pattern: str | None
    weight: int
    because: str
    at: str | None
    exceptions: tuple[str, ...] | None
    frame: str | None
    within: str | None
    warns: bool | None
    cause: str | None
    mend: str | None
    rules: tuple[str, ...] | None
    source: str
    as_of: str


class SystemLibrary(NamedTuple):
    """A shared library or a program, by its name, and the package of Debian 12 that has it.

    Releases that moved to 64-bit times (Debian 13, Ubuntu 24.04) call some of them otherwise.
    """

    name: str
    package: str
    source: str
    as_of: str


class RemovedName(NamedTuple):
    """A name that a release of a distribution took away.

    ``name`` is a module, or ``module.attribute``; ``below`` is the first release without it:
    ``distribution <below`` still has it. ``python`` as distribution is the interpreter.
    """

    name: str
    distribution: str
    below: str
    note: str | None
    source: str
    as_of: str


class SymbolSign(NamedTuple):
    """A part of the mangled name of a missing symbol, and what it tells of the library that
    lacks it: ``meaning`` is a sentence about "it"."""

    text: str
    meaning: str
    source: str
    as_of: str
