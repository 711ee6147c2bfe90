"""How messages list words."""

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
