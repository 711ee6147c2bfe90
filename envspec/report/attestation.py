"""A report → an in-toto Statement v1 with the test-result predicate. Pure.

The subject is what was tested (the image, or the prefix) and the report itself, byte for byte, so
that no field of a report can change under its attestation. Signing is left to programs that sign.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from envspec.report.reader import Reader
from envspec.report.shapes import Fields, Items, Text, Word

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://in-toto.io/attestation/test-result/v0.1"
SLSA = "SLSA_BUILD_LEVEL_1"
"""What a build on somebody's own machine can claim: it has provenance, and nobody stands for it."""
MALFORMED = "E0880"
_RESULTS = {"pass": "PASSED", "blocked": "WARNED", "fail": "FAILED"}
_TESTS = {
    "pass": "passedTests",
    "confirmed": "passedTests",
    "blocked": "warnedTests",
    "inconclusive": "warnedTests",
    "underclaim": "warnedTests",
    "fail": "failedTests",
    "error": "failedTests",
    "overclaim": "failedTests",
    "mismatch": "failedTests",
}


def statement(report: Mapping[str, Any], text: str) -> dict[str, Any]:
    """The statement about a report. ``text`` is the file that ``report`` was read from."""
    tests: dict[str, list[str]] = {name: [] for name in dict.fromkeys(_TESTS.values())}
    for name, verdict in _verdicts(report):
        if verdict in _TESTS:
            tests[_TESTS[verdict]].append(name)
    return {
        "_type": STATEMENT,
        "subject": [
            _digested(report["project"], report["engine"]["digest"].removeprefix("sha256:")),
            _digested("report.json", hashlib.sha256(text.encode()).hexdigest()),
        ],
        "predicateType": PREDICATE,
        "predicate": {
            "result": _RESULTS[report["verdict"]],
            "configuration": _configuration(report),
            **tests,
        },
    }


def canonical(value: Any) -> str:
    """JSON with one form for one value: keys sorted, no blanks, one line."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n"


def _verdicts(report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Each test and its verdict; what does not apply or was not stated is none."""
    for name, rung in report["rungs"].items():
        yield name, rung["verdict"]
    for claim in report["claims"]:
        yield f"c5.{claim['name']}", claim["verdict"]
    yield "source_unchanged", "fail" if report["source_changed"] else "pass"
    if report["rebuild"]:
        yield "rebuild", report["rebuild"]["verdict"]


def _digested(name: str, sha256: str) -> dict[str, Any]:
    return {"name": name, "digest": {"sha256": sha256}}


def _configuration(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the result depends on, each with a digest."""
    spec, engine = report["spec"], report["engine"]
    verifier = dict(report["verifier"])
    facts, probes = verifier.pop("facts_sha256"), verifier.pop("probes_sha256")
    host = {name: str(value) for name, value in verifier.items()}
    build = {
        "engine": engine["name"],
        "engine_version": engine["version"],
        "base": engine["base"],
        "base_substituted": engine["base_substituted"],
        "envspec": report["envspec"],
        "slsa_build_level": SLSA,
    }
    return [
        _digested(spec["spec"], spec["spec_sha256"]),
        _digested("spec.lock", spec["lock_sha256"]),
        _digested("plan.json", spec["plan_sha256"]),
        _digested("facts", facts),
        _digested("probes", probes),
        {**_digested("build", spec["build_digest"]), "annotations": build},
        {**_digested("host", _sha256(canonical(host))), "annotations": host},
    ]


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


_DIGEST = Fields("digests", {"sha256": Text("in hexadecimal", "^[0-9a-f]{64}$")})
_WORDS = {
    name: Text(name.replace("_", " "))
    for name in (
        *("engine", "engine_version", "base", "base_substituted", "envspec", "slsa_build_level"),
        *("system", "machine", "kernel", "glibc", "gpus"),
    )
}
_ANNOTATIONS = Fields("further facts", {}, optional=_WORDS)
_DESCRIPTOR = Fields(
    "something with a digest",
    {"name": Text("its name"), "digest": _DIGEST},
    optional={"annotations": _ANNOTATIONS},
)
_NAMES = Items("tests", Text("a test"))
SHAPE = Fields(
    "an attestation",
    {
        "_type": Word("the kind of statement", (STATEMENT,)),
        "subject": Items("what was tested", _DESCRIPTOR, least=1),
        "predicateType": Word("the kind of predicate", (PREDICATE,)),
        "predicate": Fields(
            "the result",
            {
                "result": Word("the whole", tuple(_RESULTS.values())),
                "configuration": Items("what the result depends on", _DESCRIPTOR),
                **dict.fromkeys(dict.fromkeys(_TESTS.values()), _NAMES),
            },
        ),
    },
)


def loads(text: str, name: str) -> dict[str, Any]:
    """An attestation that anybody may have written.

    Raises:
        DiagnosticError: E0880 with the JSON path.
    """
    hint = "write it again with `envspec attest`, from the report that it is about"
    return Reader(name, "attestation", hint, MALFORMED).read(text, SHAPE)


def difference(old: Any, new: Any, path: str = "$") -> str:
    """The first place in which two JSON values differ, empty for none."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            if key not in old or key not in new:
                return f"{path}.{key}"
            found = difference(old[key], new[key], f"{path}.{key}")
            if found:
                return found
        return ""
    if isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            return path
        pairs = enumerate(zip(old, new, strict=True))
        places = (difference(a, b, f"{path}[{n}]") for n, (a, b) in pairs)
        return next((place for place in places if place), "")
    # In JSON, true is no 1.
    return "" if type(old) is type(new) and old == new else path
