"""JUnit, SARIF, Markdown and text: the same verdicts, readable by what reads such files, and no
word of a report that is more than a word."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator
from junitparser import JUnitXml
from markdown_it import MarkdownIt
from report_room import ENTRY, GOOD, IDENTITY, Made, make

from envspec.cli.report import _FORMS
from envspec.cli.verbs import cli
from envspec.report import evidence
from envspec.report.forms import FORMS, drawn
from envspec.report.schema import text as schema_text

# What SARIF 2.1.0 asks of the properties that are used here, in its section 3.
PLACE = {
    "type": "object",
    "required": ["physicalLocation"],
    "properties": {
        "physicalLocation": {
            "type": "object",
            "required": ["artifactLocation"],
            "properties": {
                "artifactLocation": {
                    "required": ["uri"],
                    "properties": {"uri": {"pattern": "^[A-Za-z0-9._~/%:-]+$"}},
                },
                "region": {"properties": {"startLine": {"type": "integer", "minimum": 1}}},
            },
        }
    },
}
RESULT = {
    "type": "object",
    "required": ["ruleId", "ruleIndex", "kind", "level", "message", "locations"],
    "properties": {
        "kind": {"enum": ["fail", "open"]},
        "level": {"enum": ["none", "note", "warning", "error"]},
        "message": {"required": ["text"], "properties": {"text": {"minLength": 1}}},
        "locations": {"type": "array", "minItems": 1, "maxItems": 1, "items": PLACE},
        "partialFingerprints": {
            "type": "object",
            "additionalProperties": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
        },
    },
    # 3.27.10: a level other than `none` is for failures alone.
    "if": {"properties": {"kind": {"const": "open"}}},
    "then": {"properties": {"level": {"const": "none"}}},
    "else": {"properties": {"level": {"not": {"const": "none"}}}},
}
SARIF = {
    "type": "object",
    "required": ["version", "runs"],
    "properties": {
        "version": {"const": "2.1.0"},
        "$schema": {"pattern": "/sarif-schema-2\\.1\\.0\\.json$"},
        "runs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["tool", "results"],
                "properties": {
                    "tool": {"required": ["driver"]},
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "results": {"type": "array", "items": RESULT},
                },
            },
        },
    },
}
HOSTILE = (
    "</td><script>alert(1)</script> ]]> & \"'",
    "| x | y |\n| - | - |\n# heading\n- list\n> quote",
    "[link](https://example.org) ![i](https://example.org/i.png) <https://example.org> `code`",
    "https://example.org www.example.org a@example.org @everyone #1 ~~no~~ **b** _i_ $x$ \\",
    "{0} {{1}} \u202eevil \0 \x1b[31m \x9b \ufffe \u2028",
)


def form(made: Made, name: str) -> str:
    return drawn(name, made.report, evidence.logs(made.report, made.logs))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> list[Made]:
    """Reports in which programs have said such words wherever they can."""
    found = []
    for words in HOSTILE:
        exception = {"type": "Error", "message": words}
        answers = {
            **GOOD,
            "identity": {**IDENTITY, "python_version": words},
            "c1_entry": {**ENTRY, "exit_code": 1, "stderr": words, "exception": exception},
        }
        found.append(make(tmp_path_factory.mktemp("hostile"), answers))
    return found


def test_the_verb_offers_every_form() -> None:
    assert tuple(FORMS) == _FORMS


# --- JUnit ------------------------------------------------------------------------------------


def cases(text: str) -> dict[str, str]:
    """How each test case ended, by its name."""
    return {
        str(c.get("name")): next((e.tag for e in c if e.tag != "system-out"), "passed")
        for c in ET.fromstring(text).iter("testcase")
    }


def test_junit_tells_the_verdicts(reports: dict[str, Made]) -> None:
    endings = {"pass": "passed", "fail": "failure", "error": "error"}
    endings |= {"blocked": "skipped", "n/a": "skipped"}
    for made in reports.values():
        found = list(cases(form(made, "junit")).values())
        rungs = [endings[r["verdict"]] for r in made.report["rungs"].values()]
        assert found[: len(rungs)] == rungs
        stated = [c for c in made.report["claims"] if c["verdict"] != "unstated"]
        wrong = [c["verdict"] in {"overclaim", "mismatch"} for c in stated]
        judged = found[len(rungs) : len(rungs) + len(stated)]
        assert [ending == "failure" for ending in judged] == wrong


def test_a_parser_of_junit_reads_it(reports: dict[str, Made]) -> None:
    for made in reports.values():
        text = form(made, "junit")
        found = JUnitXml.fromstring(text.encode())
        ended = list(cases(text).values())
        assert found.tests == len(ended) == sum(len(list(suite)) for suite in found)
        assert found.failures == ended.count("failure")
        assert found.errors == ended.count("error")
        assert found.skipped == ended.count("skipped")
        failed = made.report["verdict"] == "fail"
        assert bool(found.failures + found.errors) == failed


def test_junit_holds_the_end_of_a_log(reports: dict[str, Made], tmp_path: Path) -> None:
    made = make(tmp_path, {**GOOD, "c1_entry": {**ENTRY, "exit_code": 1, "stderr": "the <end>"}})
    assert "the &lt;end&gt;" in form(made, "junit")
    assert "system-out" not in form(reports["good"], "junit")


def test_hostile_words_in_junit(hostile: list[Made]) -> None:
    for made in hostile:
        text = form(made, "junit")
        JUnitXml.fromstring(text.encode())
        assert {e.tag for e in ET.fromstring(text).iter()} <= {
            *("testsuites", "testsuite", "properties", "property", "testcase"),
            *("failure", "error", "skipped", "system-out"),
        }


# --- SARIF ------------------------------------------------------------------------------------


def results(made: Made) -> list[dict[str, Any]]:
    document = json.loads(form(made, "sarif"))
    Draft202012Validator(SARIF).validate(document)
    (run,) = document["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
    assert len(rules) == len(set(rules)) == len({r["ruleId"] for r in run["results"]})
    return list(run["results"])


def test_sarif_names_what_failed_and_what_is_open(reports: dict[str, Made]) -> None:
    for made in reports.values():
        rungs = made.report["rungs"].items()
        found = {(r["ruleId"], r["kind"]) for r in results(made) if r["ruleId"].startswith("rung/")}
        kinds = {"fail": "fail", "error": "fail", "blocked": "open"}
        assert found == {
            (f"rung/{n}", kinds[r["verdict"]]) for n, r in rungs if r["verdict"] in kinds
        }
    assert results(reports["good"]) == []


def test_sarif_points_at_the_line_of_the_claim(bad: Made) -> None:
    line = next(c["line"] for c in bad.report["claims"] if c["verdict"] == "mismatch")
    (found,) = (r for r in results(bad) if r["ruleId"] == "c5/mismatch")
    place = found["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "spec.env"
    assert place["region"] == {"startLine": line}
    assert "torch_version" in bad.spec.read_text().splitlines()[line - 1]


def test_hostile_words_in_sarif(hostile: list[Made]) -> None:
    for made in hostile:
        for result in results(made):
            text = result["message"]["text"]
            assert not re.search(r"(?<!\{)\{(?!\{)|(?<!\\)\]\(|[\0\x1b\x9b\u202e]", text)


# --- Markdown ---------------------------------------------------------------------------------


def tokens(text: str) -> list[Any]:
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    return [t for block in parser.parse(text) for t in (block, *(block.children or ()))]


def test_markdown_is_tables_and_lists(reports: dict[str, Made]) -> None:
    for made in reports.values():
        found = tokens(form(made, "markdown"))
        assert {t.type for t in found} <= {
            *("heading_open", "heading_close", "inline", "text", "text_special", "code_inline"),
            *("paragraph_open", "paragraph_close", "bullet_list_open", "bullet_list_close"),
            *("list_item_open", "list_item_close", "table_open", "table_close", "softbreak"),
            *("thead_open", "thead_close", "tbody_open", "tbody_close", "tr_open", "tr_close"),
            *("th_open", "th_close", "td_open", "td_close"),
        }
        said = " ".join(t.content for t in found if t.type == "inline")
        assert made.report["verdict"] in said


def test_hostile_words_in_markdown(hostile: list[Made], reports: dict[str, Made]) -> None:
    usual = {t.type for m in reports.values() for t in tokens(form(m, "markdown"))}
    for words, made in zip(HOSTILE, hostile, strict=True):
        text = form(made, "markdown")
        found = tokens(text)
        assert {t.type for t in found} <= usual
        columns = len([t for t in found if t.type == "th_open"])
        rows = 7 + sum(c["verdict"] != "unstated" for c in made.report["claims"])
        assert columns == 9
        assert len([t for t in found if t.type == "tr_open"]) == rows + 2
        assert not re.search(r"://|www\.|[@\0\x1b\x9b\u202e\u2028]", text)
        if "script" in words:
            assert any(words in t.content for t in found if t.type == "text")


# --- text and the verb ------------------------------------------------------------------------


def test_a_terminal_is_told_nothing_it_obeys(hostile: list[Made]) -> None:
    for made in hostile:
        assert not re.search("[\0\x1b\x9b\u202e\u2028]", form(made, "text"))


@pytest.mark.parametrize("name", _FORMS)
def test_the_verb_draws_it(good: Made, tmp_path: Path, name: str) -> None:
    shown = CliRunner().invoke(cli, ["report", str(good.path), "--format", name])
    assert shown.exit_code == 0
    target = tmp_path / "drawn"
    done = CliRunner().invoke(cli, ["report", str(good.path), "--format", name, "-o", str(target)])
    assert (done.exit_code, done.output) == (0, "")
    assert target.read_text() == shown.output
    if name != "text":
        assert form(good, name) == shown.output


def test_the_verb_prints_the_schema() -> None:
    assert CliRunner().invoke(cli, ["report", "--schema"]).output == schema_text()


def test_the_verb_refuses_and_writes_nothing(good: Made, tmp_path: Path) -> None:
    wrong = tmp_path / "report.json"
    wrong.write_text(good.path.read_text().replace('"verdict": "pass"', '"verdict": "fail"', 1))
    target = tmp_path / "page.html"
    argv = ["report", str(wrong), "--format", "html", "-o", str(target)]
    done = CliRunner().invoke(cli, argv)
    assert done.exit_code == 1
    assert "E0832" in done.output
    assert not target.exists()


def test_logs_that_are_not_the_report_s_are_not_shown(good: Made, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    names = {run["id"]: run["log"] for run in good.report["evidence"]}
    (folder / names["identity"]).write_text("forged")
    (folder / names["c0_live"]).symlink_to(good.logs / names["c0_live"])
    (folder / names["c1-smoke"]).mkdir()
    found = evidence.logs(good.report, folder)
    assert found["identity"] == ("changed", "")
    assert {found[n].state for n in names if n != "identity"} == {"absent"}
    assert {log.state for log in evidence.logs(good.report, good.logs).values()} == {"whole"}


def test_no_form_needs_the_logs(reports: dict[str, Made]) -> None:
    for made in reports.values():
        for name in FORMS:
            assert drawn(name, made.report, {})


def test_a_report_that_is_not_there() -> None:
    done = CliRunner().invoke(cli, ["report", "absent.json"])
    assert done.exit_code == 1
    assert "E0833" in done.output
