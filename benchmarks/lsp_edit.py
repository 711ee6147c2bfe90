"""One edit in an editor: from the change to the findings of the changed text, over stdio.

A spec that states 200 packages stands beside its fresh lock, so every rule and the lock take part.
Each edit writes one package's version anew, as typing does: of four, one leaves the spec broken,
one leaves it as the lock has it, and two make the lock stale. Its answer is the
`publishDiagnostics` of that version. Completion and hover are asked beside it.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from inputs import LOCKED, Made, made
from measure import AT_MOST, Figure, Skipped, environment, output

NAME = "lsp_edit"
ROUNDS = 400
WARM = 40
PACKAGE = LOCKED // 2


def figures(rounds: int | None) -> Iterator[Figure | Skipped]:
    """Edit to findings, and the two requests that come with typing."""
    with tempfile.TemporaryDirectory(prefix="envspec-bench.") as name:
        yield from _measured(Path(name), rounds or ROUNDS)


def _measured(folder: Path, rounds: int) -> Iterator[Figure]:
    pair = made(0, LOCKED)
    (folder / "spec.env").write_text(pair.source.text)
    (folder / "spec.lock").write_text(pair.lock.text)
    output([sys.executable, "-m", "envspec", "lsp", "--help"])  # compiled to bytecode now
    with _Session(folder, pair) as session:
        times = [session.edit(i) for i in range(WARM + rounds)][WARM:]
        asked = {
            method: [session.ask(method) for _ in range(WARM + rounds // 4)][WARM:]
            for method in ("textDocument/completion", "textDocument/hover")
        }
    what = f"editor, {LOCKED} packages stated and locked"
    note = f"{rounds} edits; median {statistics.median(times):.1f} ms, longest {max(times):.1f} ms"
    yield Figure(f"{what}: edit to findings, p95", _p95(times), None, "ms", AT_MOST, 50.0, note)
    for method, seconds in asked.items():
        name = method.rpartition("/")[2]
        yield Figure(f"{what}: {name}, p95", _p95(seconds), None, "ms", AT_MOST, None)


def _p95(times: list[float]) -> float:
    return statistics.quantiles(times, n=20)[-1]


class _Session:
    """An editor with one spec open."""

    def __init__(self, folder: Path, pair: Made) -> None:
        self.uri = (folder / "spec.env").as_uri()
        lines = pair.source.text.splitlines()
        at = f"  package-0-{PACKAGE} =="
        self.line = next(i for i, line in enumerate(lines) if line.startswith(at))
        self.first = len(at) - len("==")
        self.last = self.first + len(lines[self.line][self.first :].split()[0])
        self.locked = lines[self.line][self.first : self.last]
        self.text = pair.source.text
        self.version = 0
        self.process = subprocess.Popen(
            [sys.executable, "-m", "envspec", "lsp"],
            cwd=folder,
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def __enter__(self) -> _Session:
        self._request("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        self._notify("initialized", {})
        item = {"uri": self.uri, "languageId": "envspec", "version": 0, "text": self.text}
        self._notify("textDocument/didOpen", {"textDocument": item})
        assert self._findings() == [], "the spec of the benchmark has findings"
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()

    def edit(self, number: int) -> float:
        """Milliseconds from a change to the findings of its version."""
        fresh = number % 4 == 1
        new = '=="' if number % 4 == 3 else f"=={1 + number % 7}.1.{number}"
        new = f"{self.locked} # {number}" if fresh else new
        self.version += 1
        span = {
            "start": {"line": self.line, "character": self.first},
            "end": {"line": self.line, "character": self.last},
        }
        begun = time.perf_counter()
        self._notify(
            "textDocument/didChange",
            {
                "textDocument": {"uri": self.uri, "version": self.version},
                "contentChanges": [{"range": span, "text": new}],
            },
        )
        found = self._findings()
        took = time.perf_counter() - begun
        self.last = self.first + len(new)
        # A changed version makes the lock stale, a broken line is an error.
        assert bool(found) != fresh, f"unexpected findings: {found}"
        return took * 1000

    def ask(self, method: str) -> float:
        """Milliseconds from a request to its answer."""
        where = {"line": self.line, "character": self.first}
        begun = time.perf_counter()
        answer = self._request(method, {"textDocument": {"uri": self.uri}, "position": where})
        took = time.perf_counter() - begun
        assert answer["result"], f"{method} gave nothing"
        return took * 1000

    def _findings(self) -> list[Any]:
        while True:
            message = self._read()
            told = message.get("params") or {}
            if told.get("uri") == self.uri and told.get("version") == self.version:
                found: list[Any] = told["diagnostics"]
                return found

    def _request(self, method: str, params: object) -> dict[str, Any]:
        self._send({"id": method, "method": method, "params": params})
        while True:
            message = self._read()
            if message.get("id") == method:
                return message

    def _notify(self, method: str, params: object) -> None:
        self._send({"method": method, "params": params})

    def _send(self, message: dict[str, object]) -> None:
        assert self.process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.process.stdin.flush()

    def _read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        length = 0
        while (line := self.process.stdout.readline()).strip():
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        if not length:
            raise RuntimeError("the language server ended")
        message: dict[str, Any] = json.loads(self.process.stdout.read(length))
        return message
