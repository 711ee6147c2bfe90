"""The layout of a spec: what it does to each kind of line, and what it refuses to do."""

from __future__ import annotations

import time

import pytest

from envspec.diagnostics import DiagnosticError
from envspec.language import layout
from envspec.language.layout import LayoutError, formatted
from envspec.language.limits import MAX_BYTES
from envspec.source import SourceFile


def of(text: str) -> str:
    return formatted(SourceFile("spec.env", text))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", ""),
        ("\n \n", ""),
        ("a", "a\n"),
        ("a\r\n", "a\n"),
        ("  a  \t b\t", "a b\n"),
        ("#", "#\n"),
        ("a#", "a  #\n"),
        ("a{}", "a {}\n"),
        ("a {\n\n}", "a {}\n"),
        ("a { # x\n}", "a {  # x\n}\n"),
        ("a {\n# x\n}", "a {\n  # x\n}\n"),
        ("a { b }", "a {\n  b\n}\n"),
        ("a { b { c } }", "a {\n  b {\n    c\n  }\n}\n"),
        ("a { b {} }", "a {\n  b {}\n}\n"),
        ("a {} # x", "a {}  # x\n"),
        ("a\n\n\n\nb", "a\n\nb\n"),
        ("a\nb", "a\nb\n"),
        ("a\nb {}\nc", "a\n\nb {}\n\nc\n"),
        ("a\n# x\nb {}", "a\n\n# x\nb {}\n"),
        ("a\n# x\n\nb {}", "a\n# x\n\nb {}\n"),
        ("a {}\n# x\n\nb", "a {}\n\n# x\n\nb\n"),
        ("# x\na {}", "# x\na {}\n"),
        ("a {\n b {\n }\n c\n}", "a {\n  b {}\n  c\n}\n"),
        ('a "x"NAME="y"', 'a "x" NAME="y"\n'),
        ('a "#{}" # "', 'a "#{}"  # "\n'),
    ],
)
def test_each_shape_has_one_layout(text: str, wanted: str) -> None:
    assert of(text) == wanted
    assert of(wanted) == wanted


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        ("a 1\nbb 2", "a  1\nbb 2"),
        ("a 1\n# x\nbb 2", "a  1\n# x\nbb 2"),
        ("a 1\n\nbb 2", "a 1\n\nbb 2"),
        ("a 1\nb {}\ncc 2", "a 1\nb {}\ncc 2"),
        ("a\nbb 2\nccc", "a\nbb 2\nccc"),
        ("a >=1 from x\nb from x", "a >=1 from x\nb     from x"),
        ("a from x\nb from x", "a from x\nb from x"),
        ("a 1 2 from x\nb 3 from x", "a 1 2 from x\nb 3   from x"),
        ('a b "x"\na ccc "x"', 'a b   "x"\na ccc "x"'),
        ('a "b" "x"\na "ccc" "x"', 'a "b" "x"\na "ccc" "x"'),
        ('a b "x" "y"\na ccc "x"', 'a b "x" "y"\na ccc "x"'),
        ('a because "x"\nb 1 because "x"', 'a   because "x"\nb 1 because "x"'),
        ('a because "x" from y\nb 1 from y', 'a   because "x" from y\nb 1 from y'),
        ("a from x from y\nbb from z", "a  from x from y\nbb        from z"),
        ("a because y\nb 1 from y", "a because y\nb 1 from y"),
        ('a from "y"\nb 1 from y', 'a from "y"\nb 1    from y'),
        ("from x\nbecause y", "from    x\nbecause y"),
        (f"a 1\n{'b' * 33} 2\ncc 3", f"a  1\n{'b' * 33} 2\ncc 3"),
        (f"a 1\n{'b' * 32} 2", f"a{' ' * 32}1\n{'b' * 32} 2"),
        ("a # x\nbb # y", "a   # x\nbb  # y"),
        ("a # x\n\nbb # y", "a  # x\n\nbb  # y"),
        (f'a # x\nb "{"c" * 60}" # y', f'a  # x\nb "{"c" * 60}"  # y'),
        ("字 1\na 2", "字 1\na  2"),
        ("e\u0301 1\nbb 2", "e\u0301  1\nbb 2"),
    ],
)
def test_columns_line_up_within_a_run(lines: str, wanted: str) -> None:
    inside = "".join(f"  {line}".rstrip(" ") + "\n" for line in wanted.split("\n"))
    assert of("x {\n" + lines + "\n}") == "x {\n" + inside + "}\n"


def test_at_the_top_a_run_is_of_one_word() -> None:
    assert of("index a 1\nindex bb 2 from x\nenvspec 1\naccelerator none") == (
        "index a 1\nindex bb 2 from x\nenvspec 1\naccelerator none\n"
    )
    assert of('index a "1"\nindex bb "2"') == 'index a  "1"\nindex bb "2"\n'


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("}", {"E0101"}),
        ("a {", {"E0104"}),
        ('a "', {"E0103"}),
        ("a \x07", {"E0102"}),
        ("a # \u202e", {"E0102"}),
        ("\ufeffa", {"E0102"}),
        ("a\rb", {"E0102"}),
        ('a "\\n"\n}\nb {', {"E0101", "E0104"}),
        ("a {\nb {\nc {\n}\n}\n}", {"E0101"}),
        ("a\n" * 10_001, {"E0105"}),
        ("#" * (MAX_BYTES + 1), {"E0105"}),
    ],
)
def test_a_broken_text_has_findings_and_no_layout(text: str, codes: set[str]) -> None:
    with pytest.raises(DiagnosticError) as caught:
        of(text)
    assert {d.code for d in caught.value.diagnostics} == codes


def test_a_layout_that_nothing_could_read_again_is_refused() -> None:
    lines = "".join(f"a{n % 9} # {'x' * 90}\n" for n in range(9_900))
    text = f"b {{\n{'c' * 30} 1 # x\n{lines}}}\n"
    assert len(text) < MAX_BYTES
    with pytest.raises(DiagnosticError, match=r"E0105 .* when it is formatted"):
        of(text)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("a b\n", "changes its statements"),
        ("a\nb  # x\n\n", "moves a comment"),
        ("a\n# x\nb\n", "moves a comment"),
        ("a\nb\n# x\n", "moves a comment"),
        ("a\nb\n", "moves a comment"),
        ("a\nb  # y\n", "moves a comment"),
        ("a {}\nb  # x\n", "changes its statements"),
        ("a {\n", "cannot be read"),
        ('a\n"b"  # x\n', "changes its statements"),
    ],
)
def test_the_formatter_distrusts_itself(
    written: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layout, "_written", lambda lines: written)
    with pytest.raises(LayoutError, match=message):
        of("a # x\nb")


def test_a_long_spec_takes_a_moment_and_twice_as_long_takes_twice() -> None:
    def took(count: int) -> float:
        text = "packages {\n" + "".join(f"package-{n} >=1.{n}\n" for n in range(count)) + "}\n"
        best = []
        for _ in range(2):
            begin = time.process_time()
            of(text)
            best.append(time.process_time() - begin)
        return min(best)

    took(100)
    half, whole = took(4_990), took(9_990)
    assert whole < 4 * half
    assert whole < 5, "measured: 0.5 to 0.9 s on two slow cores"
