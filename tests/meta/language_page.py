"""What docs/language.md says of each statement, worked out from the table of words.

    ENVSPEC_REGENERATE=1 python -m pytest tests/meta/test_language_page.py

writes the forms and the lists anew; the prose between them is written by hand.
"""

from __future__ import annotations

import re
from pathlib import Path

from envspec import rules
from envspec.language import values
from envspec.language.statements import MANY, ONCE, REQUIRED, Param, Word

ROOT = Path(__file__).parents[2]
PATH = ROOT / "docs" / "language.md"
OFTEN = {REQUIRED: "required", ONCE: "once", MANY: "any number"}
_LIST = re.compile(r"^- Values: .*?(?=^##|\Z)", re.MULTILINE | re.DOTALL)


def heading(word: Word) -> str:
    return f"### `{word.inside}` › `{word.word}`" if word.inside else f"## `{word.word}`"


def about() -> dict[str, list[str]]:
    """Statement (``accelerator driver``) → codes of the rules that look at it."""
    found: dict[str, list[str]] = {}
    for code, rule in rules.RULES.items():
        for statement in rule.about:
            found.setdefault(statement, []).append(code)
    return found


def codes(word: Word, of_rules: dict[str, list[str]]) -> list[str]:
    checked = any(p.shape not in {values.TEXT} for p in word.params)
    key = f"{word.inside} {word.word}".strip()
    return sorted({*word.codes, *(["E0203"] if checked else []), *of_rules.get(key, [])})


def described(param: Param) -> str:
    label = param.label if param.key != "name" or " " not in param.label else "NAME"
    kind = "" if param.kind == "word" else f" ({param.kind})"
    return f"`{label}`{kind} {param.shape.expected}"


def bullets(word: Word, of_rules: dict[str, list[str]]) -> str:
    """The list at the end of a section."""
    said = "; ".join(map(described, word.params)) or "none; its block has lines"
    found = ", ".join(f"[{c}](rules/{c}.md)" for c in codes(word, of_rules))
    often = OFTEN[word.often] + (", each name once" if word.names else "")
    example = f" `{word.example}`" if "\n" not in word.example else ""
    lines = [
        f"- Values: {said}",
        f"- Often: {often}",
        f"- Default: {word.default}",
        f"- Codes: {found or 'none of its own'}",
        f"- Example:{example}",
    ]
    text = "\n".join(lines) + "\n"
    return text if example else f"{text}\n```\n{word.example}\n```\n"


def forms(word: Word) -> str:
    """How a section shows the ways to write a statement, one a line."""
    if len(word.forms) == 1:
        return f"    {word.form}\n"
    ways = word.form.removeprefix(word.word).split(" | ")
    return "".join(f"    {word.word} {way.strip()}\n" for way in ways)


def section(page: str, word: Word) -> str | None:
    """The text of a section without its heading, None where there is none."""
    _, found, rest = page.partition(f"\n{heading(word)}\n")
    return re.split(r"^##", rest, maxsplit=1, flags=re.MULTILINE)[0] if found else None


def prose(text: str) -> str:
    """What a person wrote between the forms and the list."""
    lines = text.strip("\n").split("\n")
    while lines and (lines[0].startswith("    ") or not lines[0]):
        lines.pop(0)
    kept = "\n".join(lines)
    kept = re.split(r"^- (?:Values|Often): ", kept, maxsplit=1, flags=re.MULTILINE)[0]
    return kept.strip()


def written(page: str, words: tuple[Word, ...]) -> str:
    """The page with every form and list as the table has them, in the order of the table."""
    head = page[: page.index("\n## `")]
    tail = ""
    found = re.search(r"^## [^`]", page[page.index("\n## `") :], re.MULTILINE)
    if found:
        tail = "\n" + page[page.index("\n## `") + found.start() :]
    of_rules = about()
    parts = []
    for word in words:
        text = prose(section(page, word) or "") or f"{word.meaning}."
        parts.append(f"\n{heading(word)}\n\n{forms(word)}\n{text}\n\n{bullets(word, of_rules)}")
    return head + "".join(parts) + tail
