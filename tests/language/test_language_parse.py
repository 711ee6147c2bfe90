"""Text to statements: every error of shape, at its place, all of them at once."""

from __future__ import annotations

import pytest
from language_findings import SPEC, all_of, places, read

from envspec import render
from envspec.diagnostics import DiagnosticError
from envspec.language.limits import MAX_BYTES, MAX_LINES, MAX_STATEMENTS, MAX_VALUES
from envspec.language.parse import parse
from envspec.language.syntax import ASSIGNMENT, MAX_FINDINGS, STRING, WORD, Statement
from envspec.source import SourceFile


def statements(text: str) -> tuple[Statement, ...]:
    return parse(SourceFile("spec.env", text))


def errors(text: str) -> list[str]:
    try:
        statements(text)
    except DiagnosticError as error:
        return places(error.diagnostics)
    return []


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("\n", 0),
        ("\n \t\n\n", 0),
        ("# only a comment", 0),
        ("# only a comment\n", 0),
        ("a", 1),
        ("a # b", 1),
        ("a#b", 1),
        ("a {}", 1),
        ("a { b }", 1),
        ("a { b { c } }", 1),
        ("  a\n\tb\n", 2),
        ("a\r\nb\r\n", 2),
        ("a {\r\n  b {\r\n    c\r\n  }\r\n}", 1),
        ("a { # one\n  # two\n  b # three\n\n  # four\n} # five\n# six", 1),
    ],
)
def test_shapes_that_are_fine(text: str, count: int) -> None:
    assert len(statements(text)) == count


def test_kinds_of_values_and_their_places() -> None:
    (statement,) = statements('word "a # \\" \\\\ {" N="v" ==1.0+cpu')
    assert [(v.kind, v.text, v.name) for v in statement.values] == [
        (WORD, "word", ""),
        (STRING, 'a # " \\ {', ""),
        (ASSIGNMENT, "v", "N"),
        (WORD, "==1.0+cpu", ""),
    ]
    assert [tuple(v.span) for v in statement.values] == [(0, 4), (5, 18), (19, 24), (25, 34)]
    assert statement.block is None


def test_blocks_keep_order_and_their_span_reaches_the_brace() -> None:
    text = "a x {\n  b { c\n d }\n  e\n}\n"
    (a,) = statements(text)
    assert a.block is not None
    b, e = a.block
    assert [s.keyword.text for s in (a, b, e)] == ["a", "b", "e"]
    assert [s.keyword.text for s in b.block or ()] == ["c", "d"]
    assert e.block is None
    assert text[a.span.start : a.span.end] == text.rstrip("\n")
    assert text[b.span.start : b.span.end] == "b { c\n d }"
    (empty,) = statements("a { }")
    assert empty.block == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # strings
        ('a "b', ['E0103 1:3 "b']),
        ('a "b\nc "d\n', ['E0103 1:3 "b', 'E0103 2:3 "d']),
        ('a N="b', ['E0103 1:3 N="b']),
        ('a "b\\"', ['E0103 1:3 "b\\"']),
        ('a "b\\', ['E0103 1:3 "b\\']),
        ('a "\\n"', ["E0101 1:4 \\n"]),
        ('a N="x\\t\\"\\q"', ["E0101 1:7 \\t", "E0101 1:11 \\q"]),
        # braces
        ("a {", ["E0104 1:3 {"]),
        ("a {\n  b {\n", ["E0104 1:3 {", "E0104 2:5 {"]),
        ("a {\n  b {\n}\n", ["E0104 1:3 {"]),
        ("}", ["E0101 1:1 }"]),
        ("a { b } }", ["E0101 1:9 }"]),
        ("{\n}", ["E0101 1:1 {"]),
        ("a { {\n} }", ["E0101 1:5 {"]),
        ("a { } { }", ["E0101 1:7 {"]),
        ("a { } b", ["E0101 1:7 b"]),
        ("a { b { } c }", ["E0101 1:11 c"]),
        ("a {\n}\nb\n{ c }\n", ["E0101 4:1 {"]),
        # depth
        ("a { b { c { d } } }", ["E0101 1:11 {"]),
        ("a {\n b {\n c {\n d {\n }\n }\n }\n}\n", ["E0101 3:4 {", "E0101 4:4 {"]),
        ("a { b { c {", ["E0101 1:11 {", "E0104 1:3 {", "E0104 1:7 {"]),
        # several at once, in the order of their places
        (
            'a "x\nb { c { d { } } }\n}\ne "\\z" {\n',
            ['E0103 1:3 "x', "E0101 2:11 {", "E0101 3:1 }", "E0101 4:4 \\z", "E0104 4:8 {"],
        ),
        # one finding a line: what follows an error on its line is not guessed at
        ("} } }\n}\n", ["E0101 1:1 }", "E0101 2:1 }"]),
    ],
)
def test_errors_of_shape(text: str, expected: list[str]) -> None:
    assert sorted(errors(text)) == sorted(expected)
    assert sorted(errors(text.replace("\n", "\r\n").removesuffix("\r\n"))) == sorted(expected)


def test_errors_come_in_the_order_of_their_places() -> None:
    found = errors('x "\\q"\n}\nb "\nc {\n')
    assert [line.split()[1] for line in found] == ["1:4", "2:1", "3:3", "4:3"]


@pytest.mark.parametrize(
    "char",
    [
        "\x00", "\x07", "\x08", "\x0b", "\x0c", "\x1b", "\x1f", "\x7f", "\x85", "\x9b",  # control
        "\u061c", "\u200e", "\u202a", "\u202e", "\u2066", "\u2069",  # bidirectional
        "\xa0", "\u1680", "\u2000", "\u2003", "\u202f", "\u205f", "\u3000",  # blanks
        "\u2028", "\u2029",  # line ends that editors do not agree on
        "\xad", "\u034f", "\u115f", "\u180e", "\u200b", "\u200d", "\u2060", "\u3164", "\ufe00",
        "\ufeff", "\uffa0", "\ufff9", "\U000e0001", "\U000e0041", "\U000e0100",  # nothing to see
        "\r", "\ud800",
    ],
)  # fmt: skip
@pytest.mark.parametrize("around", ["a {}b", 'a "{}"', "a # {}b"])
def test_forbidden_characters_wherever_they_stand(char: str, around: str) -> None:
    text = f"ok\n{around.replace('{}', char)}\n"
    (finding,) = all_of(text)
    assert finding.code == "E0102"
    assert f"U+{ord(char):04X}" in finding.title
    assert places((finding,))[0].startswith(f"E0102 2:{around.index('{') + 1}")
    assert char not in render.text([finding])


def test_every_forbidden_character_is_found_up_to_a_limit() -> None:
    assert [f.split()[1] for f in errors("a\x00b\x00\nc\u202e")] == ["1:2", "1:4", "2:2"]
    assert len(errors("\x00" * 5000)) == MAX_FINDINGS


@pytest.mark.parametrize("text", ["é", "字", "𝒳", "e\u0301", "\u2764\ufe0f", "\ue000"])
def test_other_characters_are_nobodys_business(text: str) -> None:
    (statement,) = statements(f'a "{text}" {text} # {text}')
    assert [v.text for v in statement.values[1:]] == [text, text]


def test_columns_count_characters_and_marks_stand_below_them() -> None:
    text = 'a "字字" "e\u0301" "x\n'
    (finding,) = all_of(text)
    assert places((finding,)) == ['E0103 1:13 "x']
    lines = render.text([finding]).splitlines()
    drawn = next(line for line in lines if line.startswith("1 |"))
    marks = next(line for line in lines if "^" in line)
    # Two wide characters take four columns, a combining one takes none.
    assert marks.index("^") == drawn.index('"x') + 2 - 1
    assert marks.count("^") == 2


def test_marks_below_a_line_that_is_drawn_in_part() -> None:
    text = "a " + "x" * 300 + ' "open' + "y" * 300
    (finding,) = all_of(text)
    drawn, marks = render.text([finding]).splitlines()[3:5]
    assert len(drawn) < 200
    assert drawn[marks.index("^") :].startswith('"open')


def test_size() -> None:
    longest = "#" * MAX_BYTES
    assert statements(longest) == ()
    for text in (longest + "#", "é" * (MAX_BYTES // 2 + 1), "#" * (MAX_BYTES - 1) + "é"):
        (finding,) = all_of(text)
        assert finding.code == "E0105"
        assert "1,048,576 bytes" in finding.title
        assert len(render.text([finding])) < 1000


def test_number_of_statements() -> None:
    assert len(statements("a\n" * MAX_STATEMENTS)) == MAX_STATEMENTS
    inside = "a {\n" + "b\n" * (MAX_STATEMENTS - 1) + "}\n"
    assert len(statements(inside)) == 1
    for text in ("a\n" * (MAX_STATEMENTS + 1), "a\n" + inside, "a { b { c } }\n" * 3334):
        (finding,) = all_of(text)
        assert finding.code == "E0105"
        assert "statements, the limit is 10,000" in finding.title


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("a " * (MAX_VALUES + 1), "values"),
        ("{" * (MAX_VALUES + 1), "values"),
        ('"' * 2 * (MAX_VALUES + 1), "values"),
        ("#\n" * (MAX_LINES + 1), "lines"),
        ("\n" * MAX_BYTES, "lines"),
    ],
)
def test_number_of_values_and_lines(text: str, what: str) -> None:
    (finding,) = all_of(text)
    assert finding.code == "E0105"
    assert finding.title == f"the spec has more than 50,000 {what}"


def test_what_a_string_or_a_comment_holds_is_no_value() -> None:
    (statement,) = statements('a "' + 'b \\" { ' * 100_000 + '"')
    assert len(statement.values) == 2
    assert statements("# " + "b { " * 200_000) == ()
    assert len(statements("a " * (MAX_VALUES - 1))[0].values) == MAX_VALUES - 1


@pytest.mark.parametrize(
    "text",
    ["}\n" * 200_000, "{" * 200_000, "a\n" * 500_000, '"' + "\\q" * 90_000 + '"', "a b" * 9**5],
)
def test_hostile_shapes_give_few_findings(text: str) -> None:
    found = all_of(text)
    assert 1 <= len(found) <= MAX_FINDINGS + 2
    assert len(render.text(found)) < 200_000


def test_a_good_spec_is_read() -> None:
    assert read(SPEC).project.name == "demo"
