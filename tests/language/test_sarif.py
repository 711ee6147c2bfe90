"""SARIF 2.1.0: the structure the standard asks for, columns in UTF-16, fixes that fit."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from envspec import fixing, resources, sarif
from envspec.diagnostics import NOTE, WARNING, Diagnostic, Edit, Fix, Label
from envspec.resources import Page
from envspec.source import SourceFile, Span

# The musical clef and the rocket take two UTF-16 units each, the tab and the `é` one.
TEXT = 'envspec 1\r\n\t"\U0001d11e🚀é" torch =>2 # x\r\nend\r\n'
SOURCE = SourceFile("dir/my spec.env", TEXT)
PAGE = Page("E0203", "wrong value", "## What it means\n\nIt is\nwrong.\n\n## Example\n\n`a {}`\n")
PAGES = {code: PAGE._replace(code=code) for code in ("E0203", "E0201", "W0301")}


def at(words: str) -> Span:
    start = TEXT.index(words)
    return Span(start, start + len(words))


def finding(**change: Any) -> Diagnostic:
    plain = Diagnostic("E0203", "`=>2` is wrong", SOURCE, (Label(at("=>2"), "here"),))
    return plain._replace(**change)


def run(*findings: Diagnostic) -> dict[str, Any]:
    """The one run of a document whose structure is sound."""
    document = sarif.document(findings, PAGES, "1.2.3")
    assert json.loads(json.dumps(document)) == document
    sound(document)
    (only,) = document["runs"]
    return dict(only)


def result(**change: Any) -> dict[str, Any]:
    (only,) = run(finding(**change))["results"]
    return dict(only)


def sound(document: dict[str, Any]) -> None:
    """What the standard's JSON Schema says of the properties that are used here."""
    assert set(document) == {"$schema", "version", "runs"}
    assert document["version"] == "2.1.0"
    assert document["$schema"].endswith("/sarif-schema-2.1.0.json")
    for one in document["runs"]:
        assert set(one) == {"tool", "columnKind", "results"}
        assert one["columnKind"] == "utf16CodeUnits"
        driver = one["tool"]["driver"]
        assert set(driver) == {"name", "version", "semanticVersion", "rules"}
        ids = [rule["id"] for rule in driver["rules"]]
        assert ids == sorted(set(ids))
        for rule in driver["rules"]:
            assert set(rule) == {
                "id", "shortDescription", "fullDescription", "help", "defaultConfiguration"
            }  # fmt: skip
            assert rule["shortDescription"]["text"]
            assert rule["fullDescription"]["text"]
            assert set(rule["help"]) == {"text", "markdown"}
            assert rule["defaultConfiguration"]["level"] in {"error", "warning"}
        for found in one["results"]:
            optional = {"locations", "relatedLocations", "fixes"}
            needed = {"ruleId", "ruleIndex", "level", "message", "partialFingerprints"}
            assert needed <= set(found) <= needed | optional
            assert ids[found["ruleIndex"]] == found["ruleId"]
            assert found["level"] in {"error", "warning", "note"}
            assert found["message"]["text"]
            (mark,) = found["partialFingerprints"].values()
            assert re.fullmatch("[0-9a-f]{64}", mark)
            for place in (*found.get("locations", ()), *found.get("relatedLocations", ())):
                physical(place["physicalLocation"])
            for fix in found.get("fixes", ()):
                assert set(fix) == {"description", "artifactChanges"}
                for change in fix["artifactChanges"]:
                    uri(change["artifactLocation"])
                    assert change["replacements"]
                    for replacement in change["replacements"]:
                        region(replacement["deletedRegion"])
                        assert set(replacement["insertedContent"]) == {"text"}


def physical(place: dict[str, Any]) -> None:
    assert set(place) == {"artifactLocation", "region"}
    uri(place["artifactLocation"])
    region(place["region"])


def uri(location: dict[str, str]) -> None:
    assert re.fullmatch(r"[A-Za-z0-9._~/%:-]+", location["uri"])
    absolute = location["uri"].startswith("file:///")
    assert ("uriBaseId" in location) != absolute


def region(place: dict[str, int]) -> None:
    assert set(place) == {"startLine", "startColumn", "endLine", "endColumn"}
    assert all(type(number) is int and number >= 1 for number in place.values())
    start, end = ((place[f"{e}Line"], place[f"{e}Column"]) for e in ("start", "end"))
    assert start <= end


def test_no_findings() -> None:
    assert run()["results"] == []
    assert run()["tool"]["driver"]["rules"] == []


def test_a_rule_carries_its_page() -> None:
    (rule,) = run(finding())["tool"]["driver"]["rules"]
    assert rule["shortDescription"]["text"] == "wrong value"
    assert rule["fullDescription"]["text"] == "It is wrong."
    assert rule["help"]["markdown"].endswith("`a {{}}`\n")  # braces mean placeholders in SARIF


def test_rules_come_once_and_results_point_at_them() -> None:
    found = run(finding(), finding(code="W0301", severity=WARNING), finding(code="E0201"))
    assert [r["id"] for r in found["tool"]["driver"]["rules"]] == ["E0201", "E0203", "W0301"]
    assert [(r["ruleId"], r["ruleIndex"]) for r in found["results"]] == [
        ("E0203", 1), ("W0301", 2), ("E0201", 0)
    ]  # fmt: skip
    levels = [r["defaultConfiguration"]["level"] for r in found["tool"]["driver"]["rules"]]
    assert levels == ["error", "error", "warning"]


def test_levels() -> None:
    assert [result(severity=s)["level"] for s in ("error", WARNING, NOTE)] == [
        "error", "warning", "note"
    ]  # fmt: skip


def test_columns_count_utf16_units() -> None:
    """Tab, quote, two characters of two units, one of one, quote, blank, `torch`, blank."""
    (place,) = result()["locations"]
    assert place["physicalLocation"]["region"] == {
        "startLine": 2, "startColumn": 16, "endLine": 2, "endColumn": 19
    }  # fmt: skip
    assert SOURCE.position(at("=>2").start).column == 14  # characters, as text and JSON say


def test_a_span_over_lines_and_one_past_the_end() -> None:
    span = Span(at("torch").start, at("end").end)
    (place,) = result(labels=(Label(span),))["locations"]
    assert place["physicalLocation"]["region"] == {
        "startLine": 2, "startColumn": 10, "endLine": 3, "endColumn": 4
    }  # fmt: skip
    (place,) = result(labels=(Label(Span(9999, 10000)),))["locations"]
    assert place["physicalLocation"]["region"] == {
        "startLine": 4, "startColumn": 1, "endLine": 4, "endColumn": 1
    }  # fmt: skip


def test_further_labels_are_related_locations() -> None:
    found = result(labels=(Label(at("=>2"), "here"), Label(at("end"), "and there")))
    assert [p["message"]["text"] for p in found["locations"]] == ["here"]
    (other,) = found["relatedLocations"]
    assert (other["id"], other["message"]["text"]) == (1, "and there")
    assert other["physicalLocation"]["region"]["startLine"] == 3


def test_a_finding_without_a_place_or_without_a_file() -> None:
    (place,) = result(labels=())["locations"]
    assert place["physicalLocation"]["region"]["startLine"] == 1
    assert "locations" not in result(source=None, labels=())


def test_the_message_says_it_all_and_the_title_first() -> None:
    text = result(cause="why", hint="do `a { b }`", excerpt=("log line",))["message"]["text"]
    assert text == "`=>2` is wrong.\nCause: why.\nHint: do `a {{ b }}`.\nlog line"


def test_no_text_of_a_spec_becomes_a_placeholder_or_a_link() -> None:
    text = result(title="`{0}[click](https://x.example)`")["message"]["text"]
    assert text == "`{{0}}[click\\](https://x.example)`."


def test_a_password_in_an_address_is_nowhere() -> None:
    secret = "https://me:hunter2@lab.example"
    source = SourceFile("spec.env", f'index lab "{secret}"')
    label = Label(Span(0, 9), f"see {secret}")
    (one,) = run(finding(source=source, title=secret, cause=secret, hint=secret, labels=(label,)))[
        "results"
    ]
    assert "hunter2" not in json.dumps(one)


@pytest.mark.parametrize(
    ("name", "uri"),
    [
        ("spec.env", "spec.env"),
        ("./a/../spec.env", "a/../spec.env"),
        ("my spec#1?é.env", "my%20spec%231%3F%C3%A9.env"),
        ("c:/x.env", "c%3A/x.env"),
        ("/srv/a b.env", "file:///srv/a%20b.env"),
        ("<stdin>", "%3Cstdin%3E"),
        ("caf\udce9.env", "caf%E9.env"),
    ],
)
def test_files_as_uris(name: str, uri: str) -> None:
    found = result(source=SourceFile(name, TEXT))
    assert found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri


def test_fingerprints_stay_when_lines_move_and_tell_like_findings_apart() -> None:
    def marks(text: str) -> list[str]:
        source = SourceFile("spec.env", text)
        places = [m.span() for m in re.finditer("bad", text)]
        found = [finding(source=source, labels=(Label(Span(*p)),)) for p in places]
        return [next(iter(r["partialFingerprints"].values())) for r in run(*found)["results"]]

    before = marks("  bad\nbad\nbad x\n")
    assert len(set(before)) == 3
    assert marks("# more\n\nbad\n    bad\nbad  x\n") == before
    assert marks("bad y\n")[0] not in before


def apply(text: str, fix: dict[str, Any]) -> str:
    """What a reader of SARIF does with a fix, in UTF-16 as the document says."""
    lines = text.split("\n")
    starts = [sum(len(line.encode("utf-16-le")) // 2 + 1 for line in lines[:n]) for n in range(99)]
    units = text.encode("utf-16-le")
    (change,) = fix["artifactChanges"]
    edits = []
    for replacement in change["replacements"]:
        place = replacement["deletedRegion"]
        start, end = (
            starts[place[f"{e}Line"] - 1] + place[f"{e}Column"] - 1 for e in ("start", "end")
        )
        edits.append((start, end, replacement["insertedContent"]["text"]))
    for start, end, new in sorted(edits, reverse=True):
        units = units[: 2 * start] + new.encode("utf-16-le") + units[2 * end :]
    return units.decode("utf-16-le")


@pytest.mark.parametrize(
    "edits",
    [
        ((at("=>2"), ">=2"),),
        ((at("🚀"), "🛰é"), (at("=>2"), ""), (at("end"), "END")),
        ((Span(len(TEXT), len(TEXT)), "more\r\n"), (Span(0, 0), "# 🚀\r\n")),
        ((Span(at("torch").start, at("end").end), "x"),),
    ],
)
def test_a_fix_says_the_same_as_ours(edits: tuple[tuple[Span, str], ...]) -> None:
    fix = Fix("mend it", tuple(Edit(span, new) for span, new in edits))
    (given,) = result(fix=fix)["fixes"]
    assert given["description"]["text"] == "mend it"
    assert apply(TEXT, given) == fixing.apply(TEXT, [fix])[0]


def test_every_page_of_a_rule_makes_a_sound_rule() -> None:
    pages = {code: resources.page(code) for code in resources.codes()}
    found = [finding(code=code) for code in pages]
    document = sarif.document(found, pages, "1")
    sound(document)
    for rule in document["runs"][0]["tool"]["driver"]["rules"]:
        assert ".md)" not in json.dumps(rule)
        assert "## " not in rule["fullDescription"]["text"]
        assert "\n" not in rule["fullDescription"]["text"]
