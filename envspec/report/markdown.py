"""The report as Markdown, for the summary page of a CI run or a comment on a change. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from envspec.report.plain import plain
from envspec.report.rungs import counts, words

_MARKS = {
    "pass": "✅",
    "confirmed": "✅",
    "fail": "❌",
    "error": "❌",
    "overclaim": "❌",
    "mismatch": "❌",
    "blocked": "⚠️",
    "inconclusive": "⚠️",
    "underclaim": "⚠️",
}
_LONGEST = 300
_FEW = 20
# Everything that Markdown, its tables, or a forge's own marks begin with; `://` and `www.` would
# be links without any mark.
_SPECIAL = re.compile(r"[\\`*_{}\[\]()<>#+!|~@&$^=-]|:(?=//)|(?<=www)\.", re.IGNORECASE)


def markdown(report: Mapping[str, Any]) -> str:
    """Verdict, what the run could not promise, rungs and stated claims. Words of the report make
    no link, no mention and no markup."""
    engine = report["engine"]
    mark = _MARKS.get(report["verdict"], "")
    lines = [f"## {mark} {prose(report['project'])}: {prose(report['verdict'])}", ""]
    lines.append(f"{counts(report['scores'])}, on the {prose(engine['name'])} engine.")
    weak = [prose(weakness) for weakness in engine["weaknesses"]]
    if engine["base_substituted"]:
        weak.append(
            f"{prose(engine['base_substituted'])} stands in for the base {prose(engine['base'])}"
        )
    weak += [f"the entry {prose(name)} had the network" for name in report["network"]]
    lines += _list("What this run could not promise:", weak)
    lines += _list("Changed by a run:", map(prose, report["source_changed"]))
    lines += _rungs(report["rungs"])
    lines += _claims(report["claims"])
    if report["rebuild"]:
        lines += _rebuild(report["rebuild"])
    spec = report["spec"]
    lines += ["", f"`{spec['spec_sha256'][:12]}` spec · `{spec['lock_sha256'][:12]}` lock"]
    lines[-1] += f" · `{engine['digest'].removeprefix('sha256:')[:12]}` environment"
    return "\n".join(lines) + "\n"


def prose(text: str) -> str:
    """Words as Markdown shows them, at most a few hundred characters."""
    words_ = plain(text)
    if len(words_) > _LONGEST:
        words_ = words_[: _LONGEST - 1] + "…"
    return _SPECIAL.sub(lambda found: f"&#{ord(found.group())};", words_).strip()


def _list(heading: str, items: Iterable[str]) -> list[str]:
    found = list(items)
    if not found:
        return []
    more = [f"- and {len(found) - _FEW} more"] if len(found) > _FEW else []
    return ["", heading, "", *(f"- {item}" for item in found[:_FEW]), *more]


def _table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [
        "",
        f"| {' | '.join(headers)} |",
        f"|{' --- |' * len(headers)}",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]


def _marked(verdict: str, cause: str | None = None) -> str:
    said = f"{verdict} ({cause})" if cause else verdict
    return f"{_MARKS.get(verdict, '')} {prose(said)}".strip()


def _rungs(rungs: Mapping[str, Any]) -> list[str]:
    rows = [
        (
            prose(words(name).title),
            words(name).holds,
            _marked(rung["verdict"], rung["cause"]),
            prose(rung["reason"]),
        )
        for name, rung in rungs.items()
    ]
    return _table(("Rung", "Asks", "Verdict", "What was seen"), rows)


def _claims(claims: Sequence[Mapping[str, Any]]) -> list[str]:
    rows = [
        (
            prose(claim["name"]),
            prose(claim["claimed"]),
            prose(claim["observed"]) or "–",
            _marked(claim["verdict"]),
            prose(claim["note"]),
        )
        for claim in claims
        if claim["verdict"] != "unstated"
    ]
    return _table(("Claim", "Claimed", "Observed", "Verdict", "Note"), rows) if rows else []


def _rebuild(rebuild: Mapping[str, Any]) -> list[str]:
    files = [f"{prose(d['file'])}: {prose(d['what'])}" for d in rebuild["differences"]]
    if rebuild["not_shown"]:
        files.append(f"{rebuild['not_shown']} more that the report does not name")
    return _list(f"Two clean builds: {_marked(rebuild['verdict'])}", files or ["the same bytes"])
