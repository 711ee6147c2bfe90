"""What rungs are called and what they ask, for every form of the report."""

from __future__ import annotations

from typing import NamedTuple


class Words(NamedTuple):
    """A rung's name, what holds where it passes, and the same as a question."""

    title: str
    holds: str
    asks: str


_WORDS = {
    "c0_static": Words("C0 static", "every import is there", "is every import there?"),
    "c0_live": Words("C0 live", "every import loads", "does every import load?"),
    "c1": Words("C1", "it runs on CPU", "does it run on CPU?"),
    "c2_static": Words("C2 static", "the binaries fit", "do the binaries fit?"),
    "c2_live": Words("C2 live", "the GPU is seen", "is the GPU seen?"),
    "c3": Words("C3", "a kernel runs", "does a kernel run?"),
    "c4": Words("C4", "it runs distributed", "does it run distributed?"),
}


def words(name: str) -> Words:
    """The words of a rung; its name alone where it is not in the table."""
    return _WORDS.get(name, Words(name.replace("_", " ").upper(), "", ""))


def title(name: str) -> str:
    """`C0 static` for `c0_static`."""
    return words(name).title


def question(name: str) -> str:
    """What the rung asks."""
    return words(name).asks


def counts(scores: dict[str, int]) -> str:
    """The scores of a report in a sentence without a full stop."""
    return (
        f"{scores['confirmed']} of {scores['stated']} stated claims confirmed, "
        f"{scores['overclaims']} overclaims, {scores['mismatches']} mismatches, "
        f"{scores['inconclusive']} inconclusive"
    )
