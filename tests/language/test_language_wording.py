"""Lists in messages."""

from __future__ import annotations

from envspec.wording import either, listed, ticked


def test_words_are_listed() -> None:
    found = [listed(words) for words in ([], ["a"], ["a", "b"], ["a", "b", "c"])]
    assert found == ["", "a", "a and b", "a, b and c"]


def test_literals_stand_in_back_ticks() -> None:
    assert ticked(["sm_80", "sm_90"]) == "`sm_80` and `sm_90`"
    assert either(iter(["a", "b", "c"])) == "`a`, `b` or `c`"
    assert either([]) == ""
