"""The formatter changes blanks and newlines and nothing else, whatever the document holds.

    ENVSPEC_PROPERTY_EXAMPLES=100000 python -m pytest tests/property/test_formatter.py

is the long run.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from random import Random
from typing import NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mutations import PIECES, TEXTS, mutate
from strategies import HOSTILE, erase, specs, texts

from envspec.diagnostics import DiagnosticError
from envspec.language.format import print_spec
from envspec.language.layout import INDENT, formatted
from envspec.language.parse import _parser, parse
from envspec.language.resolve import resolve
from envspec.source import SourceFile

EXAMPLES = int(os.environ.get("ENVSPEC_PROPERTY_EXAMPLES", "500"))
ROOT = Path(__file__).parents[2]
many = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))

WORDS = (
    "envspec", "1", "packages", "torch", "einops[extra]", ">=0.8", "==2.9.1+cu128", "from", "for",
    "because", "pypi", "entry", "run", "sm_80", "x" * 31, "x" * 32, "x" * 33, "y" * 90, "字字",
    "e\u0301", "=", "a=b", "\\", "'", "$(id)", "<<EOF",
)  # fmt: skip
REMARKS = ("", " ", " why", "!", "# #", ' "not a string', " {", " }", "\t字 ", " trailing  \t")


class Shape(NamedTuple):
    """A document before it is written: lines of tokens, where a newline has to stand after each.

    Each line is its tokens; a comment is a token that begins with `#`, and is the last of its
    line. A brace may share its line with what is inside.
    """

    lines: tuple[tuple[str, ...], ...]


class _Maker:
    def __init__(self, random: Random, size: int, strings: list[str]) -> None:
        self.random = random
        self.size = size
        self.strings = strings
        self.lines: list[list[str]] = [[]]

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def shape(self) -> Shape:
        for _ in range(self.random.randint(0, self.size)):
            self.space()
            self.statement(0)
            self.remark()
            self.line()
        self.space()
        return Shape(tuple(tuple(line) for line in self.lines))

    def line(self) -> None:
        self.lines.append([])

    def space(self) -> None:
        """Blank lines and lines of comment."""
        for _ in range(self.random.choice((0, 0, 1, 3))):
            if self.chance(0.4):
                self.lines[-1].append("#" + self.random.choice(REMARKS))
            self.line()

    def remark(self) -> None:
        if self.chance(0.2):
            self.lines[-1].append("#" + self.random.choice(REMARKS))

    def statement(self, depth: int) -> None:
        self.lines[-1].extend(self.values())
        if depth < 2 and self.chance(0.4):
            self.block(depth + 1)

    def values(self) -> list[str]:
        found = [self.value() for _ in range(self.random.choice((1, 1, 2, 3, 6)))]
        if self.chance(0.2):
            found += ["from", "pypi"]
        if self.chance(0.2):
            found += ["because", self.string()]
        return found

    def value(self) -> str:
        kind = self.random.randrange(6)
        if kind == 0:
            return self.string()
        return f"NAME={self.string()}" if kind == 1 else self.random.choice(WORDS)

    def string(self) -> str:
        text = self.random.choice(self.strings)
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

    def block(self, depth: int) -> None:
        self.lines[-1].append("{")
        if self.chance(0.7):
            self.remark()
            self.line()
            self.space()
        for number in range(self.random.randint(0, self.size)):
            if number:
                self.remark()
                self.line()
                self.space()
            self.statement(depth)
        if self.chance(0.7):
            self.remark()
            self.line()
            self.space()
        self.lines[-1].append("}")


def write(shape: Shape, random: Random) -> str:
    """One of the texts of a shape: any blanks, any newlines, perhaps none at the end."""
    newline = random.choice(("\n", "\n", "\r\n"))
    blanks = random.choice(((" ",), ("", " ", "  ", "\t", " \t ", " " * 40)))
    out = []
    for tokens in shape.lines:
        out.append(random.choice(blanks))
        for number, token in enumerate(tokens):
            out.append(token)
            apart = _two_words(token, *tokens[number + 1 : number + 2])
            out.append(random.choice(blanks) or (" " if apart else ""))
        out.append(newline)
    text = "".join(out)
    return text.removesuffix(newline) if random.random() < 0.3 else text


def _two_words(before: str, after: str = "{") -> bool:
    """Whether two tokens need a blank between them to stay two."""
    return before[-1] not in '"{}' and after[0] not in '"{}#'


def shapes() -> st.SearchStrategy[Shape]:
    random = st.randoms(use_true_random=True)
    strings = st.lists(texts(), min_size=1, max_size=6)
    return st.builds(lambda r, n, s: _Maker(r, n, s).shape(), random, st.integers(0, 4), strings)


def layout(text: str) -> str:
    return formatted(SourceFile("spec.env", text))


def outcome(text: str) -> str | list[str]:
    """The layout, or the codes of what is wrong."""
    try:
        return layout(text)
    except DiagnosticError as error:
        return [d.code for d in error.diagnostics]


def remarks(text: str) -> list[tuple[int, bool, str]]:
    """Every comment: how many values and braces stand before it, whether it shares its line with
    something, and its words. From the lexer's own newlines, not from the formatter's reading."""
    found = []
    before = 0
    for token in _parser().lex(text if text.endswith("\n") else text + "\n"):
        if token.type != "NEWLINE":
            before += 1
            continue
        for number, line in enumerate(token.split("\n")):
            if line.strip():
                shares = number == 0 and before > 0
                found.append((before, shares, line.strip()))
    return found


def tokens(text: str) -> list[str]:
    """Values and braces."""
    return [str(t) for t in _parser().lex(text + "\n") if t.type != "NEWLINE"]


@many
@given(shapes(), st.randoms(use_true_random=True))
def test_the_layout_keeps_what_is_said_and_who_says_it(shape: Shape, random: Random) -> None:
    text = write(shape, random)
    done = layout(text)
    assert erase(parse(SourceFile("", done))) == erase(parse(SourceFile("", text)))
    assert tokens(done) == tokens(text)
    assert remarks(done) == remarks(text)


@many
@given(shapes(), st.randoms(use_true_random=True))
def test_twice_is_once_and_blanks_decide_nothing(shape: Shape, random: Random) -> None:
    done = layout(write(shape, random))
    assert layout(done) == done
    assert layout(write(shape, random)) == done


@many
@given(shapes(), st.randoms(use_true_random=True))
def test_the_text_is_tidy(shape: Shape, random: Random) -> None:
    done = layout(write(shape, random))
    assert "\r" not in done
    assert done == "" or (done.endswith("\n") and not done.startswith("\n"))
    assert "\n\n\n" not in done
    assert not done.endswith("\n\n")
    assert not re.search(r"\{\n\n|\n\n *\}", re.sub(r"#.*|\"(\\.|[^\"\\\n])*\"", "x", done))
    depth = 0
    for line in done.splitlines():
        assert line == line.rstrip(" \t")
        kinds = [t.type for t in _parser().lex(line + "\n") if t.type != "NEWLINE"]
        depth -= kinds == ["RBRACE"]
        if line:
            assert line.startswith(INDENT * depth)
            assert line[len(INDENT) * depth] not in " \t"
        assert "RBRACE" not in kinds[:-1]
        assert "LBRACE" not in kinds[:-1] or kinds[-2:] == ["LBRACE", "RBRACE"]
        depth += kinds[-1:] == ["LBRACE"]
    assert depth == 0


def test_out_of_broken_text_only_findings_come() -> None:
    seen = {True: 0, False: 0}
    for number in range(4 * EXAMPLES):
        random = Random(number)
        text = mutate(random.choice(TEXTS), random)
        if random.random() < 0.2:
            text = text.replace("\n", random.choice(PIECES), 3)
        done = outcome(text)
        seen[isinstance(done, str)] += 1
        if isinstance(done, str):
            assert layout(done) == done, text
            assert remarks(done) == remarks(text), text
        else:
            assert done, text
            assert all(code.startswith("E01") for code in done), text
    assert min(seen.values()) > EXAMPLES // 10, "the mutations are too harsh or too tame"


@settings(many, max_examples=max(1, EXAMPLES // 10))
@given(specs())
def test_the_printer_and_the_formatter_differ_in_columns_alone(spec: object) -> None:
    printed = print_spec(spec)  # type: ignore[arg-type]
    done = layout(printed)
    assert [line.split() for line in done.split("\n")] == [
        line.split() for line in printed.split("\n")
    ]
    source = SourceFile("spec.env", done)
    assert erase(resolve(parse(source), source)) == spec


def test_hostile_strings_are_part_of_the_documents() -> None:
    assert '"' in "".join(HOSTILE)
    maker = _Maker(Random(1), 4, list(HOSTILE))
    text = "\n".join(write(maker.shape(), Random(n)) for n in range(20))
    assert {"{", "#", '\\"', "\t"} <= {piece for piece in ("{", "#", '\\"', "\t") if piece in text}
