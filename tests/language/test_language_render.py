"""Drawing findings: places, marks, and nothing that a terminal would obey."""

from __future__ import annotations

import json

import pytest

from envspec import render
from envspec.diagnostics import NOTE, WARNING, Diagnostic, Fix, Label
from envspec.source import SourceFile, Span

SOURCE = SourceFile("spec.env", "one\ntwo three\n\tfour\n")


def test_a_finding_in_full() -> None:
    finding = Diagnostic(
        "E0000",
        "a title",
        SOURCE,
        (Label(Span(8, 13), "here"), Label(Span(0, 3), "and here")),
        cause="a cause",
        hint="a hint",
        excerpt=("a line of a log",),
    )
    assert render.text([finding]) == (
        "error[E0000]: a title\n"
        " --> spec.env:2:5\n"
        "  |\n"
        "2 | two three\n"
        "  |     ^^^^^ here\n"
        "  |\n"
        "1 | one\n"
        "  | ^^^ and here\n"
        "  |\n"
        "  |   a line of a log\n"
        "  |\n"
        "  = cause: a cause\n"
        "  = hint: a hint\n"
        "\n"
    )


def test_a_finding_about_no_file() -> None:
    drawn = render.text([Diagnostic("E0000", "a title", hint="a hint", severity=WARNING)])
    assert drawn == "warning[E0000]: a title\n  = hint: a hint\n\n"


@pytest.mark.parametrize(
    ("span", "line", "marks"),
    [
        (Span(0, 0), "1 | one", "  | ^ x"),
        (Span(2, 9), "1 | one", "  |   ^ x"),  # to the end of its first line
        (Span(15, 19), "3 |  four", "  |  ^^^^ x"),  # a tab takes one column
        (Span(14, 19), "3 |  four", "  | ^^^^^ x"),
        (Span(20, 20), "4 |", "  | ^ x"),  # the end of the file
        (Span(99, 120), "4 |", "  | ^ x"),
    ],
)
def test_marks(span: Span, line: str, marks: str) -> None:
    drawn = render.text([Diagnostic("E0000", "t", SOURCE, (Label(span, "x"),))]).splitlines()
    assert drawn[3:5] == [line, marks]


def test_nothing_that_is_drawn_is_obeyed_by_a_terminal() -> None:
    evil = "\x1b[2J\x9b31m\r\b\x00\u202e\u2028\u3164\U000e0100"
    source = SourceFile(f"{evil}.env", f"{evil}\n")
    labels = (Label(Span(0, 3), evil),)
    finding = Diagnostic("E0000", evil, source, labels, evil, evil, excerpt=(evil,))
    drawn = render.text([finding])
    assert drawn.replace("\n", "").isprintable()
    assert drawn.count("\n") == 11
    assert drawn.count(r"\u{1b}[2J\u{9b}31m\u{d}\u{8}\u{0}\u{202e}\u{2028}\u{3164}\u{e0100}") == 7


def test_passwords_in_addresses_are_not_drawn() -> None:
    text = 'index a "https://me:s3cret@h/x" "http://tok3n@h" "https://h/a@b"\n'
    source = SourceFile("spec.env", text)
    at = text.index("h/a@b")
    finding = Diagnostic(
        "E0000",
        f"title {text[:-1]}",
        source,
        (Label(Span(at, at + 5)),),
        text,
        text,
        excerpt=(text,),
    )
    for drawn in (render.text([finding]), json.dumps(render.document([finding]))):
        assert "s3cret" not in drawn
        assert "tok3n" not in drawn
        assert "h/a@b" in drawn
    line, marks = render.text([finding]).splitlines()[3:5]
    assert line[marks.index("^") :].startswith("h/a@b")


def test_colours_only_add_escapes() -> None:
    finding = Diagnostic("E0000", "t", SOURCE, (Label(Span(0, 3), "x"),), severity=NOTE)
    coloured = render.text([finding], colour=True)
    assert "\x1b[34m" in coloured
    for code in ("\x1b[34m", "\x1b[1m", "\x1b[0m"):
        coloured = coloured.replace(code, "")
    assert coloured == render.text([finding])


def test_data_for_machines() -> None:
    fix = Fix.replace(Span(4, 7), "2", "write 2")
    finding = Diagnostic("E0000", "t", SOURCE, (Label(Span(4, 13), "x"),), "c", "h", fix)
    assert render.document([finding]) == {
        "schema": 1,
        "diagnostics": [
            {
                "code": "E0000",
                "severity": "error",
                "title": "t",
                "file": "spec.env",
                "labels": [{"line": 2, "column": 1, "end_line": 2, "end_column": 10, "text": "x"}],
                "cause": "c",
                "hint": "h",
                "excerpt": [],
                "fix": {
                    "description": "write 2",
                    "edits": [
                        {
                            "line": 2,
                            "column": 1,
                            "end_line": 2,
                            "end_column": 4,
                            "text": "",
                            "replacement": "2",
                        }
                    ],
                },
            }
        ],
    }


def test_summary() -> None:
    error, warning = Diagnostic("E0000", "t"), Diagnostic("W0000", "t", severity=WARNING)
    assert render.summary([]) == ""
    assert render.summary([error]) == "1 error"
    assert render.summary([warning, error, error]) == "2 errors, 1 warning"


def test_a_hidden_value_is_repeated_by_no_finding_about_the_same_source() -> None:
    source = SourceFile("spec.env", 'A="s\\"3cret" B="x"\nC="plain"\n')
    hidden = Diagnostic("E0001", "t", source, (Label(Span(0, 12), "here", hidden=True),))
    other = Diagnostic("E0002", "t", source, (Label(Span(13, 18), "there"),))
    drawn = render.text([other, hidden])
    assert "s\\" not in drawn
    assert "3cret" not in drawn
    assert drawn.count('A="**"*****" B="x"') == 2
    assert "^^^^^ there" in drawn


def test_tokens_are_never_drawn() -> None:
    token = "hf_" + "a1" * 12
    source = SourceFile("spec.env", f'run "--token={token}"\n')
    found = [Diagnostic("E0001", f"t {token}", source, (Label(Span(4, 8), token),), token, token)]
    assert token not in render.text(found)
    assert token not in json.dumps(render.document(found))
