"""Did you mean: close words only, and the same one on every run."""

from __future__ import annotations

import pytest

from envspec.suggest import closest, distance


@pytest.mark.parametrize(
    ("a", "b", "edits"),
    [
        ("", "", 0),
        ("a", "", 1),
        ("", "ab", 2),
        ("abc", "abc", 0),
        ("abc", "abd", 1),
        ("abc", "acb", 1),
        ("abc", "ab", 1),
        ("kitten", "sitting", 3),
        ("ca", "abc", 3),
    ],
)
def test_distance(a: str, b: str, edits: int) -> None:
    assert distance(a, b) == edits
    assert distance(b, a) == edits


@pytest.mark.parametrize(
    ("word", "best"),
    [
        ("pakages", "packages"),
        ("PACKAGES", "packages"),
        ("packgaes", "packages"),
        ("env", "env"),
        ("evn", "env"),
        ("enw", "env"),
        ("elf", ""),  # two edits of three letters are another word
        ("accelerators", "accelerator"),
        ("zzz", ""),
        ("", ""),
        ("p" * 61, ""),
    ],
)
def test_closest(word: str, best: str) -> None:
    assert closest(word, ("packages", "env", "accelerator", "project")) == best


def test_the_shortest_words_are_never_guessed() -> None:
    assert closest("c2", ("c1", "c3")) == ""


def test_ties_do_not_depend_on_order() -> None:
    assert closest("cat", ("cab", "car")) == closest("cat", ("car", "cab")) == "cab"
    assert closest("cat", ()) == ""
