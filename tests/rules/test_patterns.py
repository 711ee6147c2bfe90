"""The walk over regular expressions: what it takes for a repeat of a repeat, and what not."""

from __future__ import annotations

import random
import re
import warnings

import pytest

from envspec.rules.expect_pattern import judge
from envspec.rules.shared import patterns

HARMLESS = [
    "", "loss [0-9.]+", "^done$", r"(\d+\.)+\d+", "(?:[a-z]+ )*end", r"(\w+\s+)+", '("[^"]*",)*',
    r"step \d+/\d+ .* ok", "(?i)PASS(ED)?", r"(?P<a>\d+)-(?P=a)", "(foo|bar)+", r"[^\]]+", "[]a]+",
    "[[]a]+", r"([a-z]\d+)+", r"(?:\s*\d+,)+", r"(.*\n)*", "a{2,3}", r"(\d{1,3}\.){3}\d{1,3}",
    "(?m)^ok$", "é+", "(=+|-+)", "(?=a+)b", "x*y*z*", "(a|b)*", r"\(\w+\)", "{}", "a{,}",
    "(a*)?", "(a+){3}", r"(?:epoch \d+: loss=\d+\.\d+\n)+", r"tests? passed( in \d+s)?",
    r"[\d-]+", r"(\[\d+\] )+", "(?x) (a+) +", "(?#(a+)b", r"\(a+\)+", "[(a+)+]",
]  # fmt: skip
NESTED = [
    "(a+)+", "(a*)*", "(.*)*", "(.*,)*", r"(\w+\s?)*", "([a-z]+)*x", "((a+))+", "(?:(a+|b))+",
    "(a+b?)+", "(x{1,50})+", r"((\d+\.)+)*", "(a+){2,}", "(a+){25}", "(?:(a+)?)*", "(?i)(a+A)+",
    r"(?s)(.*\n)*", "(?P<n>a+)*", "(?=(a+)+)b", "(a+?)+?", "(é+)+", r"([^x]+,)*", r"(\d+\w)*",
]  # fmt: skip
NEWER = ["a++", "a*+", "a?+", "a{2}+", "(?>a)", "a(?i)b", "(a)(?m)"]


@pytest.mark.parametrize("pattern", HARMLESS)
def test_a_pattern_that_is_safe(pattern: str) -> None:
    assert patterns.read(pattern) == ("", "")
    assert judge(pattern) is None


@pytest.mark.parametrize("pattern", NESTED)
def test_a_repeat_of_a_repeat(pattern: str) -> None:
    assert patterns.read(pattern).nested
    assert patterns.read(pattern).nested in pattern
    found = judge(pattern)
    assert found
    assert found[0] == "may take for ever"


@pytest.mark.parametrize("pattern", NEWER)
def test_what_only_some_versions_of_python_take(pattern: str) -> None:
    found = judge(pattern)
    assert found
    assert found[0] == "is not one for every Python"


def test_the_bound_on_the_length() -> None:
    assert judge("a" * 1000) is None
    assert judge("a" * 1001) is not None


def test_any_text_is_judged_and_a_broken_one_is_called_so() -> None:
    """Random texts: no exception, and what Python refuses is never let pass."""
    chance = random.Random(7)
    refused = 0
    for _ in range(4000):
        pattern = "".join(chance.choice("ab(.*+?){}[]|^$\\,1:<>=!P-d sx#iN") for _ in range(12))
        found = judge(pattern)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                re.compile(pattern)
        except (re.error, OverflowError):
            refused += 1
            assert found is not None
    assert refused > 1000


@pytest.mark.parametrize(
    "pattern", ["(" * 1000, "(" * 500 + ")" * 500, "[" * 1000, "\\" * 999, "(?" * 500, "{" * 1000]
)
def test_deep_and_unclosed_ones_do_not_exhaust_the_stack(pattern: str) -> None:
    assert patterns.read(pattern).nested == ""
