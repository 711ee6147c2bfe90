"""How messages list words and tell sizes."""

from __future__ import annotations

from collections.abc import Iterable


def listed(words: Iterable[str], conjunction: str = "and") -> str:
    """``a``, ``a and b``, ``a, b and c``; ``""`` for no words."""
    *others, last = [*words] or [""]
    return f"{', '.join(others)} {conjunction} {last}" if others else last


def ticked(words: Iterable[str], conjunction: str = "and") -> str:
    """The same with each word in back-ticks."""
    return listed((f"`{word}`" for word in words), conjunction)


def either(words: Iterable[str]) -> str:
    """A choice of literals: `a`, `b` or `c`, each in back-ticks."""
    return ticked(words, "or")


def size_of(number: int) -> str:
    """Bytes in the unit that a reader would choose: `1.2 GB`, powers of 1000."""
    for unit, bytes_ in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if number >= bytes_:
            return f"{number / bytes_:.1f} {unit}"
    return f"{number} B"
