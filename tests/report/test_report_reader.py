"""The reader takes what the writer writes, and nothing else."""

from __future__ import annotations

import copy
import json
import os
import random
import string
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from report_room import ENTRY, GOOD, IDENTITY, Made, make

from envspec.diagnostics import DiagnosticError
from envspec.report import consistency, reader, shapes
from envspec.report.document import dumps
from envspec.verify import verdicts
from envspec.verify.claims import model as claims

MUTANTS = int(os.environ.get("ENVSPEC_REPORT_MUTANTS", "10000"))
CODES = {"E0830", "E0831", "E0832"}
Place = tuple[Any, ...]


def leaves(value: Any, at: Place = ()) -> Iterator[Place]:
    """Where values stand that are neither objects nor lists, and empty ones of these."""
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    if not items or not value:
        yield at
    for key, item in items:
        yield from leaves(item, (*at, key))


def kinds(report: dict[str, Any]) -> list[Place]:
    """One place of each kind: the first element stands for the others of its list."""
    found: dict[Place, Place] = {}
    for at in leaves(report):
        found.setdefault(tuple("*" if isinstance(key, int) else key for key in at), at)
    return list(found.values())


def put(report: dict[str, Any], at: Place, value: Any) -> dict[str, Any]:
    """A report with another value in a place."""
    changed = copy.deepcopy(report)
    inner: Any = changed
    for key in at[:-1]:
        inner = inner[key]
    inner[at[-1]] = value
    return changed


def get(report: Any, at: Place) -> Any:
    for key in at:
        report = report[key]
    return report


def refusal(text: str) -> DiagnosticError | None:
    """The error of a text; None where it is taken. Anything but a finding is a crash."""
    found = None
    try:
        reader.loads(text)
    except DiagnosticError as error:
        found = error
    assert found is None or {d.code for d in found.diagnostics} <= CODES
    return found


def code(text: str) -> str:
    error = refusal(text)
    return error.diagnostics[0].code if error else ""


def test_what_is_written_is_read(reports: dict[str, Made]) -> None:
    for made in reports.values():
        assert reader.read(made.path) == made.report


def test_the_reports_are_of_every_kind(reports: dict[str, Made]) -> None:
    """What the other tests look at is worth looking at."""
    rungs = [r for m in reports.values() for r in m.report["rungs"].values()]
    assert {r["verdict"] for r in rungs} == {"pass", "fail", "blocked", "n/a", "error"}
    judged = {c["verdict"] for m in reports.values() for c in m.report["claims"]}
    assert judged >= {"confirmed", "overclaim", "mismatch", "inconclusive", "unstated"}


def test_no_verdict_can_be_changed_alone(reports: dict[str, Made]) -> None:
    """Every verdict to every other word that stands in such a place. A cause may be another one,
    and may neither come nor go."""
    every = [*vars(verdicts).values(), *vars(claims).values()]
    words = {w for w in every if isinstance(w, str) and w.replace("/", "").isalpha()}
    tried = 0
    for made in reports.values():
        for at in leaves(made.report):
            if at[-1] not in {"verdict", "cause"} or "findings" in at:
                continue
            now = get(made.report, at)
            for word in [*words, None]:
                if word != now and (at[-1] == "verdict" or word is None or now is None):
                    tried += 1
                    assert refusal(dumps(put(made.report, at, word))), (at, word)
    assert tried > 1000


@pytest.mark.parametrize("field", ["claimed", "observed", "name"])
def test_no_claim_can_be_changed_alone(good: Made, field: str) -> None:
    for number in range(len(good.report["claims"])):
        at = ("claims", number, field)
        assert refusal(dumps(put(good.report, at, "2"))), at


def test_no_score_can_be_changed_alone(bad: Made) -> None:
    for at in leaves(bad.report["scores"], ("scores",)):
        assert code(dumps(put(bad.report, at, get(bad.report, at) + 1))) == "E0832", at


def test_a_wrong_type_is_refused_in_every_place(reports: dict[str, Made]) -> None:
    """And the finding names the place."""
    strange: tuple[Any, ...] = (None, True, 7, 7.5, "words", [], {}, [[]], {"a": 1})
    for made in reports.values():
        for at in kinds(made.report):
            free = at[0] == "identity" or "details" in at
            now = get(made.report, at)
            nullable = now is None or at[-1] in {"cause", "exit_code", "signal", "recorded", "rate"}
            for value in strange:
                alike = type(value) is type(now) or {type(value), type(now)} <= {int, float}
                if free or alike or nullable:
                    continue
                error = refusal(dumps(put(made.report, at, value)))
                assert error, (at, value)
                assert "`$." in error.diagnostics[0].title


def test_a_missing_field_is_named(good: Made) -> None:
    for name in good.report:
        left = {k: v for k, v in good.report.items() if k != name}
        error = refusal(json.dumps(left))
        assert error
        assert name in error.diagnostics[0].title


def test_an_unknown_field_is_taught(good: Made) -> None:
    error = refusal(dumps(put(good.report, ("engine", "wekness"), [])))
    assert error
    assert "unknown field `wekness`" in error.diagnostics[0].title
    assert "did you mean `weaknesses`?" in error.diagnostics[0].title


@pytest.mark.parametrize("version", [2, 99])
def test_another_schema_is_its_own_finding(good: Made, version: int) -> None:
    assert code(dumps({**good.report, "schema": version, "more": 1})) == "E0831"


@pytest.mark.parametrize("version", [0, -1, True, "1", 1.0, None, [1]])
def test_a_schema_that_is_no_version(good: Made, version: object) -> None:
    assert code(dumps({**good.report, "schema": version})) == "E0830"


HOSTILE = {
    "nothing": "",
    "no object": "[]",
    "a number": "7",
    "deep": "[" * 200_000,
    "deep objects": '{"a":' * 100_000,
    "twice": '{"schema": 1, "schema": 1}',
    "not a number": '{"schema": NaN}',
    "without end": '{"schema": 1e999}',
    "many digits": '{"schema": ' + "9" * 5000 + "}",
    "half a string": '{"schema": "',
    "NUL": "\0",
    "a mark of the order of bytes": "\ufeff{}",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_what_is_no_report(text: str) -> None:
    assert code(text) == "E0830"


def test_bounds(good: Made) -> None:
    deep: Any = "bottom"
    for _ in range(shapes.DEEPEST + 1):
        deep = {"a": deep}
    for at, value in (
        (("identity", "deep"), deep),
        (("identity", "long"), "x" * (shapes.LONGEST + 1)),
        (("identity", "many"), [0] * (shapes.MOST + 1)),
        (("project",), "x" * (shapes.LONGEST + 1)),
        (("network",), ["x"] * (shapes.MOST + 1)),
        (("project",), "half \ud800"),
        (("identity", "\ud800"), 1),
        (("engine", "build_seconds"), -1.0),
        (("evidence", 0, "log"), "../../etc/passwd"),
        (("evidence", 0, "log"), ".hidden"),
        (("evidence", 0, "log"), "a\nb"),
    ):
        assert code(json.dumps(put(good.report, at, value))) == "E0830", at


def test_a_file_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "latin").write_bytes(b'{"project": "\xff"}')
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").write_bytes(b" " * 2000)
    monkeypatch.setattr(shapes, "LARGEST", 1000)
    for name in ("latin", "folder", "pipe", "large", "absent", "x" * 300, "nul\0"):
        with pytest.raises(DiagnosticError) as caught:
            reader.read(tmp_path / name)
        assert caught.value.diagnostics[0].code == "E0833", name


ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 2**70, 1.5, 1e300, "", "pass", "fail", "n/a", "\0", "\u202e"),
    *("<script>", "\ud800", "0" * 64, [], {}, [None], {"verdict": "pass"}, "c0", "identity"),
)


def tree_mutant(report: dict[str, Any], places: list[Place], dice: random.Random) -> str:
    """One to three places changed, removed, doubled or exchanged."""
    changed = copy.deepcopy(report)
    for _ in range(dice.randint(1, 3)):
        at = dice.choice(places)
        inner: Any = changed
        try:
            for key in at[: dice.randint(0, len(at) - 1)]:
                inner = inner[key]
            key = dice.choice(list(inner) if isinstance(inner, dict) else range(len(inner)))
            kind = dice.randrange(5)
            if kind == 0:
                del inner[key]
            elif kind == 1 and isinstance(inner, list):
                inner.append(copy.deepcopy(inner[key]))
            elif kind == 2 and isinstance(inner, dict):
                inner[dice.choice(["extra", "verdict", "schema", "\0"])] = dice.choice(ODD)
            elif kind == 3:
                inner[key] = copy.deepcopy(get(report, dice.choice(places)))
            else:
                inner[key] = dice.choice(ODD)
        except (KeyError, IndexError, TypeError):
            continue
    return json.dumps(changed)


def text_mutant(text: str, dice: random.Random) -> str:
    """Characters changed, cut out or put in."""
    at = dice.randrange(len(text))
    other = dice.choice([*string.printable, "\0", "\ud800", "\u202e", '"', "}", "]"])
    kind = dice.randrange(4)
    if kind == 0:
        return text[:at] + other + text[at + 1 :]
    if kind == 1:
        return text[:at] + other + text[at:]
    if kind == 2:
        return text[:at] + text[at + dice.randint(1, 40) :]
    return text[:at]


def told(report: dict[str, Any]) -> Any:
    """All that anyone takes from a report at a glance."""
    return (
        report["verdict"],
        {name: (r["verdict"], bool(r["cause"])) for name, r in report["rungs"].items()},
        {c["name"]: (c["observed"], c["verdict"]) for c in report["claims"]},
    )


def test_ten_thousand_mutants(reports: dict[str, Made]) -> None:
    """A finding or a sound report, and nothing else; none of those taken tells another verdict."""
    dice = random.Random(20261204)
    makers: list[tuple[Made, str, list[Place]]] = [
        (m, dumps(m.report), list(leaves(m.report))) for m in reports.values()
    ]
    taken = refused = other = 0
    for number in range(MUTANTS):
        made, text, places = makers[number % len(makers)]
        mutant = text_mutant(text, dice) if number % 2 else tree_mutant(made.report, places, dice)
        if refusal(mutant):
            refused += 1
            continue
        taken += 1
        other += told(json.loads(mutant)) != told(made.report)
    assert refused > MUTANTS // 2, "mutants that are worth their name"
    assert taken > 0
    assert other == 0


HOSTILE_TEXTS = {
    "half a character": "\ud800",
    "backwards": "\u202eevil",
    "NUL": "a\0b",
    "terminal": "\x1b]0;owned\x07",
    "markup": "</script><script>alert(1)</script>",
    "a mebibyte": "x" * (1 << 20),
    "more than a mebibyte": "x" * ((1 << 20) + 1),
}


@pytest.mark.parametrize("text", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS)
def test_whatever_a_program_prints_the_report_is_read(tmp_path: Path, text: str) -> None:
    exception = {"type": text, "message": text}
    deep: Any = text
    for _ in range(60):
        deep = [deep]
    answers = {
        **GOOD,
        "identity": {
            **IDENTITY,
            "python_version": text,
            "more": deep,
            text: [float("inf"), 10**40],
        },
        "c1_entry": {**ENTRY, "exit_code": 1, "stderr": text, "exception": exception},
    }
    made = make(tmp_path, answers)
    assert reader.read(made.path) == made.report


def test_the_scores_are_counted_by_the_one_place_that_counts(
    good: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = dumps(good.report)
    assert not refusal(text)
    monkeypatch.setattr(consistency, "scores", lambda _: {"confirmed": -1})
    assert code(text) == "E0832"
