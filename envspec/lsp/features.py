"""What the server answers: one function for each request and notification of the protocol."""

from __future__ import annotations

from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams

from envspec.diagnostics import DiagnosticError
from envspec.language.layout import formatted
from envspec.lsp import navigation, outline, wire
from envspec.lsp.completion import completions
from envspec.lsp.documents import Document
from envspec.lsp.hover import hover
from envspec.lsp.server import Server
from envspec.pipeline.load import LOCK_NAME

TRIGGERS = [" ", "=", ">", "_", "-", "."]


def make() -> Server:
    """A server that knows every request."""
    server = Server()
    _finish(server)
    _write(server)
    _navigate(server)
    return server


def _finish(server: Server) -> None:
    @server.feature(lsp.SHUTDOWN)
    def shutdown(_: Any) -> None:
        server.shut_down = True

    @server.feature(lsp.INITIALIZED)
    def initialized(_: Any) -> None:
        if not server.watches_files():
            return
        watchers = [lsp.FileSystemWatcher(f"**/{LOCK_NAME}")]
        options = lsp.DidChangeWatchedFilesRegistrationOptions(watchers)
        method = lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES
        server.client_register_capability(
            lsp.RegistrationParams([lsp.Registration("locks", method, options)])
        )

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        server.check_anew(params.text_document.uri)

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def watched(_: lsp.DidChangeWatchedFilesParams) -> None:
        for uri in list(server.documents):
            server.check_anew(uri)


def _write(server: Server) -> None:
    @server.feature(
        lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=TRIGGERS)
    )
    def completion(params: lsp.CompletionParams) -> lsp.CompletionList:
        document, offset = _at(server, params)
        found = completions(document.tree, offset, document.locked)
        snippets = server.takes_snippets()
        items = [wire.item(document.text, p, i, snippets=snippets) for i, p in enumerate(found)]
        return lsp.CompletionList(is_incomplete=False, items=items)

    @server.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION,
        lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix, wire.FIX_ALL]),
    )
    def code_action(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        return wire.actions(server.document(params.text_document.uri), params)

    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    def formatting(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit] | None:
        document = server.document(params.text_document.uri)
        try:
            text = formatted(document.source)
        except DiagnosticError:
            return None  # a broken text has no layout; its findings are shown already
        return wire.difference(document.text, text)

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    def rename(params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        document, offset = _at(server, params)
        site = navigation.renamed(document.tree, offset)
        if site is None:
            return None
        shape = navigation.shape_of(site.kind)
        if not shape.fits(params.new_name):
            raise JsonRpcInvalidParams(f"expected {shape.expected}")
        taken = navigation.sites(document.tree, site.kind, params.new_name)
        if params.new_name != site.name and any(s.declares for s in taken):
            raise JsonRpcInvalidParams(f"there is a {site.kind} {params.new_name} already")
        places = navigation.sites(document.tree, site.kind, site.name)
        edits = [lsp.TextEdit(wire.extent(document.text, s.span), params.new_name) for s in places]
        return wire.changed(document, edits)

    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepare_rename(params: lsp.PrepareRenameParams) -> lsp.Range | None:
        document, offset = _at(server, params)
        site = navigation.renamed(document.tree, offset)
        return wire.extent(document.text, site.span) if site else None


def _navigate(server: Server) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hovering(params: lsp.HoverParams) -> lsp.Hover | None:
        document, offset = _at(server, params)
        found = hover(document.tree, offset, document.locked)
        return wire.hover(document.text, found) if found else None

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def definition(params: lsp.DefinitionParams) -> list[lsp.Location]:
        document, offset = _at(server, params)
        return _locations(document, navigation.definitions(document.tree, offset))

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    def references(params: lsp.ReferenceParams) -> list[lsp.Location]:
        document, offset = _at(server, params)
        site = navigation.site_at(document.tree, offset)
        found = navigation.sites(document.tree, site.kind, site.name) if site else []
        with_it = params.context.include_declaration
        return _locations(document, [s for s in found if with_it or not s.declares])

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def highlight(params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight]:
        document, offset = _at(server, params)
        site = navigation.site_at(document.tree, offset)
        found = navigation.sites(document.tree, site.kind, site.name) if site else []
        return [lsp.DocumentHighlight(wire.extent(document.text, s.span)) for s in found]

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def symbols(
        params: lsp.DocumentSymbolParams,
    ) -> list[lsp.DocumentSymbol] | list[lsp.SymbolInformation]:
        document = server.document(params.text_document.uri)
        found = [wire.symbol(document.text, s) for s in outline.symbols(document.tree)]
        if server.nests_symbols():
            return found
        return [
            lsp.SymbolInformation(lsp.Location(document.uri, s.range), s.name, s.kind)
            for s in found
        ]

    @server.feature(lsp.TEXT_DOCUMENT_FOLDING_RANGE)
    def folding(params: lsp.FoldingRangeParams) -> list[lsp.FoldingRange]:
        document = server.document(params.text_document.uri)
        result = []
        for span, kind in outline.folds(document.tree):
            first, last = document.text.place(span.start), document.text.place(span.end)
            if last.line > first.line:
                end = last.line - (kind == "region")
                result.append(lsp.FoldingRange(first.line, max(first.line, end), kind=kind))
        return result


def _at(server: Server, params: Any) -> tuple[Document, int]:
    """The document and the offset that a request is about."""
    document = server.document(params.text_document.uri)
    return document, document.text.offset(wire.place(params.position))


def _locations(document: Document, sites: list[navigation.Site]) -> list[lsp.Location]:
    return [lsp.Location(document.uri, wire.extent(document.text, s.span)) for s in sites]
