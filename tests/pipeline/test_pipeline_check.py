"""Everything that can be said at once, and nothing that what is broken could make untrue."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from envspec import rules
from envspec.diagnostics import Diagnostic, DiagnosticError, Label
from envspec.language.parse import parse
from envspec.language.resolve import resolve_all
from envspec.model import Spec
from envspec.pipeline import check, load
from envspec.rules.view import View
from envspec.source import SourceFile

EXAMPLE = Path(__file__).parents[2] / "examples" / "x-transformers"
SPEC = """\
envspec 1
project demo {
  source archive "demo-1.0.tar.gz" sha256 "%s"
}
platform linux/amd64 {
  base "python:3.11"
  python 3.11
}
accelerator none
index lab "https://lab.example/simple"
packages {
  torch ==2.9.1+cpu from pytorch-cpu
  einops >=0.8
  hidden from lab
}
system {
  runtime libgl1
}
env {
  LD_PRELOAD="x"
}
entry a {
  level c3
  run "x" "y"
  env PATH="q"
}
claims {
  cuda_available true
  c0 pass
  c0_missing 3
  python_version 3.12
}
"""
SPEC %= "a" * 64


@pytest.fixture(autouse=True)
def two_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a new rule changes nothing here."""
    monkeypatch.setattr(rules, "RULES", {c: rules.RULES[c] for c in ("W0301", "E0303")})


def told(*changes: tuple[str, str]) -> list[str]:
    """`CODE line` of each finding about a changed spec."""
    text = SPEC
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    source = SourceFile("spec.env", text)
    return [
        f"{d.code} {source.line(source.position(d.span.start).line).strip()}"
        for d in check.of_text(source)
    ]


@pytest.fixture
def whole(two_rules: None) -> list[str]:
    """What is told of the spec as it stands."""
    return told()


def test_the_spec_of_these_tests_has_findings_of_every_kind(whole: list[str]) -> None:
    assert {line.split()[0] for line in whole} == {"E0303", "W0301"}
    assert len(whole) == 5


# The rule about claims has looked at the packages, and these findings point at none that is right.
CLAIMS = ("c0 pass", "python_version 3.12")


@pytest.mark.parametrize(
    ("broken", "code", "silent"),
    [
        # What is wrong, and the lines of which nothing can be said while it is.
        (("einops >=0.8", "einops =>0.8"), "E0203", CLAIMS),
        (("torch ==2.9.1+cpu", "torch ==2.9.1+cpu+x"), "E0203", ("cuda_available true", *CLAIMS)),
        (("hidden from lab", "hidden from labs"), "E0205", CLAIMS),
        (("  c0_missing 3", "  c0_missing three"), "E0203", ("c0 pass",)),
        (('  LD_PRELOAD="x"', '  LD_PRELOAD="x'), "E0103", ('LD_PRELOAD="x"', 'env PATH="q"')),
    ],
)
def test_rules_go_on_where_something_is_wrong(
    whole: list[str], broken: tuple[str, str], code: str, silent: tuple[str, ...]
) -> None:
    found = told(broken)
    rest = [line for line in whole if line.split(" ", 1)[1] not in silent]
    about_rules = [line for line in found if line[1:3] == "03"]
    assert [line for line in rest if line not in about_rules] == []
    assert code in [line.split()[0] for line in found]
    assert not set(silent) & {line.split(" ", 1)[1] for line in about_rules}


def test_errors_of_shape_and_of_meaning_at_once() -> None:
    found = told(
        ('base "python:3.11"', 'base "python:3.11'),
        ("einops >=0.8", "einops =>0.8"),
        ('  run "x" ', '  rnu "x" '),
        ("accelerator none", "accelerator cuda \u200b12.8"),
    )
    wrong = [line.split()[0] for line in found if line[1:3] in {"01", "02"}]
    assert wrong == ["E0103", "E0102", "E0203", "E0206", "E0201"]
    # A statement that is only half read gives no finding of its own.
    assert not any("platform" in line for line in found)


def test_an_index_whose_line_cannot_be_read_is_not_missed() -> None:
    found = told(('index lab "https://lab.example/simple"', 'index lab "https://lab.example'))
    assert "E0103" in [line.split()[0] for line in found]
    assert "E0205" not in [line.split()[0] for line in found]


def test_a_forbidden_character_in_a_comment_hides_nothing(whole: list[str]) -> None:
    found = told(("packages {", "# \u200b\npackages {"))
    assert [line for line in found if not line.startswith("E0102")] == whole


def test_a_brace_that_is_missing_gives_no_guesses() -> None:
    assert [line.split()[0] for line in told(("claims {", "claims"))] == ["E0101"]


def test_nothing_told_beside_an_error_goes_away_when_it_is_mended() -> None:
    """A token of the spec is broken; findings of rules are those of the spec that is whole."""
    whole = {d.title for d in check.of_text(SourceFile("spec.env", SPEC)) if d.code[1:3] == "03"}
    generator = random.Random(20)
    lines = SPEC.split("\n")[:-1]
    beside = 0
    for _ in range(400):
        number = generator.randrange(len(lines))
        words = lines[number].split(" ")
        index = generator.choice([i for i, word in enumerate(words) if word])
        word = words[index]
        words[index] = generator.choice(
            [
                f"{word[:1]}z{word[1:]}",
                f'"{word}',
                f"{word}\u200b",
                "=>9",
                f'{word}\\n"',
                f"é {word}",
            ]
        )
        text = "\n".join([*lines[:number], " ".join(words), *lines[number + 1 :]])
        source = SourceFile("spec.env", f"{text}\n")
        found = check.of_text(source)
        assert {d.title for d in _stopping(source)} <= {d.title for d in found}
        if any(d.code[1:3] != "03" for d in found):
            titles = {d.title for d in found if d.code[1:3] == "03"}
            beside += len(titles)
            assert titles <= whole, text
    assert beside > 400


def _stopping(source: SourceFile) -> tuple[Diagnostic, ...]:
    """What stops a verb that needs the whole spec."""
    try:
        return resolve_all(parse(source), source)[1]
    except DiagnosticError as error:
        return error.diagnostics


def test_a_rule_that_fails_on_half_a_spec_stops_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(view: View) -> tuple[Diagnostic, ...]:
        raise RuntimeError(view.spec.project.name)

    honest = rules.rule
    monkeypatch.setattr(rules, "rule", lambda code: failing if code == "W0301" else honest(code))
    found = told(("einops >=0.8", "einops =>0.8"))
    assert 'E0303 LD_PRELOAD="x"' in found
    assert "W0301" not in [line.split()[0] for line in found]


def _lonely(view: View) -> Iterator[Diagnostic]:
    """Says of einops that torch is not there."""
    names = {p.name: p for p in view.spec.packages}
    if "torch" not in names:
        yield Diagnostic("W0301", "lonely", view.source, (Label(names["einops"].span),))


def _unused(view: View) -> Iterator[Diagnostic]:
    """Says of an index that no package comes from it."""
    for index in view.spec.indexes:
        if not any(p.index == index.name for p in view.spec.packages):
            yield Diagnostic("W0301", "unused", view.source, (Label(index.span),))


@pytest.mark.parametrize(
    ("rule", "true", "broken"),
    [
        (_lonely, "  torch ==2.9.1+cpu from pytorch-cpu\n", "  torch =>2.9.1\n"),
        (_unused, "  hidden from lab\n", "  hidden from labs\n"),
    ],
)
def test_what_a_broken_item_may_be_is_not_said_to_be_missing(
    rule: rules.Rule, true: str, broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "rule", lambda _: rule)
    assert "W0301" not in [line.split()[0] for line in told()]
    assert "W0301" in [line.split()[0] for line in told((true, ""))]
    found = [line.split()[0] for line in told((true, broken))]
    assert found in (["E0203"], ["E0205"])


class Seen(list[dict[str, str]]):
    """What each run of the rules was told of the lock."""

    def check(
        self, spec: Spec, source: SourceFile, locked: Mapping[str, str] | None = None
    ) -> tuple[Diagnostic, ...]:
        self.append(dict(locked or {}))
        return ()


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Seen:
    seen = Seen()
    monkeypatch.setattr(rules, "check", seen.check)
    return seen


def test_rules_see_the_lock_and_run_once(seen: Seen) -> None:
    """Also where the lock is asked for afterwards, as `compile` and `verify` do."""
    path = EXAMPLE / "spec.env"
    assert check.check(path).findings == ()
    loaded = load.load(path)
    found = load.read_lock(loaded)
    assert found is not None
    assert load.checked_with(loaded, found[0]) is loaded
    assert len(seen) == 2
    assert [(s["torch"], s["einops"], len(s) > 10) for s in seen] == [
        ("2.13.0+cpu", seen[0]["einops"], True)
    ] * 2


def test_a_lock_that_is_stale_or_about_to_be_made_anew_is_not_shown(
    seen: Seen, tmp_path: Path
) -> None:
    path = tmp_path / "spec.env"
    text = (EXAMPLE / "spec.env").read_text(encoding="utf-8")
    path.write_text(text.replace(">=0.8.0", ">=0.7"), encoding="utf-8")
    (tmp_path / "spec.lock").write_bytes((EXAMPLE / "spec.lock").read_bytes())
    (tmp_path / "smoke.py").touch()
    assert [d.code for d in check.check(path).findings] == ["E0402"]
    loaded = load.load(path)
    with pytest.raises(DiagnosticError, match="E0402"):
        load.read_lock(loaded)
    load.load(EXAMPLE / "spec.env", use_lock=False)
    assert seen == [{}, {}, {}]


def test_what_only_the_lock_shows_stops_a_verb(monkeypatch: pytest.MonkeyPatch) -> None:
    def torn(spec: Any, source: SourceFile, locked: Mapping[str, str]) -> tuple[Diagnostic, ...]:
        return (Diagnostic("E0303", "seen in the lock", source),) if "torch" in locked else ()

    monkeypatch.setattr(rules, "check", torn)
    path = EXAMPLE / "spec.env"
    assert [d.title for d in check.check(path).findings] == ["seen in the lock"]
    with pytest.raises(DiagnosticError, match="seen in the lock"):
        load.load(path)
    loaded = load.load(path, use_lock=False)
    found = load.read_lock(loaded)
    assert found is not None
    with pytest.raises(DiagnosticError, match="seen in the lock"):
        load.checked_with(loaded, found[0])


def test_where_not_every_slip_is_told_no_rule_accuses_what_may_be_one() -> None:
    lines = "".join(f"  p{i} 1.{i}x\n" for i in range(300))
    text = SPEC.replace("packages {\n", "packages {\n" + lines)
    assert {d.code for d in check.of_text(SourceFile("spec.env", text))} == {"E0203"}
