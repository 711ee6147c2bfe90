"""`envspec check`."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from envspec import render
from envspec.cli import common
from envspec.cli.explain import ALL, explain
from envspec.diagnostics import ERROR, Diagnostic, DiagnosticError, has_errors

if TYPE_CHECKING:
    from envspec.pipeline.check import Checked

STDIN = Path("-")
NAMELESS = Path("<stdin>")


@click.command("check")
@click.argument("specs", metavar="[SPEC]...", nargs=-1, type=click.Path(path_type=Path))
@click.option("--fix", is_flag=True, help="Apply the fixes that need no decision, in the file.")
@click.option("--diff", is_flag=True, help="Show what --fix would change, and write nothing.")
@click.option(
    "--explain",
    "code",
    metavar="CODE",
    help=f"Print the page of a rule, such as E0201; `{ALL}` lists every rule.",
)
@click.option("--strict", is_flag=True, help="Exit 1 for warnings as well.")
@click.option("--statistics", is_flag=True, help="Also count the findings of each rule.")
@click.option(
    "--stdin-filename",
    metavar="NAME",
    type=click.Path(path_type=Path),
    help="What the spec on standard input (`-`) is called; files beside NAME are looked at.",
)
@click.option(
    "--json-in", is_flag=True, help="Specs are in JSON form; `envspec schema` describes it."
)
@common.findings_format_option
@click.option("-q", "--quiet", is_flag=True, help="Only findings: no summary, no good news.")
def command(
    specs: tuple[Path, ...],
    fix: bool,
    diff: bool,
    code: str | None,
    strict: bool,
    statistics: bool,
    stdin_filename: Path | None,
    json_in: bool,
    form: str,
    quiet: bool,
) -> None:
    """Find everything that is wrong in specs, without resolving or building.

    SPEC is a file, by default `spec.env`, or `-` for standard input. Its lock and its scripts
    are looked at too: rules see the versions in the lock, and a stale one is a warning.

    Exit code 0 where no error is left, 1 otherwise, 2 for a wrong command line.
    """
    if code is not None:
        if specs:
            raise click.UsageError("`--explain` takes a code and no spec.")
        explain(code, form)
        return
    paths = tuple(dict.fromkeys(specs)) or (Path("spec.env"),)
    _refuse(paths, fix=fix, diff=diff, form=form, name=stdin_filename, statistics=statistics)
    with common.findings(paths[0], form):
        results = [_checked(path, stdin_filename, json=json_in) for path in paths]
        changes = False
        if fix or diff:
            results, changes = _fixed(results, write=not diff)
        found = [d for result in results for d in result.findings]
        if diff:
            if found and not quiet:
                click.echo(f"remaining: {render.summary(found)}", err=True)
        else:
            _show(found, form, quiet=quiet, fix=fix)
        if statistics:
            _count(found)
        if form == common.TEXT and not quiet and not diff:
            for result in results:
                if not has_errors(result.findings):
                    click.echo(f"{render.visible(result.source.name)}: no errors")
    bad = has_errors(found) or (strict and bool(found)) or (diff and changes)
    sys.exit(common.FINDINGS if bad else common.GOOD)


def _refuse(
    paths: Sequence[Path], *, fix: bool, diff: bool, form: str, name: Path | None, statistics: bool
) -> None:
    """Command lines that make no sense."""
    for path in paths:
        if os.path.isdir(path):  # noqa: PTH112 - pathlib's own fails on a name that is too long
            shown = render.visible(str(path))
            inside = render.visible(str(path / "spec.env"))
            raise click.UsageError(f"`{shown}` is a directory; name the spec in it: `{inside}`.")
    if name is not None and STDIN not in paths:
        raise click.UsageError("`--stdin-filename` needs `-`, the spec on standard input.")
    if fix and not diff and STDIN in paths:
        raise click.UsageError("`--fix` cannot write to standard input; `--diff` shows the change.")
    if (diff or statistics) and form != common.TEXT:
        option = "--diff" if diff else "--statistics"
        raise click.UsageError(f"`{option}` goes with `--format text` alone.")


def _checked(path: Path, name: Path | None, *, json: bool) -> Checked:
    from envspec.cli.clock import today
    from envspec.language.limits import MAX_BYTES
    from envspec.pipeline import check

    if path != STDIN:
        return check.check(path, json=json, today=today())
    data = common.standard_input(4 * MAX_BYTES + 1)
    alone = name is None
    return check.check(name or NAMELESS, data, alone=alone, json=json, today=today())


def _fixed(results: list[Checked], *, write: bool) -> tuple[list[Checked], bool]:
    """The same specs after their fixes, and whether there were any. What cannot be written
    keeps its findings, and that is one more."""
    from envspec.pipeline import fix as fixing

    after: list[Checked] = []
    changes = False
    for result in results:
        fixed = fixing.fix(result.source, result.findings, result.again)
        if fixed.source is result.source:
            after.append(result)
            continue
        changes = True
        try:
            if write:
                fixing.write(result.path, result.source, fixed.source)
            else:
                text = fixing.diff(result.source, fixed.source)
                shown = _for_a_terminal(text) if common.is_terminal(sys.stdout) else text
                click.echo(shown, nl=False, color=True)  # else it takes escapes out of the patch
        except DiagnosticError as error:
            after.append(result._replace(findings=(*error.diagnostics, *result.findings)))
            continue
        said = ", ".join(f"{code} {number}" for code, number in fixed.counts)
        total = sum(number for _, number in fixed.counts)
        verb = "fixed" if write else "would fix"
        what = "finding" if total == 1 else "findings"
        name = render.visible(result.source.name)
        click.echo(f"{name}: {verb} {total} {what} ({said})", err=True)
        after.append(result._replace(source=fixed.source, findings=fixed.findings))
    return after, changes


def _for_a_terminal(text: str) -> str:
    """A diff whose lines cannot move the cursor. Piped, it is what `patch` needs."""
    lines = (line.removesuffix("\r").split("\t") for line in text.split("\n")[:-1])
    return "".join("\t".join(map(render.visible, parts)) + "\n" for parts in lines)


def _show(found: Sequence[Diagnostic], form: str, *, quiet: bool, fix: bool) -> None:
    if form != common.TEXT:
        common.show(found, form)
        return
    if not found:
        return
    click.echo(render.text(found, colour=common.colour(sys.stderr)), err=True, nl=False)
    if not quiet:
        fixable = 0 if fix else sum(d.fix is not None for d in found)
        more = f"; {fixable} can be mended with `envspec check --fix`" if fixable else ""
        click.echo(render.summary(found) + more, err=True)


def _count(found: Sequence[Diagnostic]) -> None:
    """How many findings of each rule, most first."""
    from envspec import resources

    counts = Counter((d.code, d.severity) for d in found)
    for (code, severity), number in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        mark = "error" if severity == ERROR else severity
        click.echo(f"{number:>5}  {mark}[{code}]  {resources.page(code).title}")
