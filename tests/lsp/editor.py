"""An editor's side of the Language Server Protocol: JSON-RPC over the pipes of a real server."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PATIENCE = 60.0
"""Seconds until a server that says nothing has failed."""

CAPABILITIES: dict[str, Any] = {
    "general": {"positionEncodings": ["utf-16"]},
    "textDocument": {
        "publishDiagnostics": {"relatedInformation": True, "versionSupport": True},
        "completion": {"completionItem": {"snippetSupport": True}},
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
    },
}


class ErrorAnswerError(Exception):
    """The server answered a request with an error."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.code = error["code"]


class Editor:
    """One session with `python -m envspec lsp`."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.logged: list[bytes] = []
        self._asked = 0
        self._messages: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._kept: list[dict[str, Any]] = []
        for target in (self._read, self._listen):
            threading.Thread(target=target, daemon=True).start()

    # --- the wire ---

    def send(self, message: dict[str, Any]) -> None:
        self.send_raw(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def send_raw(self, body: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.process.stdin.flush()

    def notify(self, method: str, params: Any = None) -> None:
        self.send({"method": method, "params": params})

    def ask(self, method: str, params: Any = None) -> Any:
        """Send a request and wait for its answer; what comes before it is kept."""
        self._asked += 1
        number = self._asked
        self.send({"id": number, "method": method, "params": params})
        answer = self._wait(lambda m: m.get("id") == number and "method" not in m)
        if "error" in answer:
            raise ErrorAnswerError(answer["error"])
        return answer["result"]

    def _wait(self, wanted: Any) -> dict[str, Any]:
        for i, message in enumerate(self._kept):
            if wanted(message):
                return self._kept.pop(i)
        while True:
            message = self._messages.get(timeout=PATIENCE)  # type: ignore[assignment]
            if message is None:
                raise AssertionError(f"the server ended:\n{b''.join(self.logged).decode()}")
            if wanted(message):
                return message
            self._kept.append(message)

    def unread(self, method: str) -> int:
        """How many messages of a method came that nobody waited for."""
        return sum(m.get("method") == method for m in self._kept)

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while line := stream.readline():
            length = 0
            while line.strip():
                name, _, value = line.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
                line = stream.readline()
            try:
                self._messages.put(json.loads(stream.read(length)))
            except ValueError:
                self.logged.append(b"not a message of the protocol: " + line)
                break
        self._messages.put(None)

    def _listen(self) -> None:
        assert self.process.stderr is not None
        self.logged.extend(self.process.stderr)

    # --- documents ---

    def initialize(self, capabilities: dict[str, Any] = CAPABILITIES) -> dict[str, Any]:
        result: dict[str, Any] = self.ask(
            "initialize", {"processId": os.getpid(), "rootUri": None, "capabilities": capabilities}
        )
        self.notify("initialized", {})
        return result

    def open(self, uri: str, text: str) -> list[dict[str, Any]]:
        self.texts[uri], self.versions[uri] = text, 1
        item = {"uri": uri, "languageId": "envspec", "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})
        return self.diagnostics(uri)

    def change(self, uri: str, *changes: dict[str, Any]) -> list[dict[str, Any]]:
        self.versions[uri] += 1
        item = {"uri": uri, "version": self.versions[uri]}
        self.notify(
            "textDocument/didChange", {"textDocument": item, "contentChanges": list(changes)}
        )
        return self.diagnostics(uri)

    def replace(self, uri: str, old: str, new: str) -> list[dict[str, Any]]:
        """Type ``new`` over the first ``old``."""
        text = self.texts[uri]
        start = text.index(old)
        self.texts[uri] = text[:start] + new + text[start + len(old) :]
        span = {"start": place(text, start), "end": place(text, start + len(old))}
        return self.change(uri, {"range": span, "text": new})

    def close(self, uri: str) -> list[dict[str, Any]]:
        del self.texts[uri], self.versions[uri]
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        return self.diagnostics(uri)

    def diagnostics(self, uri: str) -> list[dict[str, Any]]:
        """What the server says of the version that was sent last."""
        message = self._wait(
            lambda m: (
                m.get("method") == "textDocument/publishDiagnostics"
                and m["params"]["uri"] == uri
                and m["params"].get("version", self.versions.get(uri)) == self.versions.get(uri)
            )
        )
        found: list[dict[str, Any]] = message["params"]["diagnostics"]
        return found

    def about(self, uri: str, method: str, at: str, **more: Any) -> Any:
        """Ask about the place of the first ``at``, at the character behind its `|`."""
        before, _, after = at.partition("|")
        offset = self.texts[uri].index(before + after) + len(before)
        params = {"textDocument": {"uri": uri}, "position": place(self.texts[uri], offset), **more}
        return self.ask(f"textDocument/{method}", params)

    def labels(self, uri: str, at: str) -> list[str]:
        """Labels of what completion offers."""
        return [item["label"] for item in self.about(uri, "completion", at)["items"]]

    def leave(self) -> int:
        self.ask("shutdown")
        self.notify("exit")
        return self.process.wait(PATIENCE)


def place(text: str, offset: int) -> dict[str, int]:
    """An offset as the protocol says it, in UTF-16 units."""
    before = text[:offset]
    line = before.rpartition("\n")[2]
    return {"line": before.count("\n"), "character": len(line.encode("utf-16-le")) // 2}


def cut(text: str, span: dict[str, Any]) -> str:
    """The text that a range of one line covers."""
    line = text.split("\n")[span["start"]["line"]].encode("utf-16-le")
    assert span["start"]["line"] == span["end"]["line"]
    return line[2 * span["start"]["character"] : 2 * span["end"]["character"]].decode("utf-16-le")


def applied(text: str, edits: list[dict[str, Any]]) -> str:
    """The text after edits of the protocol."""
    lines = text.split("\n")

    def offset(at: dict[str, int]) -> int:
        line = lines[at["line"]].encode("utf-16-le")[: 2 * at["character"]].decode("utf-16-le")
        return sum(len(one) + 1 for one in lines[: at["line"]]) + len(line)

    spans = [(offset(e["range"]["start"]), offset(e["range"]["end"]), e["newText"]) for e in edits]
    for start, end, new in sorted(spans, reverse=True):
        text = text[:start] + new + text[end:]
    return text


@contextmanager
def editor(
    cwd: Path, capabilities: dict[str, Any] | None = CAPABILITIES, *flags: str
) -> Iterator[Editor]:
    """A session that has begun; without ``capabilities``, one that has not."""
    argv = [sys.executable, "-m", "envspec", "lsp", *flags]
    pipe = subprocess.PIPE
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen(
        argv, cwd=cwd, env=environment, stdin=pipe, stdout=pipe, stderr=pipe
    ) as process:
        session = Editor(process)
        try:
            if capabilities is not None:
                session.initialize(capabilities)
            yield session
        finally:
            process.kill()
