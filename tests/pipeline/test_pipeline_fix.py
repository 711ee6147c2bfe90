"""Fixes in rounds, never to the worse; writing over nothing but what was read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from envspec.diagnostics import WARNING, Diagnostic, DiagnosticError, Edit, Fix, Label
from envspec.pipeline import fix as fixing
from envspec.source import SourceFile, Span


def finding(source: SourceFile, word: str, new: str | None, code: str = "E0201") -> Diagnostic:
    at = Span(source.text.index(word), source.text.index(word) + len(word))
    fix = None if new is None else Fix.replace(at, new, f"write `{new}`")
    severity = WARNING if code.startswith("W") else "error"
    return Diagnostic(code, f"`{word}`", source, (Label(at),), fix=fix, severity=severity)


def checker(*known: tuple[str, str | None, str]) -> fixing.Check:
    """Finds words, each with its fix."""

    def check(source: SourceFile) -> tuple[Diagnostic, ...]:
        return tuple(finding(source, w, new, code) for w, new, code in known if w in source.text)

    return check


def fixed(text: str, check: fixing.Check) -> tuple[str, dict[str, int], list[str]]:
    source = SourceFile("spec.env", text)
    result = fixing.fix(source, check(source), check)
    return result.source.text, dict(result.counts), [d.title for d in result.findings]


def test_rounds_go_on_until_nothing_changes() -> None:
    check = checker(("one", "two", "E0201"), ("two", "three", "E0203"), ("bad", None, "E0303"))
    assert fixed("one bad", check) == ("three bad", {"E0201": 1, "E0203": 1}, ["`bad`"])


def test_a_fix_that_undoes_another_ends() -> None:
    check = checker(("ping", "pong", "W0301"), ("pong", "ping", "W0301"))
    text, counts, _ = fixed("ping", check)
    assert (text, counts) == ("ping", {"W0301": fixing.MAX_ROUNDS})


def test_a_fix_that_changes_nothing_ends() -> None:
    assert fixed("same", checker(("same", "same", "E0201"))) == ("same", {}, ["`same`"])


def test_a_fix_that_makes_it_worse_is_left_out_and_the_others_are_applied() -> None:
    check = checker(
        ("good", "fine", "E0203"),
        ("evil", "worse worst", "E0203"),
        ("also", "right", "W0301"),
        ("worse", None, "E0203"),
        ("worst", None, "E0203"),
    )
    text, counts, left = fixed("good evil also", check)
    assert (text, counts) == ("fine evil right", {"E0203": 1, "W0301": 1})
    assert left == ["`evil`"]


def test_a_warning_is_not_mended_by_an_error() -> None:
    check = checker(("warn", "err", "W0301"), ("err", None, "E0303"))
    assert fixed("warn", check) == ("warn", {}, ["`warn`"])


def test_what_an_unknown_word_has_hidden_may_come_to_light() -> None:
    hidden = (("one", None, "E0203"), ("two", None, "E0303"), ("three", None, "E0203"))
    check = checker(("packges", "packages one two three", "E0201"), *hidden)
    assert fixed("packges", check)[0] == "packages one two three"
    check = checker(("packges", "packages one two three", "E0203"), *hidden)
    assert fixed("packges", check)[0] == "packges"


def test_what_is_said_of_a_package_once_it_is_an_extension_may_come_to_light() -> None:
    hidden = (("one", None, "E0330"), ("two", None, "E0331"))
    check = checker(("package", "extension one two", "E0340"), *hidden)
    assert fixed("package", check)[0] == "extension one two"
    check = checker(("package", "extension one two", "E0339"), *hidden)
    assert fixed("package", check)[0] == "package"


def test_a_fix_of_several_edits_stays_one_and_keeps_the_files_line_ends() -> None:
    def check(source: SourceFile) -> tuple[Diagnostic, ...]:
        if "new" in source.text:
            return ()
        end = len(source.text)
        edits = (Edit(Span(0, 1), "x"), Edit(Span(end, end), "new\nlines\r\n"))
        return (Diagnostic("E0303", "t", source, fix=Fix("two edits", edits)),)

    assert fixed("a\r\nb\r\n", check)[0] == "x\r\nb\r\nnew\r\nlines\r\n"
    assert fixed("a\nb\n", check)[0] == "x\nb\nnew\nlines\r\n"


def test_a_fix_for_another_file_is_not_applied() -> None:
    lock = SourceFile("spec.lock", "one")
    source = SourceFile("spec.env", "one")
    result = fixing.fix(source, [finding(lock, "one", "two")], lambda _: ())
    assert (result.source, result.counts) == (source, ())


def test_diff_of_a_text_without_a_last_newline() -> None:
    old, new = SourceFile("a.env", "x\ny\u2028z"), SourceFile("a.env", "x\nw")
    assert fixing.diff(old, old) == ""
    assert fixing.diff(old, new).split("\n") == [
        "--- a.env", "+++ a.env", "@@ -1,2 +1,2 @@", " x",
        "-y\u2028z", "\\ No newline at end of file", "+w", "\\ No newline at end of file", "",
    ]  # fmt: skip


def refusal(path: Path, before: str = "old") -> Diagnostic:
    with pytest.raises(DiagnosticError) as caught:
        fixing.write(path, SourceFile(str(path), before), SourceFile(str(path), "new"))
    (found,) = caught.value.diagnostics
    assert (found.code, found.cause) == ("E0603", "nothing was changed")
    return found


def test_a_file_that_changed_since_it_was_read_is_left(tmp_path: Path) -> None:
    path = tmp_path / "spec.env"
    path.write_text("somebody else's")
    assert "it has changed since it was read" in refusal(path).title
    assert path.read_text() == "somebody else's"
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_no_file_any_more_is_left(tmp_path: Path) -> None:
    assert "no such file" in refusal(tmp_path / "gone.env").title
    (tmp_path / "loop.env").symlink_to("loop.env")
    refusal(tmp_path / "loop.env")
    os.mkfifo(tmp_path / "pipe.env")
    assert "it is not a file" in refusal(tmp_path / "pipe.env").title
    assert sorted(p.name for p in tmp_path.iterdir()) == ["loop.env", "pipe.env"]


def test_a_write_that_fails_leaves_the_old_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "spec.env"
    path.write_text("old")

    def full(_: Path, target: Path) -> None:
        raise OSError(28, "No space left on device", str(target))

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(DiagnosticError, match="E0504 no space left"):
        fixing.write(path, SourceFile("spec.env", "old"), SourceFile("spec.env", "new"))
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
