"""Our values in the protocol's form."""

from __future__ import annotations

from editor import applied
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol.converters import get_converter

from envspec.lsp.text import Text
from envspec.lsp.wire import difference

LINES = st.lists(st.sampled_from(["a\n", "b\n", "𝒳\n", "\n"]), max_size=8).map("".join)


@given(LINES, LINES)
def test_the_difference_of_two_texts_makes_one_the_other(before: str, after: str) -> None:
    edits = [get_converter().unstructure(e) for e in difference(Text(before), after)]
    assert applied(before, edits) == after
    assert bool(edits) == (before != after)


def test_the_difference_leaves_alone_what_stays() -> None:
    (edit,) = difference(Text("a\nb\nc\nd\n"), "a\nB\nC\nd\n")
    assert edit.new_text == "B\nC\n"
    assert (edit.range.start.line, edit.range.end.line) == (1, 3)
