"""Our values → the protocol's. Places become lines and columns in the client's own units."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from lsprotocol import types as lsp

from envspec import resources
from envspec.credentials import masked
from envspec.diagnostics import ERROR, WARNING, Diagnostic, Fix
from envspec.lsp.completion import Proposal
from envspec.lsp.documents import Document
from envspec.lsp.hover import Hover
from envspec.lsp.outline import Symbol
from envspec.lsp.text import Place, Text
from envspec.source import Span

SOURCE = "envspec"
FIX_ALL = f"{lsp.CodeActionKind.SourceFixAll.value}.{SOURCE}"
_SEVERITIES = {ERROR: lsp.DiagnosticSeverity.Error, WARNING: lsp.DiagnosticSeverity.Warning}
_ITEMS = {
    "keyword": lsp.CompletionItemKind.Keyword,
    "snippet": lsp.CompletionItemKind.Snippet,
    "module": lsp.CompletionItemKind.Module,
    "reference": lsp.CompletionItemKind.Reference,
    "variable": lsp.CompletionItemKind.Variable,
}
_SYMBOLS = {
    "project": lsp.SymbolKind.Module,
    "packages": lsp.SymbolKind.Package,
    "extension": lsp.SymbolKind.Package,
    "entry": lsp.SymbolKind.Function,
    "step": lsp.SymbolKind.Function,
    "env": lsp.SymbolKind.Variable,
    "claims": lsp.SymbolKind.Boolean,
    "index": lsp.SymbolKind.Interface,
    "service": lsp.SymbolKind.Object,
    "asset": lsp.SymbolKind.File,
    "secret": lsp.SymbolKind.Key,
}


def place(position: lsp.Position) -> Place:
    """A position of the protocol."""
    return Place(position.line, position.character)


def position(text: Text, offset: int) -> lsp.Position:
    """Where an offset is."""
    at = text.place(offset)
    return lsp.Position(at.line, at.column)


def extent(text: Text, span: Span) -> lsp.Range:
    """Where a span is."""
    return lsp.Range(position(text, span.start), position(text, max(span)))


# --- findings -----------------------------------------------------------------------------


def diagnostic(document: Document, found: Diagnostic, *, related: bool) -> lsp.Diagnostic:
    """A finding; ``related`` says whether the client shows further places.

    A finding about the lock is shown at the start of the spec, where its reader is.
    """
    if found.source is not None and found.source.name != document.source.name:
        name = Path(found.source.name).name
        found = found._replace(title=f"{name}: {found.title}", labels=(), fix=None)
    text = document.text
    first = found.labels[0] if found.labels else None
    parts = [masked(found.title)]
    if first is not None and first.text:
        parts[0] += f" ({masked(first.text)})"
    parts += [masked(part) for part in (found.cause, f"hint: {found.hint}" * bool(found.hint))]
    more = [
        lsp.DiagnosticRelatedInformation(
            lsp.Location(document.uri, extent(text, label.span)), masked(label.text or found.title)
        )
        for label in found.labels[1:]
    ]
    return lsp.Diagnostic(
        range=extent(text, _first_line(text, found.span)),
        message="\n".join(filter(None, parts)),
        severity=_SEVERITIES.get(found.severity, lsp.DiagnosticSeverity.Information),
        code=found.code,
        code_description=_page(found.code),
        source=SOURCE,
        related_information=more if related and more else None,
    )


@cache
def _page(code: str) -> lsp.CodeDescription | None:
    """The page of a rule, where this installation has it."""
    path = resources.folder("rules") / f"{code}.md"
    return lsp.CodeDescription(path.resolve().as_uri()) if path.is_file() else None


def failure(why: str) -> lsp.Diagnostic:
    """What stands in place of findings where looking for them failed."""
    start = lsp.Position(0, 0)
    severity = lsp.DiagnosticSeverity.Warning
    return lsp.Diagnostic(lsp.Range(start, start), why, severity, source=SOURCE)


def _first_line(text: Text, span: Span) -> Span:
    """A span cut at the end of its first line: a block underlined as a whole hides the rest."""
    return Span(span.start, max(span.start, min(span.end, text.line_of(span.start).end)))


def actions(document: Document, asked: lsp.CodeActionParams) -> list[lsp.CodeAction]:
    """What mends findings: one quick fix for each in the range, and all of the file at once."""
    only = asked.context.only
    found = [d for d in document.findings if d.fix is not None]
    result = []
    if _wanted(only, lsp.CodeActionKind.QuickFix.value):
        chosen = document.text.offset(place(asked.range.start))
        last = document.text.offset(place(asked.range.end))
        for d in found:
            span = _first_line(document.text, d.span)
            if d.fix is not None and span.start <= last and chosen <= span.end:
                result.append(
                    lsp.CodeAction(
                        title=_title(d.fix),
                        kind=lsp.CodeActionKind.QuickFix,
                        diagnostics=[diagnostic(document, d, related=False)],
                        is_preferred=True,
                        edit=edits(document, (d.fix,)),
                    )
                )
    if found and _wanted(only, FIX_ALL):
        edit = changed(document, difference(document.text, document.mended))
        title = "Fix everything that envspec can fix"
        result.append(lsp.CodeAction(title=title, kind=FIX_ALL, edit=edit))
    return result


def _wanted(only: Iterable[lsp.CodeActionKind | str] | None, kind: str) -> bool:
    """Whether a kind is asked for: kinds nest by dots, and none named means all."""
    if only is None:
        return True
    names = [k.value if isinstance(k, lsp.CodeActionKind) else k for k in only]
    return any(n in {"", kind} or kind.startswith(f"{n}.") for n in names)


def _title(fix: Fix) -> str:
    return fix.description[:1].upper() + fix.description[1:]


def edits(document: Document, fixes: Iterable[Fix]) -> lsp.WorkspaceEdit:
    """Fixes of one document."""
    changes = [
        lsp.TextEdit(extent(document.text, e.span), e.replacement) for f in fixes for e in f.edits
    ]
    return changed(document, changes)


def changed(document: Document, changes: list[lsp.TextEdit]) -> lsp.WorkspaceEdit:
    """Changes of one document. Without versions: every client takes this form."""
    return lsp.WorkspaceEdit(changes={document.uri: changes})


def difference(text: Text, wanted: str) -> list[lsp.TextEdit]:
    """One edit that makes a text another, of as few lines as differ."""
    if wanted == text.text:
        return []
    before, after = text.text.splitlines(keepends=True), wanted.splitlines(keepends=True)
    head = _alike(before, after)
    least = min(len(before), len(after)) - head
    tail = min(_alike(before[::-1], after[::-1]), least)
    start = sum(map(len, before[:head]))
    end = len(text.text) - sum(map(len, before[len(before) - tail :]))
    changed_lines = "".join(after[head : len(after) - tail])
    return [lsp.TextEdit(extent(text, Span(start, end)), changed_lines)]


def _alike(a: list[str], b: list[str]) -> int:
    """How many lines two lists begin with alike."""
    pairs = enumerate(zip(a, b, strict=False))
    return next((i for i, (x, y) in pairs if x != y), min(len(a), len(b)))


# --- the rest -----------------------------------------------------------------------------


def item(text: Text, proposal: Proposal, number: int, *, snippets: bool) -> lsp.CompletionItem:
    """A proposal, in the order they were given."""
    snippet = proposal.snippet and snippets
    written = proposal.insert if snippet or not proposal.snippet else proposal.plain
    notes = proposal.documentation
    form = lsp.InsertTextFormat.Snippet if snippet else lsp.InsertTextFormat.PlainText
    return lsp.CompletionItem(
        label=proposal.label,
        kind=_ITEMS.get(proposal.kind, lsp.CompletionItemKind.Value),
        detail=proposal.detail or None,
        documentation=lsp.MarkupContent(lsp.MarkupKind.Markdown, notes) if notes else None,
        sort_text=f"{number:04}",
        filter_text=proposal.label,
        insert_text_format=form,
        text_edit=lsp.TextEdit(extent(text, proposal.span), written),
    )


def hover(text: Text, found: Hover) -> lsp.Hover:
    """What is known of a piece of text."""
    return lsp.Hover(
        lsp.MarkupContent(lsp.MarkupKind.Markdown, found.markdown), extent(text, found.span)
    )


def symbol(text: Text, found: Symbol) -> lsp.DocumentSymbol:
    """A statement of the outline."""
    return lsp.DocumentSymbol(
        name=found.name,
        detail=found.detail or None,
        kind=_SYMBOLS.get(found.word, lsp.SymbolKind.Property),
        range=extent(text, found.span),
        selection_range=extent(text, found.chosen),
        children=[symbol(text, s) for s in found.inside],
    )
