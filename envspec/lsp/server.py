"""The language server: the protocol's requests and notifications, over stdio.

Documents are kept here and not in pygls, whose lines end where `str.splitlines` ends them.
Everything is answered on one thread, in the order asked. Checking a spec takes milliseconds, so
findings go out after every change; where a text takes long, they wait until typing pauses.
"""

from __future__ import annotations

import asyncio
import logging
import time
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import FeatureRequestError, JsonRpcException, JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter, lsp_method
from pygls.uris import to_fs_path

from envspec import __version__
from envspec.lsp import wire
from envspec.lsp.documents import Document
from envspec.lsp.locks import Locks
from envspec.lsp.text import UTF16, Text

AT_ONCE = 0.1
"""Seconds: a check that takes longer is put off until nothing has been typed for as long."""
TRIGGERS = [" ", "=", ">", "_", "-", "."]

_log = logging.getLogger("envspec.lsp")


class _Protocol(LanguageServerProtocol):
    """The protocol of pygls with our own documents."""

    _server: Server

    def structure_message(self, data: dict[str, Any]) -> Any:
        """A message as its type. A request that has not the shape of one is answered too."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "id" in data and "method" in data:
                self._send_response(data["id"], None, error.to_response_error())
            raise

    @lsp_method(lsp.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: lsp.DidOpenTextDocumentParams) -> None:
        self._server.opened(params.text_document)

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: lsp.DidChangeTextDocumentParams) -> None:
        self._server.edited(params.text_document, params.content_changes)

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: lsp.DidCloseTextDocumentParams) -> None:
        self._server.closed(params.text_document.uri)


class Server(LanguageServer):
    """A server for the specs that one editor has open."""

    def __init__(self) -> None:
        super().__init__(
            "envspec",
            __version__,
            protocol_cls=_Protocol,
            converter_factory=default_converter,
        )
        self.documents: dict[str, Document] = {}
        self.shut_down = False
        self._locks = Locks()
        self._took: dict[str, float] = {}
        self._waiting: dict[str, asyncio.TimerHandle] = {}

    # --- documents ------------------------------------------------------------------------

    def opened(self, item: lsp.TextDocumentItem) -> None:
        """A document is open from now on."""
        agreed = self.workspace.position_encoding
        encoding = agreed.value if isinstance(agreed, lsp.PositionEncodingKind) else agreed
        path = to_fs_path(item.uri) if item.uri.startswith("file:") else None
        self.documents[item.uri] = Document(
            item.uri,
            Path(path) if path else None,
            item.version,
            Text(item.text, encoding or UTF16),
            self._locks,
        )
        self.check(item.uri)

    def edited(
        self,
        item: lsp.VersionedTextDocumentIdentifier,
        changes: list[lsp.TextDocumentContentChangeEvent] | Any,
    ) -> None:
        """A document has changed; changes come in the order they were made."""
        document = self.documents.get(item.uri)
        if document is None:
            _log.warning("a change of a document that is not open: %r", item.uri)
            return
        text = document.text
        for change in changes:
            if isinstance(change, lsp.TextDocumentContentChangePartial):
                first, last = wire.place(change.range.start), wire.place(change.range.end)
                text = text.changed(first, last, change.text)
            else:
                text = Text(change.text, text.encoding)
        self.documents[item.uri] = document.changed(text, item.version)
        self._check_soon(item.uri)

    def closed(self, uri: str) -> None:
        """A document is no longer open: nothing is said about it any more."""
        self._stop_waiting(uri)
        self.documents.pop(uri, None)
        self._took.pop(uri, None)
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))

    def document(self, uri: str) -> Document:
        """An open document.

        Raises:
            JsonRpcInvalidParams: it is not open.
        """
        if uri not in self.documents:
            raise JsonRpcInvalidParams(f"this document is not open: {uri}")
        return self.documents[uri]

    # --- findings -------------------------------------------------------------------------

    def check(self, uri: str) -> None:
        """Tell the client what is wrong with a document."""
        self._stop_waiting(uri)
        document = self.documents.get(uri)
        if document is None:
            return
        begun = time.perf_counter()
        try:
            related = self._shows_related()
            found = [wire.diagnostic(document, d, related=related) for d in document.findings]
        except Exception:
            _log.exception("checking %r failed", uri)
            found = [wire.failure("this is a bug in envspec: checking failed; its log says more")]
        self._took[uri] = time.perf_counter() - begun
        self.text_document_publish_diagnostics(
            lsp.PublishDiagnosticsParams(uri, found, document.version)
        )

    def check_anew(self, uri: str) -> None:
        """The same, where something beside the document may have changed."""
        document = self.documents.get(uri)
        if document is not None:
            self.documents[uri] = document.changed(document.text, document.version)
            self.check(uri)

    def _check_soon(self, uri: str) -> None:
        self._stop_waiting(uri)
        took = self._took.get(uri, 0.0)
        if took <= AT_ONCE:
            self.check(uri)
        else:
            loop = asyncio.get_running_loop()
            self._waiting[uri] = loop.call_later(took, self.check, uri)

    def _stop_waiting(self, uri: str) -> None:
        waiting = self._waiting.pop(uri, None)
        if waiting is not None:
            waiting.cancel()

    # --- the client -----------------------------------------------------------------------

    def _shows_related(self) -> bool:
        documents = self.client_capabilities.text_document
        told = documents.publish_diagnostics if documents else None
        return bool(told and told.related_information)

    def watches_files(self) -> bool:
        """Whether the client can be asked to tell of files that change."""
        workspace = self.client_capabilities.workspace
        told = workspace.did_change_watched_files if workspace else None
        return bool(told and told.dynamic_registration)

    def takes_snippets(self) -> bool:
        """Whether the client knows placeholders in completions."""
        documents = self.client_capabilities.text_document
        completion = documents.completion if documents else None
        item = completion.completion_item if completion else None
        return bool(item and item.snippet_support)

    def nests_symbols(self) -> bool:
        """Whether the client takes an outline with levels."""
        documents = self.client_capabilities.text_document
        symbols = documents.document_symbol if documents else None
        return bool(symbols and symbols.hierarchical_document_symbol_support)

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log what nobody is answered for. A request that failed has had its error as answer, and
        pygls has logged it."""
        if source is not FeatureRequestError:
            _log.error("%s", error, exc_info=error)
