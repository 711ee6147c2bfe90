"""Hostile texts in every field of a plan, and the flake as Nix's own parser has it.

`ENVSPEC_PROPERTY_EXAMPLES=100000` puts that many into it, a batch to each run of the parser.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from random import Random

from emit_sample import nix
from hostile_places import DEVEL, FULL, MARK, Path, hostile, put, texts
from hostile_reading import nix_tokens, same_text

from envspec.diagnostics import DiagnosticError
from envspec.emit.nix import flake
from envspec.plan import model as plan

EXAMPLES = int(os.environ.get("ENVSPEC_PROPERTY_EXAMPLES", "1600")) // 8
BATCH = 40
BORDER = "border-5e0c"
PLANS = (FULL, DEVEL)
_DIGEST = re.compile('"[0-9a-f]{16}"')
_NAME = re.compile(r"[A-Za-z0-9+._?=-]*")

# Fields whose text is looked up, taken apart or decides what is built, never printed as it stands;
# the language, the lock and the lowering hold each to a few values or to a shape.
CLOSED = {"platform", "kind", "toolkit", "python", "file", "layer", "stage", "level", "nar_hash"}


def parsed(flakes: list[str]) -> list[str]:
    """Each flake as Nix prints it again, in one run: elements of a list, a border before each."""
    text = "[\n" + "".join(f'"{BORDER}" (\n{f}\n)\n' for f in flakes) + "]"
    shown = nix("--parse", text=text).split(f'"{BORDER}"')
    assert len(shown) == len(flakes) + 1, "a text closed its flake"
    return shown[1:]


def same(marked: str, found: str, text: str) -> str:
    """What differs beside the text, "" where nothing does."""
    ours, rest = nix_tokens(_DIGEST.sub('"digest"', marked))
    theirs, other = nix_tokens(_DIGEST.sub('"digest"', found))
    if rest != other:
        return f"{rest - other} became {other - rest}"
    left = theirs - ours
    for one in (ours - theirs).elements():
        match = next((t for t in left if same_text(one, t, text)), None)
        if match is None and MARK in one:
            # A store path's name, which stands for a text and holds none of what it cannot.
            match = next((t for t in left if _NAME.fullmatch(t)), None)
        if match is None:
            return f"{one!r:.300} became one of {list(left)!r:.300}"
        left -= Counter([match])
    return f"{list(left)} came from nowhere" if left else ""


def batch(random: Random, said: Counter[str]) -> None:
    cases: list[tuple[Path, str, str, str]] = []
    while len(cases) < BATCH:
        value: plan.Plan = random.choice(PLANS)
        path = random.choice([p for p, _ in texts(value) if CLOSED.isdisjoint(p)])
        text = hostile(random)
        if path[-1] in {"floor", "sha256"}:
            text = text or "-"
        try:
            made = flake(put(value, path, text))
        except DiagnosticError as error:
            said["refused" if "E0603" in str(error) else str(error)] += 1
            continue
        cases.append((path, text, made, flake(put(value, path, MARK))))
    found = parsed([made for _, _, made, _ in cases])
    expected = parsed([marked for _, _, _, marked in cases])
    for (path, text, _, _), a, b in zip(cases, expected, found, strict=True):
        wrong = same(a, b, text)
        assert not wrong, f"{text!r:.200} at {path}: {wrong}"
        said["kept"] += 1


def test_a_flake_keeps_its_structure() -> None:
    random, said = Random(0), Counter[str]()
    while sum(said.values()) < EXAMPLES:
        batch(random, said)
    assert said.keys() == {"kept", "refused"}


def test_the_comparison_finds_what_breaks_out() -> None:
    """The test above is worth something."""
    plain = parsed([f'{{ a = "{MARK}"; }}'])[0]
    for text, broken in (
        ("x", '{ a = "x"; b = "y"; }'),
        ("${x}", 'x: { a = "${x}"; }'),
        ("x", '{ a = "Y!"; }'),
        ("x", "{ a = x: x; }"),
    ):
        assert same(plain, parsed([broken])[0], text), broken
    assert not same(plain, parsed(['{ a = "x y"; }'])[0], "x y")
