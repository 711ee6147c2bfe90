"""`--explain CODE`: a rule's page."""

from __future__ import annotations

import json
import sys

import click

from envspec import resources
from envspec.cli import common

ALL = "all"


def explain(word: str, form: str) -> None:
    """Print the page of a code, in any case, or the list of all codes.

    Raises:
        click.UsageError: there is no such code, or the form is none that a page has.
    """
    if form == common.SARIF:
        raise click.UsageError("A page has no SARIF form; take `--format json`.")
    if word.lower() == ALL:
        _list(form)
        return
    known = resources.codes()
    code = word.upper()
    if code not in known:
        raise click.UsageError(f"There is no rule `{_shown(word)}`. {_near(code, known)}")
    page = resources.page(code)
    if form == common.JSON:
        click.echo(json.dumps(page._asdict(), indent=2, ensure_ascii=False))
        return
    text = f"# {page.code} {page.title}\n\n{page.body}"
    if common.colour(sys.stdout):
        from envspec.report.page import print_page

        print_page(text, sys.stdout)
    else:
        click.echo(text, nl=False)


def _list(form: str) -> None:
    pages = [resources.page(code) for code in resources.codes()]
    if form == common.JSON:
        listed = [{"code": page.code, "title": page.title} for page in pages]
        click.echo(json.dumps(listed, indent=2, ensure_ascii=False))
    else:
        click.echo("\n".join(f"{page.code}  {page.title}" for page in pages))


def _near(code: str, known: tuple[str, ...]) -> str:
    from envspec.suggest import closest

    near = closest(code, known)
    family = [c for c in known if len(code) >= 3 and c.startswith(code[:3])]
    if near:
        said = f"Did you mean `{near}`? "
    elif family:
        said = f"There are {', '.join(f'`{c}`' for c in family)}. "
    else:
        said = ""
    return f"{said}`--explain {ALL}` lists every rule."


def _shown(word: str) -> str:
    from envspec.render import visible

    return visible(word[:40])
