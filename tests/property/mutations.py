"""Mutated specs, and what has to hold of each. `make fuzz` runs a million; a test runs a few.

python tests/property/mutations.py --count 1000000
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import NamedTuple

from strategies import HOSTILE, erase

from envspec import fixing, render
from envspec.diagnostics import Diagnostic, DiagnosticError
from envspec.language.format import print_spec
from envspec.language.json_document import document
from envspec.language.json_form import parse_json
from envspec.language.layout import formatted
from envspec.language.parse import parse
from envspec.language.resolve import resolve
from envspec.language.statements import every_word
from envspec.pipeline.check import of_text
from envspec.source import SourceFile

SECONDS = 1.0
"""No input may take longer."""
MEBIBYTES = 256
"""No process that reads them, one after the other, may ever hold more."""

ROOT = Path(__file__).parents[2]
PLACES = ("examples/*/spec.env", "tests/golden/check/*.env", "tests/rules/*/*.env")
TEXTS = [
    p.read_bytes().decode("utf-8", "replace") for place in PLACES for p in sorted(ROOT.glob(place))
]
PIECES = (
    *HOSTILE, *(w.word for w in every_word()), *(w.example for w in every_word()),
    "\n", "\r\n", "\r", "\x00", "\x1b[31m", "\x9b2J", "\u202e",
    "\u2028", "\xa0", "\ufeff", "\u3164", "\U000e0041", "\ud800", "x" * 500, "a { b { c { d",
    '"\\q"', "٣", "==1.0", "NAME", " = ", "[]", "[a,b]", "9" * 30, "'''", "==9!1", "sm_999",
    "accelerator cuda 99.9", "torch ==2.9.1+cu999 from pytorch-cu126", "driver >=0",
)  # fmt: skip


class Outcome(NamedTuple):
    """One input: the codes found in it, whether it was a good spec, and how long it took."""

    codes: tuple[str, ...]
    good: bool
    seconds: float


def mutate(text: str, random: Random) -> str:
    """A few edits: cut, repeat, swap, or put something hostile in."""
    for _ in range(random.choice((1, 1, 2, 4))):
        a, b = sorted(random.choices(range(len(text) + 1), k=2))
        b = min(b, a + random.choice((0, 1, 1, 8, 60)))
        lines = text.split("\n")
        kind = random.randrange(8)
        if kind == 0:
            text = text[:a] + text[b:]
        elif kind <= 2:
            text = text[:a] + random.choice(PIECES) + text[b:]
        elif kind == 3:
            text = text[:a] + text[a:b] * 3 + text[b:]
        elif kind == 4:
            random.shuffle(lines)
            text = "\n".join(lines)
        elif kind == 5:
            other = random.choice(TEXTS).split("\n")
            lines[random.randrange(len(lines))] = random.choice(other)
            text = "\n".join(lines)
        else:
            at = random.randrange(len(lines))
            words = lines[at].split(" ")
            words[random.randrange(len(words))] = random.choice(PIECES)
            lines[at] = " ".join(words)
            text = "\n".join(lines)
    return text


def source_of(number: int) -> SourceFile:
    """The input of a number; the same one every time."""
    random = Random(number)
    text = mutate(random.choice(TEXTS), random)
    return SourceFile(random.choice(("spec.env", "a\x1b[2J\nb.env")), text)


def look_at(source: SourceFile) -> Outcome:
    """Everything that reads a spec reads this one; whatever else than findings comes out raises."""
    started = time.perf_counter()
    findings = of_text(source)
    seconds = time.perf_counter() - started
    draw(source, findings)
    for finding in findings:
        if finding.fix:
            of_text(SourceFile(source.name, fixing.apply(source.text, [finding.fix])[0]))
    started = time.perf_counter()
    good = say_again(source)
    seconds = max(seconds, time.perf_counter() - started)
    assert good or findings, "neither a spec nor a finding"
    return Outcome(tuple(d.code for d in findings), good, seconds)


def draw(source: SourceFile, findings: tuple[Diagnostic, ...]) -> None:
    """Findings have places, and drawing them cannot move the cursor."""
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


def say_again(source: SourceFile) -> bool:
    """Layout, canonical text and JSON of a text that reads say the same; False for another."""
    try:
        statements = parse(source)
        laid_out = formatted(source)
        assert formatted(SourceFile("again", laid_out)) == laid_out
        spec = resolve(statements, source)
    except DiagnosticError:
        return False
    canonical = SourceFile("again", print_spec(spec))
    again = parse(canonical)
    assert erase(resolve(again, canonical)) == erase(spec)
    form = SourceFile("json", json.dumps(document(again, canonical)))
    assert erase(resolve(parse_json(form), form)) == erase(spec)
    return True


class Summary(NamedTuple):
    """A share of the inputs: the codes seen, good specs, the slowest, memory in MiB at the most."""

    codes: Counter[str]
    good: int
    slowest: tuple[float, int]
    memory: float


def share(numbers: range) -> Summary:
    """Look at many inputs, one after the other, in one process."""
    codes: Counter[str] = Counter()
    good, slowest = 0, (0.0, 0)
    for number in numbers:
        source = source_of(number)
        try:
            outcome = look_at(source)
        except Exception as error:
            raise AssertionError(f"input {number}: {source.text!r}") from error
        codes.update(set(outcome.codes))
        good += outcome.good
        slowest = max(slowest, (outcome.seconds, number))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Summary(codes, good, slowest, memory)


def main() -> int:
    """Look at many inputs on all processors and say what was seen."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--first", type=int, default=0)
    arguments = parser.parse_args()
    size = 2000
    last = arguments.first + arguments.count
    starts = range(arguments.first, last, size)
    shares = [range(a, min(a + size, last)) for a in starts]
    codes: Counter[str] = Counter()
    good, slowest, memory = 0, (0.0, 0), 0.0
    with multiprocessing.Pool() as pool:
        for done, seen in enumerate(pool.imap_unordered(share, shares), 1):
            codes += seen.codes
            good += seen.good
            slowest, memory = max(slowest, seen.slowest), max(memory, seen.memory)
            sys.stderr.write(f"\r{done * size:,} inputs")
    sys.stderr.write("\n")
    print(f"{arguments.count:,} inputs, {good:,} of them good specs, nothing but findings came out")
    print(f"slowest {slowest[0]:.3f} s (input {slowest[1]}), at most {memory:.0f} MiB a process")
    print(", ".join(f"{code} {count:,}" for code, count in sorted(codes.items())))
    return int(slowest[0] > SECONDS or memory > MEBIBYTES)


if __name__ == "__main__":
    sys.exit(main())
