"""The only place that quotes: whatever a value holds, it stays the value it was."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest
from emit_sample import CONTROL, HOSTILE, instructions, nix_values, unquoted
from hypothesis import given, settings
from hypothesis import strategies as st

from envspec.diagnostics import DiagnosticError
from envspec.emit import encode
from envspec.emit.encode import Encoded

ENCODERS: tuple[Callable[[str], Encoded], ...] = (
    encode.token,
    encode.shell_word,
    encode.comment,
    lambda text: encode.docker_json(["echo", text]),
    encode.docker_quoted,
    lambda text: encode.docker_pairs({"A": text}),
    encode.nix_string,
    lambda text: encode.nix_list(["a", text]),
)
NAMES = ("token", "shell_word", "comment", "json", "quoted", "pairs", "nix_string", "nix_list")


def texts() -> st.SearchStrategy[str]:
    """Hostile texts without control characters, which every encoder refuses."""
    plain = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=20)
    return st.one_of(
        st.sampled_from(HOSTILE), st.lists(st.sampled_from(HOSTILE)).map("".join), plain
    )


def around(line: str) -> list[tuple[str, bool, tuple[str, ...]]]:
    """The instruction between two others, as BuildKit reads it; nothing else may be there."""
    first, *between, last = instructions(f"FROM scratch\n{line}\nUSER nobody\n")
    assert (first.cmd, last.cmd, last.value) == ("FROM", "USER", ("nobody",))
    return [(c.cmd, c.json, c.value) for c in between]


@pytest.mark.parametrize("encoder", ENCODERS, ids=NAMES)
def test_control_characters_are_refused_and_not_cleaned(encoder: Callable[[str], Encoded]) -> None:
    for char in CONTROL:
        for text in (char, f"a{char}", f"{char}b", f"a{char}b"):
            with pytest.raises(DiagnosticError) as caught:
                encoder(text)
            (finding,) = caught.value.diagnostics
            assert finding.code == "E0603"
            assert f"U+{ord(char):04X}" in finding.title
            assert char not in finding.title + finding.cause + finding.hint


@pytest.mark.parametrize("encoder", ENCODERS[1:], ids=NAMES[1:])
def test_a_value_that_no_line_can_hold_is_refused(encoder: Callable[[str], Encoded]) -> None:
    for text in ("x" * (encode.MAX_LINE + 1), "字" * (encode.MAX_LINE // 3 + 1)):
        with pytest.raises(DiagnosticError, match="E0603"):
            encoder(text)


def test_many_short_arguments_cannot_make_a_line_that_buildkit_refuses() -> None:
    with pytest.raises(DiagnosticError, match="too long"):
        encode.docker_json(["argument"] * 10_000)


@settings(max_examples=300, deadline=None)
@given(st.lists(texts(), min_size=1, max_size=4))
def test_exec_form_keeps_the_argument_list(argv: list[str]) -> None:
    (found,) = around(f"RUN {encode.docker_json(argv)}")
    assert found == ("RUN", True, tuple(argv))


@settings(max_examples=300, deadline=None)
@given(texts(), texts())
def test_pairs_keep_their_values_and_expand_nothing(first: str, second: str) -> None:
    for instruction in ("ENV", "LABEL"):
        pairs = encode.docker_pairs({"A": first, "B.c": second})
        ((cmd, _, value),) = around(f"{instruction} {pairs}")
        assert cmd == instruction
        names, values = value[0::2] if len(value) == 4 else (), value[1::2]
        assert tuple(names) == ("A", "B.c")
        assert [unquoted(v) for v in values] == [first, second]


@settings(max_examples=300, deadline=None)
@given(texts())
def test_a_comment_is_nothing_to_the_parser(text: str) -> None:
    assert around(encode.comment(text)) == []


@settings(max_examples=100, deadline=None)
@given(st.lists(texts(), min_size=1, max_size=4))
def test_shell_words_reach_a_program_as_they_were(words: list[str]) -> None:
    line = " ".join(encode.shell_word(w) for w in words)
    done = subprocess.run(
        ["sh", "-c", f"printf '%s\\n' {line}"], capture_output=True, check=True, timeout=30
    )
    assert done.stdout.decode("utf-8") == "".join(f"{w}\n" for w in words)


def test_nix_strings_keep_their_value() -> None:
    texts_ = [*HOSTILE, *(a + b for a in HOSTILE[:40] for b in HOSTILE[:40])]
    assert nix_values(encode.nix_list(texts_)) == texts_


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("python:3.11-slim@sha256:0a", True),
        ("linux/amd64", True),
        ("a=b,c+d!", True),
        ("", False),
        ("-x", False),
        ("--mount", False),
        ("a b", False),
        ('a"b', False),
        ("a$b", False),
        ("a\\b", False),
        ("a#b", False),
        ("a'b", False),
        ("é", False),
        ("{x}", False),
    ],
)
def test_tokens(text: str, good: bool) -> None:
    if good:
        assert encode.token(text) == text
    else:
        with pytest.raises(DiagnosticError, match="E0603"):
            encode.token(text)


def test_finalize_lets_encoded_text_through_and_nothing_else() -> None:
    assert encode.finalize(Encoded("x")) == "x"
    for value in ("x", 1, None, ["x"], b"x", Encoded("x") + "y"):
        with pytest.raises(TypeError, match="bare"):
            encode.finalize(value)
