"""`envspec solve`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from envspec import render
from envspec.cli import common


@click.command("solve")
@common.spec_argument
@click.option("--write", is_flag=True, help="Write what is open into the spec.")
@click.option("--diff", is_flag=True, help="Show what --write would change, and write nothing.")
@common.format_option
def command(spec: Path, write: bool, diff: bool, form: str) -> None:
    """Find the newest CUDA, torch and companions that fit what a spec states, and say why.

    The answer comes from the facts alone: the lock, if there is one, has no part in it. Where
    nothing fits, the smallest set of statements that conflict is shown.

    Exit code 0 where a set was found, 1 otherwise.
    """
    from envspec.fixing import apply
    from envspec.language.parse import parse
    from envspec.language.resolve import resolve
    from envspec.pipeline import fix as fixing
    from envspec.pipeline import load
    from envspec.report import solution
    from envspec.solve.answer import answer
    from envspec.solve.findings import contradiction
    from envspec.solve.values import Conflict
    from envspec.source import SourceFile

    if diff and form != common.TEXT:
        raise click.UsageError("`--diff` goes with `--format text` alone.")
    with common.findings(spec, form):
        source = load.read_spec(spec)
        model = resolve(parse(source), source)
        if model.accelerator.kind != "cuda":
            _nothing(spec, form)
            return
        found = answer(model, source)
        if isinstance(found, Conflict):
            finding = contradiction(model, source, found)
            if form == common.JSON:
                document = {"solved": False, **render.document([finding])}
                click.echo(json.dumps(document, indent=2, ensure_ascii=False))
            else:
                common.show([finding], form)
            sys.exit(common.FINDINGS)
        after = source
        if found.fix:
            after = SourceFile(source.name, apply(source.text, [found.fix])[0])
        if diff:
            click.echo(fixing.diff(source, after), nl=False)
            return
        if write and after is not source:
            fixing.write(spec, source, after)
        if form == common.JSON:
            document = solution.document(found, source)
            click.echo(json.dumps(document, indent=2, ensure_ascii=False))
        else:
            click.echo(solution.text(found, source.name), nl=False)
            if write:
                said = "written" if after is not source else "nothing to write"
                click.echo(f"\n{render.visible(source.name)}: {said}")


def _nothing(spec: Path, form: str) -> None:
    if form == common.JSON:
        click.echo(json.dumps({"schema": 1, "solved": True, "open": [], "diagnostics": []}))
    else:
        click.echo(f"{render.visible(str(spec))}: no CUDA accelerator, and nothing to solve")
