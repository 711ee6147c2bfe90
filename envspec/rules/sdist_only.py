"""E0340: a package that its index has as a source archive only, among those taken as wheels."""

from __future__ import annotations

import re
from collections.abc import Iterator

from envspec.diagnostics import Diagnostic, Edit, Fix, Label
from envspec.facts import rows as kinds
from envspec.model import Package
from envspec.rules.shared import compiling, places
from envspec.rules.view import View
from envspec.source import Span
from envspec.stated import exact, from_default_index

CODE = "E0340"

_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|#[^\n]*|}')


def check(view: View) -> Iterator[Diagnostic]:
    """One finding a package. What the lock has was found as a wheel, and a local version (or an
    index of the user's own) names a wheel that somebody made."""
    for package in view.spec.packages:
        row = compiling.facts(view, package.name)
        if row is None or row.distribution != "sdist" or package.name in view.locked:
            continue
        if not from_default_index(package) or "+" in exact(package.specifier):
            continue
        block = _block(view, package, row)
        yield Diagnostic(
            CODE,
            f"`{package.name}` is published as source only, and `packages` are wheels",
            view.source,
            (Label(package.span, "no wheel of it"),),
            cause="what has to be compiled is compiled once, against the locked torch, in a stage "
            "of its own",
            hint=f"move it out of `packages` into `extension {package.name}`",
            fix=_fix(view, package, block),
        )


def _block(view: View, package: Package, row: kinds.Extension) -> str:
    """The extension that stands for a package, as the language writes it."""
    for_cuda = view.cuda or row.force_reason != "gpu"
    head = " ".join(
        filter(None, (f"extension {package.name}", package.specifier, _said(package, view)))
    )
    lines = [("needs", " ".join(row.needs))]
    if row.force and for_cuda and view.torch_build_name != "cpu":
        flags = " ".join(f'{name}="{value}"' for name, value in compiling.settings(row.force))
        lines.append(("env", flags))
    if row.modules:
        lines.append(("module", " ".join(row.modules)))
    width = max(len(word) for word, _ in lines)
    inside = "".join(f"  {word.ljust(width)} {values}\n" for word, values in lines)
    return f"{head} {{\n{inside}}}"


def _said(package: Package, view: View) -> str:
    """`from` and `because` as they are written, behind the specifier."""
    return view.source.text[package.specifier_span.end : package.span.end].strip()


def _fix(view: View, package: Package, block: str) -> Fix | None:
    text, span = view.source.text, package.span
    if package.extras or compiling.written_name(view, package) is None:
        return None
    end = _end_of_block(text, span.end)
    added = places.add_block(view.source, Span(span.start, end), block) if end else None
    if added is None:
        return None
    return Fix(f"build {package.name} as an extension", (Edit(_line(text, span), ""), added))


def _end_of_block(text: str, start: int) -> int | None:
    """Behind the brace that closes the block of a package: its lines hold no other brace."""
    braces = (token.end() for token in _TOKEN.finditer(text, start) if token[0] == "}")
    return next(braces, None)


def _line(text: str, span: Span) -> Span:
    """The whole line of a statement where nothing else stands on it, else the statement and the
    blanks behind it."""
    begin = text.rfind("\n", 0, span.start) + 1
    stop = text.find("\n", span.end)
    rest = text[span.end : stop if stop >= 0 else len(text)]
    if text[begin : span.start].strip() or rest.strip():
        return Span(span.start, span.end + len(rest) - len(rest.lstrip()))
    return Span(begin, stop + 1)
