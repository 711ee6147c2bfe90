"""docs/language.md says what the table of words says, and its examples are good specs."""

from __future__ import annotations

import os
import re

import pytest
from language_page import PATH, ROOT, about, codes, heading, section, written

from envspec.diagnostics import DiagnosticError
from envspec.language.parse import parse
from envspec.language.resolve import resolve
from envspec.language.statements import Word, every_word
from envspec.source import SourceFile

ALL = every_word()
HEADS = {
    "accelerator": "accelerator cuda 12.8", "resources": "resources", "packages": "packages",
    "system": "system", "extension": "extension x", "step": "step x", "env": "env",
    "asset": "asset bert-tiny", "service": "service db", "imports": "imports", "entry": "entry x",
    "claims": "claims",
}  # fmt: skip
NEEDED = {
    "step": {"run": 'run "x"'},
    "asset": {"sha256": f'sha256 "{"0" * 64}"'},
    "service": {"image": 'image "x"', "port": "port 1"},
    "entry": {"level": "level c1"},
}


def in_context(word: Word) -> str:
    """A whole spec in which the example of a word stands."""
    shown = word.example
    blocks = {
        "envspec": "envspec 1",
        "project": 'project demo {\n  source archive "a.tar.gz" sha256 "' + "0" * 64 + '"\n}',
        "platform": 'platform linux/amd64 {\n  base "python:3.11"\n  python 3.11\n}',
    }
    if word.inside in blocks:
        lines = blocks[word.inside].split("\n")
        kept = [line for line in lines if line.split() and line.split()[0] != word.word]
        blocks[word.inside] = "\n".join([kept[0], shown, *kept[1:]])
    elif word.inside:
        lines = [line for name, line in NEEDED.get(word.inside, {}).items() if name != word.word]
        if word.inside == "entry" and word.word not in {"run", "script"}:
            lines.append('run "x"')
        if word.inside == "asset" and word.word != "url":
            lines += [f'revision "{"0" * 40}"'] if word.word != "revision" else []
            lines += ['hub "a/b"'] if word.word != "hub" else []
        blocks["!"] = "\n".join([f"{HEADS[word.inside]} {{", *lines, shown, "}"])
        if word.word in {"secret"}:
            blocks["!secret"] = 'secret HF_TOKEN because "x"'
        if (word.inside, word.word) == ("claims", "entry"):
            blocks["!entry"] = 'entry smoke {\n  level c1\n  run "x"\n}'
        if word.inside == "entry" and word.word in {"asset", "service"}:
            blocks["!used"] = next(w.example for w in ALL if (w.inside, w.word) == ("", word.word))
    else:
        blocks[word.word] = shown
    return "\n".join(blocks.values())


def test_the_page_is_what_the_table_says() -> None:
    page = PATH.read_text(encoding="utf-8")
    wanted = written(page, ALL)
    if os.environ.get("ENVSPEC_REGENERATE") == "1":
        PATH.write_text(wanted, encoding="utf-8")
        return
    assert page == wanted, "write it anew: ENVSPEC_REGENERATE=1, then read the diff"


@pytest.mark.parametrize("word", ALL, ids=lambda w: f"{w.inside} {w.word}".strip())
def test_every_word_has_a_section(word: Word) -> None:
    text = section(PATH.read_text(encoding="utf-8"), word)
    assert text is not None
    for code in codes(word, about()):
        assert f"[{code}](rules/{code}.md)" in text
        assert (ROOT / "docs" / "rules" / f"{code}.md").is_file()


@pytest.mark.parametrize("word", ALL, ids=lambda w: f"{w.inside} {w.word}".strip())
def test_every_example_is_good(word: Word) -> None:
    source = SourceFile("spec.env", in_context(word))
    statements = parse(source)
    words = [s.keyword.text for s in statements]
    words += [line.keyword.text for s in statements for line in s.block or ()]
    assert word.word in {*words, "NAME"}
    resolve(statements, source)


def test_the_page_has_no_section_that_the_table_has_not() -> None:
    page = PATH.read_text(encoding="utf-8")
    assert set(re.findall(r"^###? `.*$", page, re.MULTILINE)) == {heading(w) for w in ALL}


def test_the_spec_at_the_top_is_good() -> None:
    block = re.search(r"```\n(envspec 1\n.*?)```", PATH.read_text(encoding="utf-8"), re.DOTALL)
    assert block is not None
    source = SourceFile("spec.env", block[1])
    assert resolve(parse(source), source).project.name == "demo"


def test_a_wrong_example_would_be_seen() -> None:
    word = next(w for w in ALL if w.word == "c4")
    source = SourceFile("spec.env", in_context(word).replace("pass", "perhaps"))
    with pytest.raises(DiagnosticError):
        resolve(parse(source), source)


def test_rules_are_about_statements_that_there_are() -> None:
    known = {f"{w.inside} {w.word}".strip() for w in ALL}
    assert set(about()) <= known
