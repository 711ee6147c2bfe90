"""Places as the protocol counts them, and the tree of a text that may be broken."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from specs import CLEAN

from envspec.language.parse import parse
from envspec.language.statements import every_word
from envspec.language.syntax import Statement
from envspec.lsp import outline
from envspec.lsp.completion import completions
from envspec.lsp.hover import hover
from envspec.lsp.navigation import definitions, renamed
from envspec.lsp.text import UTF8, UTF16, UTF32, Place, Text
from envspec.lsp.tree import MAX_TOKENS, Tree
from envspec.source import SourceFile

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*/spec.env"))
ENCODINGS = (UTF8, UTF16, UTF32)
# Every kind of line break there is, real or not, and characters of one to four bytes.
TEXTS = st.text(st.sampled_from("ab \t\n\r\x0b\x0c\x1c\x85\u2028é€𝒳\ud800"), max_size=30)
# What a spec is made of, in any order.
PIECES = st.lists(
    st.sampled_from(
        ["entry", " ", "  ", "\n", "\r\n", "{", "}", '"', '"a"', 'A="', "# c", "torch", "==2.9.1",
         "packages", "from", "because", "x", "\\", "claims", "c1", "extension", "env", "𝒳", "gpus",
         "accelerator", "cuda", "12.8", "driver", ">=550", "sm_90", "platform", "index"]
    ),
    max_size=40,
).map("".join)  # fmt: skip


def units_of(text: str, encoding: str) -> int:
    size = {UTF8: 1, UTF16: 2, UTF32: 4}[encoding]
    codec = encoding if encoding == UTF8 else f"{encoding}-le"
    return len(text.encode(codec, "surrogatepass")) // size


@given(TEXTS, st.data(), st.sampled_from(ENCODINGS))
def test_an_offset_has_one_place(content: str, data: st.DataObject, encoding: str) -> None:
    text = Text(content, encoding)
    offset = data.draw(st.integers(0, len(content)))
    found = text.place(offset)
    before = content[:offset].replace("\r\n", "\n").replace("\r", "\n")
    between = content[offset - 1 : offset + 1] == "\r\n"  # inside a line break
    assert found.line == before.count("\n") - between
    if not between:
        assert found.column == units_of(before.rpartition("\n")[2], encoding)
        assert text.offset(found) == offset


@given(TEXTS, TEXTS, st.data(), st.sampled_from(ENCODINGS))
def test_an_edit_replaces_what_is_between(
    content: str, new: str, data: st.DataObject, encoding: str
) -> None:
    text = Text(content, encoding)
    start = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(start, len(content)))
    first, last = text.place(start), text.place(end)
    start, end = text.offset(first), text.offset(last)
    changed = text.changed(first, last, new)
    assert changed.text == content[:start] + new + content[end:]
    assert changed.encoding == encoding


@pytest.mark.parametrize(
    ("place", "offset"),
    [
        (Place(0, 99), 1),
        (Place(0, -1), 0),
        (Place(1, 0), 3),
        (Place(1, 1), 4),  # between the halves of a surrogate pair: behind it
        (Place(1, 2), 4),
        (Place(1, 99), 5),
        (Place(9, 0), 5),
        (Place(-1, 5), 0),
    ],
)
def test_a_place_outside_means_the_nearest(place: Place, offset: int) -> None:
    assert Text("a\r\n𝒳b").offset(place) == offset


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.parent.name)
def test_a_whole_text_has_the_tree_of_the_parser(path: Path) -> None:
    text = path.read_text()
    assert Tree(text).statements == parse(SourceFile("s", text))
    unindented = "\n".join(line.strip() for line in text.split("\n"))
    assert Tree(unindented).statements == parse(SourceFile("s", unindented))


def test_a_closed_block_without_indentation_keeps_its_lines() -> None:
    text = "packages {\nsystem\nentry ==1\n}\n"
    assert Tree(text).statements == parse(SourceFile("s", text))


def test_every_example_of_the_language_has_the_tree_of_the_parser() -> None:
    for word in every_word():
        text = f"{word.inside} x {{\n{word.example}\n}}\n" if word.inside else f"{word.example}\n"
        assert Tree(text).statements == parse(SourceFile("s", text)), text


def heads(statements: tuple[Statement, ...]) -> list[str]:
    return [" ".join(v.text for v in s.values[:2]) for s in statements]


def test_one_brace_too_few_spoils_one_block_only() -> None:
    for start in (i for i, c in enumerate(CLEAN) if c == "}"):
        broken = CLEAN[:start] + CLEAN[start + 1 :]
        assert heads(Tree(broken).statements) == heads(Tree(CLEAN).statements)


def test_a_string_that_is_not_closed_spoils_its_line_only() -> None:
    broken = CLEAN.replace('"demo"\n', '"demo\n')
    assert broken != CLEAN
    assert heads(Tree(broken).statements) == heads(Tree(CLEAN).statements)


@settings(max_examples=300)
@given(PIECES, st.data())
def test_nothing_that_is_typed_fails(text: str, data: st.DataObject) -> None:
    """Every request about every place of any text is answered."""
    tree = Tree(text)
    offset = data.draw(st.integers(0, len(text)))
    cursor = tree.cursor(offset)
    assert cursor.typed.start <= offset <= cursor.typed.end
    for proposal in completions(tree, offset, {"torch": "2.9.1"}):
        assert (proposal.span.start, proposal.span.end) == tuple(cursor.typed)
    hover(tree, offset)
    definitions(tree, offset)
    renamed(tree, offset)
    for symbol in outline.symbols(tree):
        assert symbol.name
    for span, _ in outline.folds(tree):
        assert 0 <= span.start <= span.end <= len(text)
    for statement, around in tree.all():
        assert len(around) <= 2
        assert statement.values


def test_a_block_without_a_word_has_a_name_in_the_outline() -> None:
    (symbol,) = outline.symbols(Tree("{\n  a\n}\n"))
    assert (symbol.name, symbol.inside[0].name) == ("{", "a")


def test_a_huge_text_is_read_in_part_only() -> None:
    tree = Tree("a " * (MAX_TOKENS + 10))
    assert len(tree.statements[0].values) == MAX_TOKENS
    assert Tree("a" * ((1 << 20) + 1)).statements == ()
