"""What a regular expression is made of, as far as rules ask: no compiling, no matching.

`re` says different things about one pattern in different versions of Python, so what a pattern
uses and where it may take for ever is read here, by one walk without recursion. The walk expects
nothing of the pattern: where it is broken, what was read up to there counts.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_MANY = 20
"""From so many repeats on, a bounded repeat is as bad as an unbounded one."""

# Characters are ASCII codes; all others fall into four classes: letters, blanks, digits, the rest.
_LETTER, _BLANK, _DIGIT, _REST = -1, -2, -3, -4
_ALL = frozenset(range(_REST, 128))
_WORDS = frozenset(c for c in range(128) if chr(c).isalnum() or chr(c) == "_") | {_LETTER, _DIGIT}
_DIGITS = frozenset(range(48, 58)) | {_DIGIT}
_BLANKS = frozenset(c for c in range(128) if chr(c).isspace()) | {_BLANK}
_CLASSES = {
    "d": _DIGITS, "D": _ALL - _DIGITS, "w": _WORDS, "W": _ALL - _WORDS,
    "s": _BLANKS, "S": _ALL - _BLANKS,
}  # fmt: skip
_CONTROL = {"n": 10, "t": 9, "r": 13, "f": 12, "v": 11, "a": 7}
_NOTHING: frozenset[int] = frozenset()

_QUANTIFIER = re.compile(r"([*+?]|\{(\d*)(,?)(\d*)\})([?+]?)", re.ASCII)
_OPENING = re.compile(
    r"\((?:\?(?:P<[^>]*>|P=[^)]*\)|#[^)]*\)|:|=|!|<=|<!|>|\([^)]*\)|([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)])))?",
    re.ASCII,
)


class Reading(NamedTuple):
    """``newer`` names what only some versions of Python know, ``""`` for nothing; ``nested`` is the
    first repeat of a repeat that can take exponential time, ``""`` for none."""

    newer: str
    nested: str


class _Item(NamedTuple):
    """Something in a sequence: the characters it may begin to match, whether it has to match
    something, and whether it repeats without a bound that matters."""

    chars: frozenset[int]
    needed: bool
    loops: bool


class _Group:
    """A group that is open: its alternatives, the last of them unfinished."""

    def __init__(self, start: int, *, zero_width: bool = False) -> None:
        self.start = start
        self.zero_width = zero_width
        self.ways: list[list[_Item]] = [[]]


def read(pattern: str) -> Reading:
    """Read a pattern of a few thousand characters at most."""
    return _Walk(pattern).run()


class _Walk:
    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.newer = ""
        self.nested = ""
        flags = "".join(re.findall(r"\(\?([a-zA-Z]+)[-:)]", pattern, re.ASCII))
        self.folds = "i" in flags
        self.verbose = "x" in flags
        self.dot = _ALL if "s" in flags else _ALL - {10}

    def run(self) -> Reading:
        groups = [_Group(0)]
        while self.at < len(self.pattern):
            char = self.pattern[self.at]
            start = self.at
            if char == "(":
                self._open(groups)
            elif char == "|":
                self.at += 1
                groups[-1].ways.append([])
            elif char == ")":
                self.at += 1
                if len(groups) > 1:
                    closed = groups.pop()
                    self._close(closed, groups[-1].ways[-1])
            else:
                chars, needed = self._atom(char)
                self._repeat(groups[-1].ways[-1], [[_Item(chars, needed, loops=False)]], start)
        # In verbose patterns blanks are not what they look like: nothing is claimed about them.
        return Reading(self.newer, "" if self.verbose else self.nested)

    def _open(self, groups: list[_Group]) -> None:
        start = self.at
        match = _OPENING.match(self.pattern, start)
        opening = match[0] if match else "("
        self.at = start + len(opening)
        if opening == "(?>":
            self.newer = self.newer or "an atomic group, `(?>…)`"
        if match and match[3] == ")" and start > 0:
            self.newer = self.newer or f"flags inside the pattern, `{opening}`"
        if opening.startswith("(?P="):
            groups[-1].ways[-1].append(_Item(_ALL, needed=False, loops=False))
        elif not (opening.startswith("(?#") or (match and match[3] == ")")):
            look = opening in {"(?=", "(?!", "(?<=", "(?<!"}
            groups.append(_Group(start, zero_width=look))

    def _close(self, group: _Group, outer: list[_Item]) -> None:
        if group.zero_width:
            self._quantifier()
            return
        self._repeat(outer, group.ways, group.start)

    def _repeat(self, outer: list[_Item], ways: list[list[_Item]], start: int) -> None:
        """Read a quantifier, and add what it repeats to the sequence it stands in."""
        least, many = self._quantifier()
        if least is None:
            if len(ways) == 1:
                outer.extend(ways[0])
                return
            least = 1
        if many and not self.nested and any(_ambiguous(way) for way in ways):
            self.nested = self.pattern[start : self.at]
        chars = frozenset().union(*(item.chars for way in ways for item in way))
        needed = least > 0 and all(any(item.needed for item in way) for way in ways)
        loops = many or any(_ambiguous(way) for way in ways)
        outer.append(_Item(chars, needed, loops))

    def _quantifier(self) -> tuple[int | None, bool]:
        """Least count (None where there is no quantifier), and whether it repeats many times."""
        match = _QUANTIFIER.match(self.pattern, self.at)
        if match is None or match[1] in {"{}", "{,}"}:
            return None, False
        self.at = match.end()
        if match[5] == "+":
            self.newer = self.newer or f"a possessive quantifier, `{match[0]}`"
        if match[1] in "*+?":
            return int(match[1] == "+"), match[1] != "?"
        least = int(match[2][:6] or 0)
        most = int(match[4][:6]) if match[4] else (None if match[3] else least)
        return least, most is None or most >= _MANY

    def _atom(self, char: str) -> tuple[frozenset[int], bool]:
        """Characters of the next atom, and whether it takes one."""
        self.at += 1
        if char == ".":
            return self.dot, True
        if char in "^$":
            return _NOTHING, False
        if char == "[":
            return self._set(), True
        if char == "\\":
            return self._escape()
        return self._literal(char), True

    def _literal(self, char: str) -> frozenset[int]:
        if self.folds and len(char.swapcase()) == 1:
            return frozenset({_code(char), _code(char.swapcase())})
        return frozenset({_code(char)})

    def _escape(self) -> tuple[frozenset[int], bool]:
        char = self.pattern[self.at : self.at + 1]
        self.at += 1
        if char in _CLASSES:
            return _CLASSES[char], True
        if char in _CONTROL:
            return frozenset({_CONTROL[char]}), True
        if char in {"b", "B", "A", "Z", ""}:
            return _NOTHING, False
        if char in {"x", "u", "U", "N", "0"}:
            rest = re.compile(r"\{[^}]*\}|[0-9a-fA-F]{0,8}").match(self.pattern, self.at)
            length = {"x": 2, "u": 4, "U": 8, "0": 2}.get(char, len(rest[0]) if rest else 0)
            self.at += length
            return _ALL, True
        if char.isdigit():
            return _ALL, False
        return self._literal(char), True

    def _set(self) -> frozenset[int]:
        """The characters of a set; the walk stands behind its ``[``."""
        negated = self.pattern.startswith("^", self.at)
        self.at += negated
        found: set[int] = set()
        first = True
        while self.at < len(self.pattern):
            char = self.pattern[self.at]
            if char == "]" and not first:
                self.at += 1
                break
            first = False
            self.at += 1
            chars = self._member(char)
            ahead = self.pattern[self.at : self.at + 2]
            if len(ahead) == 2 and ahead[0] == "-" and ahead[1] != "]":
                self.at += 2
                last = self._member(ahead[1])
                ends = (*chars, *last)
                chars = frozenset(range(min(ends), max(ends) + 1)) if ends else _NOTHING
                chars &= _ALL
            found |= chars
        if self.folds:
            found |= {_code(chr(c).swapcase()) for c in found if c >= 0}
        return _ALL - found if negated else frozenset(found)

    def _member(self, char: str) -> frozenset[int]:
        if char != "\\":
            return frozenset({_code(char)})
        if self.pattern.startswith("b", self.at):
            self.at += 1
            return frozenset({8})
        return self._escape()[0]


def _ambiguous(way: list[_Item]) -> bool:
    """Whether repeating this sequence can split one text in many ways: something in it loops, and
    no character tells where one round ends."""
    if not any(item.loops for item in way):
        return False
    for i, item in enumerate(way):
        others = way[:i] + way[i + 1 :]
        if item.needed and item.loops and any(o.needed for o in others):
            apart = all(item.chars.isdisjoint(o.chars) for o in others)
        else:
            apart = item.needed and not item.loops and all(_counted(item, o) for o in others)
        if apart:
            return False
    return True


def _counted(item: _Item, other: _Item) -> bool:
    """Whether the characters of an item stay countable beside another one: a round then holds as
    many of them as another round."""
    if item.chars.isdisjoint(other.chars):
        return True
    return other.needed and not other.loops and other.chars <= item.chars


def _code(char: str) -> int:
    if ord(char) < 128:
        return ord(char)
    if char.isdecimal():
        return _DIGIT
    if char.isspace():
        return _BLANK
    return _LETTER if char.isalnum() else _REST
