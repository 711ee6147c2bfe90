"""Whatever a text holds, reading it gives a spec or findings, and drawing those is harmless."""

from __future__ import annotations

import json
import os
from pathlib import Path
from random import Random

from strategies import HOSTILE, erase

from envspec import render, rules
from envspec.diagnostics import Diagnostic, DiagnosticError, in_order
from envspec.language.format import print_spec
from envspec.language.parse import parse
from envspec.language.resolve import resolve
from envspec.language.statements import WORDS
from envspec.model import Spec
from envspec.source import SourceFile

COUNT = 4 * int(os.environ.get("ENVSPEC_PROPERTY_EXAMPLES", "500"))
ROOT = Path(__file__).parents[2]
GOOD = [p.read_text(encoding="utf-8") for p in sorted((ROOT / "examples").glob("*/spec.env"))]
BAD = [p.read_text(encoding="utf-8") for p in sorted((ROOT / "tests/golden/check").glob("*.env"))]
PIECES = (
    *HOSTILE, *(w.word for w in WORDS), "\n", "\r\n", "\r", "\x00", "\x1b[31m", "\x9b2J", "\u202e",
    "\u2028", "\xa0", "\ufeff", "\u3164", "\U000e0041", "\ud800", "x" * 500, "a { b { c { d",
    '"\\q"',     "٣", "==1.0", "NAME", " = ", "[]", "[a,b]", "9" * 30, "'''",
)  # fmt: skip


def mutate(text: str, random: Random) -> str:
    """A few edits: cut, repeat, swap, or put something hostile in."""
    for _ in range(random.choice((1, 1, 2, 4))):
        a, b = sorted(random.choices(range(len(text) + 1), k=2))
        b = min(b, a + random.choice((0, 1, 1, 8, 60)))
        lines = text.split("\n")
        kind = random.randrange(7)
        if kind == 0:
            text = text[:a] + text[b:]
        elif kind <= 2:
            text = text[:a] + random.choice(PIECES) + text[b:]
        elif kind == 3:
            text = text[:a] + text[a:b] * 3 + text[b:]
        elif kind == 4:
            random.shuffle(lines)
            text = "\n".join(lines)
        else:
            at = random.randrange(len(lines))
            words = lines[at].split(" ")
            words[random.randrange(len(words))] = random.choice(PIECES)
            lines[at] = " ".join(words)
            text = "\n".join(lines)
    return text


def read(source: SourceFile) -> tuple[Spec | None, tuple[Diagnostic, ...]]:
    try:
        spec = resolve(parse(source), source)
    except DiagnosticError as error:
        return None, in_order(error.diagnostics)
    return spec, rules.check(spec, source)


def check_drawing(source: SourceFile, findings: tuple[Diagnostic, ...]) -> None:
    for finding in findings:
        for label in finding.labels:
            assert 0 <= label.span.start <= label.span.end <= len(source.text) + 1
    drawn = render.text(findings)
    assert drawn.replace("\n", "").isprintable(), ascii(drawn)
    assert all(len(line) < 2000 for line in drawn.split("\n"))
    coloured = render.text(findings, colour=True)
    for code in ("\x1b[31m", "\x1b[33m", "\x1b[34m", "\x1b[1m", "\x1b[0m"):
        coloured = coloured.replace(code, "")
    assert coloured == drawn
    json.loads(json.dumps(render.document(findings)))


def test_reading_is_total_and_drawing_is_plain() -> None:
    seen = {True: 0, False: 0}
    for number in range(COUNT):
        random = Random(number)
        text = mutate(random.choice(random.choice((GOOD, BAD))), random)
        source = SourceFile(random.choice(("spec.env", "a\x1b[2J\nb.env")), text)
        try:
            spec, findings = read(source)
            assert spec is not None or findings
            check_drawing(source, findings)
            if spec is not None:
                again = print_spec(spec)
                assert erase(read(SourceFile("again", again))[0]) == erase(spec)
        except Exception as error:
            raise AssertionError(f"mutation {number}: {text!r}") from error
        seen[spec is not None] += 1
    assert min(seen.values()) > COUNT // 50, "the mutations are too harsh or too tame to say much"
