"""Every shape has its category, and what has none is given none."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

import pytest
from failure_shapes import Shape, category, diagnosed, shapes, texts

from envspec.diagnose.categories import CATEGORIES

KNOWN = shapes()
NONE = texts()


def test_the_corpus_is_as_large_as_it_is_said_to_be() -> None:
    counts = Counter(s.category for s in KNOWN)
    assert set(counts) == set(CATEGORIES)
    assert len(CATEGORIES) == 13
    assert min(counts.values()) >= 8
    assert len(KNOWN) >= 150
    assert len(NONE) >= 50
    assert len({(s.thread, s.text) for s in KNOWN}) == len(KNOWN)
    assert all(re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", s.thread) for s in KNOWN)


def test_the_share_of_shapes_that_are_told_right(
    record_property: Callable[[str, object], None],
) -> None:
    right = sum(category(s.text) == s.category for s in KNOWN)
    record_property("right", f"{right} of {len(KNOWN)}")
    print(f"{right} of {len(KNOWN)} shapes told right: {right / len(KNOWN):.1%}")
    assert right / len(KNOWN) >= 0.95


@pytest.mark.parametrize("shape", KNOWN, ids=lambda s: f"{s.category}-{s.thread}")
def test_each_shape(shape: Shape) -> None:
    found = diagnosed(shape.text).found
    assert found is not None
    assert found.category == shape.category
    assert found.evidence is not None
    # The line that is shown is a line of the log, at the number that is said.
    line = shape.text.split("\n")[found.evidence.line - 1]
    assert found.evidence.text.split()[-1] in re.sub(r"\x1b\[\d*m", "", line)
    assert "{" not in found.because


@pytest.mark.parametrize("name", NONE)
def test_never_a_confident_wrong_one(name: str) -> None:
    found = diagnosed(NONE[name]).found
    assert found is None, (found.sign.name, found.because)


HELD_OUT = shapes("held_out") + shapes("held_out_second")


def test_shapes_that_no_sign_was_written_for() -> None:
    """docs/diagnose.md says how many of these were told right before anything was tuned."""
    assert len(HELD_OUT) == 60
    told = [(s.category, category(s.text)) for s in HELD_OUT]
    right = sum(wanted == got for wanted, got in told)
    print(f"{right} of {len(told)} held-out shapes told right: {right / len(told):.1%}")
    assert right / len(told) >= 0.85
    assert [(wanted, got) for wanted, got in told if got not in {wanted, ""}] == []
