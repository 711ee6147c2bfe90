"""“Did you mean …”: the closest known word, or nothing."""

from __future__ import annotations

from collections.abc import Iterable


def distance(a: str, b: str) -> int:
    """Edits between two words: insert, delete, replace, or swap two neighbours."""
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        following = [i]
        for j, y in enumerate(b, 1):
            cost = min(row[j] + 1, following[j - 1] + 1, row[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, before[j - 2] + 1)
            following.append(cost)
        before, row = row, following
    return row[-1]


def closest(word: str, known: Iterable[str]) -> str:
    """The known word at most a third of its length away, ``""`` where none is that close.

    Words of one or two letters are never guessed: `c2` is not a slip for `c1`.
    """
    if not word or len(word) > 60:
        return ""
    lowered = word.lower()
    ranked = sorted((distance(lowered, k.lower()), k) for k in known)
    if not ranked:
        return ""
    edits, best = ranked[0]
    return best if len(best) > 2 and edits <= max(1, len(best) // 3) else ""
