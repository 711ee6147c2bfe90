"""The report as JUnit XML, the form that CI systems show as tests. Pure.

A rung and a stated claim is a test case each. A rung that could not be checked is *skipped*, and
says why: JUnit has no other word for it, and nothing that was not checked is a test that passed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

from envspec.report.evidence import Log
from envspec.report.plain import plain, plain_lines
from envspec.report.rungs import words

_LONGEST = 2000
_FAILURE, _ERROR, _SKIPPED = "failure", "error", "skipped"
_ENDINGS = {
    "fail": _FAILURE,
    "error": _ERROR,
    "blocked": _SKIPPED,
    "n/a": _SKIPPED,
    "overclaim": _FAILURE,
    "mismatch": _FAILURE,
    "underclaim": _SKIPPED,
    "inconclusive": _SKIPPED,
}


class _Case(NamedTuple):
    """``ending`` is empty for a test that passed; ``kind`` and ``message`` say how it ended."""

    name: str
    seconds: float
    ending: str = ""
    kind: str = ""
    message: str = ""
    output: str = ""


def junit(report: Mapping[str, Any], logs: Mapping[str, Log]) -> str:
    """The document. ``logs`` are the logs of the probe runs, by id, as far as they are there."""
    suites = {"pyramid": _rungs(report, logs), "claims": _claims(report), "run": _run(report)}
    project = plain(report["project"])
    root = ET.Element("testsuites", {"name": f"envspec verify {project}"})
    root.attrib.update(_totals(suites.values()))
    started = report["evidence"][0]["started"] if report["evidence"] else ""
    for name, cases in suites.items():
        suite = ET.SubElement(root, "testsuite", {"name": name, **_totals([cases])})
        # JUnit's times have no zone.
        suite.set("timestamp", started[:19])
        if name == "pyramid":
            _properties(suite, report)
        for case in cases:
            _write(ET.SubElement(suite, "testcase"), f"envspec.{project}.{name}", case)
    ET.indent(root)
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    return head + ET.tostring(root, encoding="unicode") + "\n"


def _totals(suites: Any) -> dict[str, str]:
    cases = [case for suite in suites for case in suite]
    count = {
        "failures": sum(c.ending == _FAILURE for c in cases),
        "errors": sum(c.ending == _ERROR for c in cases),
        "skipped": sum(c.ending == _SKIPPED for c in cases),
    }
    time = f"{sum(c.seconds for c in cases):.3f}"
    return {"tests": str(len(cases)), **{k: str(v) for k, v in count.items()}, "time": time}


def _properties(suite: ET.Element, report: Mapping[str, Any]) -> None:
    properties = ET.SubElement(suite, "properties")
    values = {
        "verdict": report["verdict"],
        "engine": report["engine"]["name"],
        "environment": report["engine"]["digest"],
        "spec_sha256": report["spec"]["spec_sha256"],
        "lock_sha256": report["spec"]["lock_sha256"],
        "envspec": report["envspec"],
    }
    for name, value in values.items():
        ET.SubElement(properties, "property", name=name, value=plain(value))


def _write(element: ET.Element, group: str, case: _Case) -> None:
    element.set("classname", group)
    element.set("name", plain(case.name))
    element.set("time", f"{case.seconds:.3f}")
    if case.ending:
        message = plain(case.message)[:_LONGEST]
        ended = ET.SubElement(element, case.ending, message=message)
        if case.kind:
            ended.set("type", plain(case.kind))
    if case.output:
        ET.SubElement(element, "system-out").text = plain_lines(case.output)


def _rungs(report: Mapping[str, Any], logs: Mapping[str, Log]) -> list[_Case]:
    runs = {run["id"]: run for run in report["evidence"]}
    cases = []
    for name, rung in report["rungs"].items():
        seconds = sum(runs[run]["seconds"] for run in rung["evidence"])
        ending = _ENDINGS.get(rung["verdict"], "")
        tails = [logs[run].tail for run in rung["evidence"] if run in logs and ending]
        kind = " ".join(word for word in (rung["verdict"], rung["cause"]) if word)
        title = f"{words(name).title}: {words(name).holds}"
        said = rung["reason"]
        cases.append(_Case(title, seconds, ending, kind, said, "\n".join(t for t in tails if t)))
    return cases


def _claims(report: Mapping[str, Any]) -> list[_Case]:
    cases = []
    for claim in report["claims"]:
        if claim["verdict"] == "unstated":
            continue
        observed = claim["observed"] or "nothing"
        note = f"; {claim['note']}" if claim["note"] else ""
        message = f"claimed {claim['claimed']}, observed {observed}{note}"
        name = f"{claim['name']} {claim['claimed']}"
        verdict = claim["verdict"]
        cases.append(_Case(name, 0.0, _ENDINGS.get(verdict, ""), verdict, message))
    return cases


def _run(report: Mapping[str, Any]) -> list[_Case]:
    """What holds for the whole run: the source is as it was, and two builds are the same."""
    changed = ", ".join(report["source_changed"])
    ending = _FAILURE if changed else ""
    cases = [_Case("the runs changed nothing", 0.0, ending, "source_changed", changed)]
    rebuild = report["rebuild"]
    if rebuild:
        differ = rebuild["verdict"] != "pass"
        files = ", ".join(d["file"] for d in rebuild["differences"])
        ending, said = (_FAILURE, f"they differ in {files}") if differ else ("", "")
        cases.append(_Case("two clean builds", rebuild["seconds"], ending, "rebuild", said))
    return cases
