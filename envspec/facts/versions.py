"""Versions as tuples of integers, without a parser for every exotic spelling.

A text that is not dotted numbers compares with nothing: the answer is ``None``, not a guess.
"""

from __future__ import annotations

import re

# No number of a real version has more digits, and Python refuses to read numbers without end.
_VERSION = re.compile(r"\d{1,18}(?:\.\d{1,18})*", re.ASCII)


def version(text: str) -> tuple[int, ...] | None:
    """``12.8.1`` as integers; None for anything but dotted numbers."""
    return tuple(map(int, text.split("."))) if _VERSION.fullmatch(text) else None


def at_least(found: str, wanted: str) -> bool | None:
    """Whether ``found`` is ``wanted`` or newer; missing trailing numbers count as zero."""
    a, b = version(found), version(wanted)
    if a is None or b is None:
        return None
    width = max(len(a), len(b))
    return a + (0,) * (width - len(a)) >= b + (0,) * (width - len(b))


def older(found: str, wanted: str) -> bool:
    """Whether ``found`` is certainly older: only the numbers that both state are compared, so a
    driver branch (``525``) is not older than one of its own drivers (``525.60.13``)."""
    a, b = version(found), version(wanted)
    return a is not None and b is not None and a[: len(b)] < b[: len(a)]


def differs(stated: str, actual: str) -> bool:
    """Whether ``stated`` (``9.10``) is certainly not a beginning of ``actual`` (``9.10.2.21``)."""
    a, b = version(stated), version(actual)
    return a is not None and b is not None and a[: len(b)] != b[: len(a)]


def within(asked: str, first: str, last: str | None) -> bool:
    """Whether ``first`` <= asked <= ``last``; a ``last`` of ``11.8`` covers every 11.8.x."""
    parts = version(asked)
    if parts is None or not at_least(asked, first):
        return False
    end = version(last) if last else None
    return end is None or parts[: len(end)] <= end
