"""docs/language.md and the table of words say the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from envspec.diagnostics import DiagnosticError
from envspec.language.parse import parse
from envspec.language.resolve import resolve
from envspec.language.statements import CLAIMS, MANY, ONCE, REQUIRED, WORDS, Word, words_in
from envspec.source import SourceFile

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")
ALL = (*WORDS, *(words_in("claims")[name] for name in CLAIMS))
OFTEN = {REQUIRED: "required", ONCE: "once", MANY: "any number"}
HEADS = {
    "accelerator": "accelerator cuda 12.8", "packages": "packages", "system": "system",
    "step": "step x", "env": "env", "imports": "imports", "entry": "entry x", "claims": "claims",
}  # fmt: skip


def heading(word: Word) -> str:
    return f"### `{word.inside}` › `{word.word}`" if word.inside else f"## `{word.word}`"


def section(word: Word) -> str:
    _, found, rest = PAGE.partition(f"\n{heading(word)}\n")
    assert found, f"no section {heading(word)}"
    return re.split(r"\n##", rest, maxsplit=1)[0]


def example(word: Word) -> str:
    found = re.search(r"- Example:(?: `(.+)`$|\n\n```\n(.*?)\n```)", section(word), re.M | re.S)
    assert found is not None
    return found[1] or found[2]


def in_context(word: Word) -> str:
    """A whole spec in which the example of a word stands."""
    shown = example(word)
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
        needed = ""
        if word.inside == "entry":
            needed = "" if word.word == "level" else "level c1\n"
            needed += "" if word.word in {"run", "script"} else 'run "x"\n'
        blocks[word.word + "!"] = f"{HEADS[word.inside]} {{\n{needed}{shown}\n}}"
    else:
        blocks[word.word] = shown
    return "\n".join(blocks.values())


@pytest.mark.parametrize("word", ALL, ids=lambda w: f"{w.inside} {w.word}".strip())
def test_every_word_has_a_section(word: Word) -> None:
    text = section(word)
    assert f"\n    {word.form}\n" in text
    assert f"- Often: {OFTEN[word.often]}" in text
    assert ("each name once" in text) == word.names
    assert re.search(r"^- Default: \S", text, re.MULTILINE)
    codes = re.search(r"^- Codes: (.+)", text, re.MULTILINE)
    assert codes is not None
    for code in re.findall(r"\[([EW]\d+)\]", codes[1]):
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
    known = {heading(w) for w in ALL}
    assert set(re.findall(r"^###? `.*$", PAGE, re.MULTILINE)) == known


def test_the_spec_at_the_top_is_good() -> None:
    block = re.search(r"```\n(envspec 1\n.*?)```", PAGE, re.DOTALL)
    assert block is not None
    source = SourceFile("spec.env", block[1])
    assert resolve(parse(source), source).project.name == "demo"


def test_a_wrong_example_would_be_seen() -> None:
    source = SourceFile("spec.env", in_context(ALL[-1]).replace("unstated", "perhaps"))
    with pytest.raises(DiagnosticError):
        resolve(parse(source), source)
