"""The report as one HTML file: no request, no script, the same bytes for the same report. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from envspec.report.evidence import Log
from envspec.report.html_build import Markup, el, join, lines, page
from envspec.report.html_pyramid import MARKS, css_class, pyramid
from envspec.report.html_style import POLICY, STYLE
from envspec.report.rungs import counts, question, title

_DIFFERENCES = 20


def html(report: Mapping[str, Any], logs: Mapping[str, Log]) -> str:
    """The document. ``logs`` are the logs of the probe runs, by id, as far as they are there."""
    project = report["project"]
    body = join(
        el("header", _head(report)),
        el(
            "main",
            _section("pyramid", "The pyramid", pyramid(report), _rungs(report)),
            _section("claims", "C5: claims against evidence", _claims(report)),
            _section("build", "The build", _engine(report), _extensions(report), _rebuild(report)),
            _section("evidence", "Evidence", _evidence(report, logs)),
            _findings(report),
        ),
        el("footer", el("p", f"envspec {report['envspec']}, report schema 1", class_="soft")),
    )
    return page(STYLE, f"{project}: {report['verdict']}", body, POLICY)


def _section(name: str, heading: str, *parts: Markup | None) -> Markup:
    return el("section", el("h2", heading, id=name), *parts, aria_labelledby=name)


def _verdict(verdict: str, more: str = "") -> Markup:
    return el("span", MARKS.get(verdict, verdict), more, class_=f"verdict {css_class(verdict)}")


def _head(report: Mapping[str, Any]) -> Markup:
    engine = report["engine"]
    weak = [*engine["weaknesses"]]
    if engine["base_substituted"]:
        weak.append(f"{engine['base_substituted']} stands in for the base {engine['base']}")
    weak += [f"the entry `{name}` had the network" for name in report["network"]]
    return join(
        el("h1", report["project"], ": ", _verdict(report["verdict"])),
        el("p", counts(report["scores"]), ". Built and run by the ", engine["name"], " engine."),
        _notice("What this run could not promise", weak),
        _notice("Changed by a run", report["source_changed"], "notice bad"),
    )


def _notice(heading: str, said: Sequence[str], kind: str = "notice") -> Markup | None:
    if not said:
        return None
    items = [el("li", sentence) for sentence in said]
    return el("div", el("p", heading), el("ul", items), class_=kind)


def _table(caption: str, headers: Sequence[str], rows: Sequence[Sequence[str | Markup]]) -> Markup:
    head = el("tr", [el("th", header, scope="col") for header in headers])
    body = [
        el(
            "tr",
            el("th", first, scope="row"),
            # Where a phone has no room for columns, each cell says what it is.
            [el("td", cell, data_label=h) for h, cell in zip(headers[1:], rest, strict=True)],
        )
        for first, *rest in rows
    ]
    table = el("table", el("caption", caption), el("thead", head), el("tbody", body))
    return el("div", table, class_="scroll", tabindex=0, role="region", aria_label=caption)


def _rungs(report: Mapping[str, Any]) -> Markup:
    rows = []
    for name, rung in report["rungs"].items():
        cause = f" ({rung['cause']})" if rung["cause"] else ""
        rows.append((title(name), question(name), _verdict(rung["verdict"], cause), rung["reason"]))
    details = [
        _fold(f"Details of {title(name)}", el("pre", lines(_json(rung["details"]))))
        for name, rung in report["rungs"].items()
        if rung["details"]
    ]
    table = _table("Rungs, from the lowest", ("Rung", "Asks", "Verdict", "What was seen"), rows)
    return join(table, details)


def _claims(report: Mapping[str, Any]) -> Markup:
    stated = [c for c in report["claims"] if c["verdict"] != "unstated"]
    unstated = [c["name"] for c in report["claims"] if c["verdict"] == "unstated"]
    rows = [
        (
            el("code", c["name"]),
            c["claimed"],
            c["observed"] or "–",
            _verdict(c["verdict"]),
            join(c["note"], " " if c["note"] else "", _at(report, c["line"])),
        )
        for c in stated
    ]
    headers = ("Claim", "Claimed", "Observed", "Verdict", "Note")
    names = [join(", " if n else "", el("code", name)) for n, name in enumerate(unstated)]
    return join(
        _table("Stated claims", headers, rows) if rows else el("p", "The spec states no claim."),
        el("p", "Unstated, and so not judged: ", names, ".", class_="soft") if unstated else None,
    )


def _at(report: Mapping[str, Any], line: int) -> Markup | None:
    return el("span", f"{report['spec']['spec']}:{line}", class_="soft") if line else None


def _engine(report: Mapping[str, Any]) -> Markup:
    engine, spec = report["engine"], report["spec"]
    reused = ", it was there before" if engine["reused"] else ""
    return _list(
        ("Engine", f"{engine['name']}, {engine['version']} ({engine['chosen']})"),
        ("Isolation", engine["isolation"]),
        ("Base", engine["base"]),
        ("Built", f"{engine['digest']} ({engine['build_seconds']} s{reused})"),
        ("Environment", spec["build_digest"]),
        ("Host", _host(report["verifier"])),
        (spec["spec"], f"sha256 {spec['spec_sha256']}"),
        ("Lock", f"sha256 {spec['lock_sha256']}"),
        ("Plan", f"sha256 {spec['plan_sha256']}"),
    )


def _host(verifier: Mapping[str, Any]) -> str:
    parts = [f"{verifier['system']} {verifier['kernel']} on {verifier['machine']}"]
    if verifier["glibc"]:
        parts.append(f"glibc {verifier['glibc']}")
    number = verifier["gpus"]
    parts.append("no GPU" if not number else f"{number} GPU{'s' * (number > 1)}")
    return ", ".join(parts)


def _list(*pairs: tuple[str, str | Markup]) -> Markup:
    return el("dl", [join(el("dt", term), el("dd", said)) for term, said in pairs])


def _extensions(report: Mapping[str, Any]) -> Markup | None:
    if not report["extensions"]:
        return None
    rows = []
    for wheel in report["extensions"]:
        same = "not recorded"
        if wheel["recorded"]:
            same = (
                "as in the lock" if wheel["recorded"] == wheel["sha256"] else "not as in the lock"
            )
        built = wheel["file"] or "none"
        rows.append((f"{wheel['name']} {wheel['version']}", built, wheel["sha256"] or "–", same))
    headers = ("Extension", "Wheel", "sha256", "Recorded")
    return join(el("h3", "Extensions"), _table("Compiled wheels", headers, rows))


def _rebuild(report: Mapping[str, Any]) -> Markup | None:
    rebuild = report["rebuild"]
    if rebuild is None:
        return None
    first, second = rebuild["digests"]
    said = "the same bytes" if rebuild["verdict"] == "pass" else "they differ"
    rows = [
        (d["file"], d["what"], _at(report, d["line"]) or "–")
        for d in rebuild["differences"][:_DIFFERENCES]
    ]
    more = len(rebuild["differences"]) - len(rows) + rebuild["not_shown"]
    return join(
        el("h3", "Two clean builds"),
        el("p", _verdict(rebuild["verdict"]), f": {said} ({rebuild['seconds']} s)"),
        _list(("First", first), ("Second", second)),
        _table("Files that differ", ("File", "Differs in", "Statement"), rows) if rows else None,
        el("p", f"And {more} more.", class_="soft") if more > 0 else None,
    )


def _evidence(report: Mapping[str, Any], logs: Mapping[str, Log]) -> Markup:
    return join([_run(record, logs.get(record["id"])) for record in report["evidence"]])


def _run(record: Mapping[str, Any], log: Log | None) -> Markup:
    facts = [
        ("Command", el("code", " ".join(record["argv"]))),
        ("Folder", el("code", record["cwd"])),
        ("Started", record["started"]),
        ("Shown", ", ".join(n for n in ("network", "gpus") if record[n]) or "no network, no GPU"),
        ("Log", f"{record['log']}, sha256 {record['log_sha256']}"),
    ]
    if record["error"]:
        facts.append(("Error", record["error"]))
    state = log.state if log else "absent"
    if state == "changed":
        tail = el(
            "p", "The log is not the one that the report has the digest of.", class_="changed"
        )
    elif state == "absent":
        tail = el("p", "The log is not beside the report.", class_="soft")
    elif log and log.tail:
        tail = el("pre", lines(log.tail), tabindex=0, aria_label=f"End of {record['log']}")
    else:
        tail = el("p", "The program printed nothing.", class_="soft")
    ended = f" · {_ended(record)} after {record['seconds']} s"
    variables = el("pre", lines("\n".join(record["environment"])))
    return _fold(
        join(el("code", record["id"]), el("span", ended, class_="soft")),
        join(_list(*facts), tail, _fold("Variables", variables) if record["environment"] else None),
    )


def _ended(record: Mapping[str, Any]) -> str:
    if record["error"]:
        return "no usable answer"
    if record["timed_out"]:
        return "stopped at its time limit"
    if record["out_of_memory"]:
        return "out of memory"
    if record["signal"]:
        return f"signal {record['signal']}"
    return f"status {record['exit_code']}"


def _findings(report: Mapping[str, Any]) -> Markup | None:
    if not report["findings"]:
        return None
    rows = [(f["code"], f["title"], f["cause"], f["hint"]) for f in report["findings"]]
    table = _table("Warnings of `envspec check`", ("Code", "Finding", "Cause", "Hint"), rows)
    return _section("findings", "Findings about the spec", table)


def _fold(summary: str | Markup, content: Markup) -> Markup:
    return el("details", el("summary", summary), content)


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
