"""The report as a table for people. With `progress`, the only importer of rich."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TextIO

from rich.console import Console
from rich.markup import escape as _unmarked
from rich.table import Table

from envspec.report.plain import plain
from envspec.report.rungs import counts, words

_TONES = {
    "pass": "green",
    "confirmed": "green",
    "fail": "red",
    "error": "red",
    "overclaim": "red",
    "mismatch": "red",
    "blocked": "yellow",
    "inconclusive": "yellow",
    "underclaim": "yellow",
}
_DIFFERENCES = 10


def escape(text: str) -> str:
    """Words of a report, which may be a stranger's: no markup, no character that a terminal
    obeys."""
    return _unmarked(plain(text))


def print_report(report: Mapping[str, Any], stream: TextIO, *, colour: bool) -> None:
    """The engine and its weaknesses first, then the rungs, the claims and the verdict."""
    console = Console(
        file=stream,
        force_terminal=colour,
        no_color=not colour,
        highlight=False,
        width=None if stream.isatty() else 110,
    )
    _print_engine(console, report["engine"], report["project"])
    for part in (_rungs(report["rungs"]), _claims(report["claims"])):
        console.print()
        console.print(part)
    console.print()
    if report["rebuild"]:
        _print_rebuild(console, report["rebuild"], report["spec"]["spec"])
    _print_verdict(console, report)


def _print_engine(console: Console, engine: Mapping[str, Any], project: str) -> None:
    console.print(f"[bold]{escape(project)}[/bold] on the {escape(engine['name'])} engine")
    console.print(f"  {escape(engine['chosen'])}", style="dim")
    if engine["base_substituted"]:
        console.print(
            f"  base replaced: {escape(engine['base_substituted'])} stands in for "
            f"{escape(engine['base'])}",
            style="yellow",
        )
    for weakness in engine["weaknesses"]:
        console.print(f"  weaker: {escape(weakness)}", style="yellow")


def _table(*headers: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, title_justify="left")
    for header in headers:
        table.add_column(header, overflow="fold")
    return table


def _rungs(rungs: Mapping[str, Any]) -> Table:
    table = _table("rung", "asks", "verdict", "what was seen")
    for name, rung in rungs.items():
        title, holds, _ = words(name)
        cause = f" ({rung['cause']})" if rung["cause"] else ""
        table.add_row(escape(title), holds, _toned(rung["verdict"], cause), escape(rung["reason"]))
    return table


def _claims(claims: list[Mapping[str, Any]]) -> Table:
    table = _table("C5 claim", "claimed", "observed", "verdict", "note")
    for claim in claims:
        table.add_row(
            claim["name"],
            escape(claim["claimed"] or "–"),
            escape(claim["observed"] or "–"),
            _toned(claim["verdict"]),
            escape(claim["note"]),
        )
    return table


def _toned(verdict: str, suffix: str = "") -> str:
    tone = _TONES.get(verdict, "dim")
    return f"[{tone}]{verdict}{suffix}[/{tone}]"


def _print_rebuild(console: Console, rebuild: Mapping[str, Any], spec: str) -> None:
    first, second = rebuild["digests"]
    said = first if rebuild["verdict"] == "pass" else f"{first} and {second}"
    console.print(f"two clean builds: {_toned(rebuild['verdict'])}   {escape(said)}")
    for difference in rebuild["differences"][:_DIFFERENCES]:
        where = f"{spec}:{difference['line']} " if difference["line"] else ""
        console.print(f"  {escape(where + difference['file'])}: {escape(difference['what'])}")
    more = len(rebuild["differences"][_DIFFERENCES:]) + rebuild["not_shown"]
    if more:
        console.print(f"  and {more} more; `rebuild.differences` of the report names them")


def _print_verdict(console: Console, report: Mapping[str, Any]) -> None:
    for path in report["source_changed"][:10]:
        console.print(f"changed by a run: {escape(path)}", style="red")
    if report["network"]:
        console.print(f"network was on for: {escape(', '.join(report['network']))}", style="yellow")
    console.print(f"verdict: {_toned(report['verdict'])}   {counts(report['scores'])}")
