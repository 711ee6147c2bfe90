"""What a server must survive: huge and hostile texts, wrong messages, its own faults."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from editor import Editor, ErrorAnswerError, editor
from specs import CLEAN

MIB = 1 << 20
MANY = 100_000
HOSTILE = {
    "one long line": "a" * (MIB - 1),
    "one long string": '"' + "\\" * (MIB - 2),
    "braces": "{" * MANY,
    "blocks": "a {\n" * (MIB // 4 - 1),
    "quotes": '"' * MANY,
    "assignments": 'A="' * MANY,
    "blank lines": "\n" * MANY,
    "carriage returns": "\r" * (MIB - 1),
    "hashes": "#" * (MIB - 1),
    "forbidden": "\x00\ufeff\u202e" * 100_000,
    "surrogates": "\ud800\udfff" * 1000,
    "statements": "packages {\n" + "".join(f"a{i} ==1\n" for i in range(9_990)) + "}\n",
    "too many statements": "a\n" * 20_000,
    "too large": "a\n" * MIB,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_are_answered(shared: Editor, uri: str, name: str) -> None:
    found = shared.open(uri, HOSTILE[name])
    assert found, "each of them has something wrong"
    asked: dict[str, Any] = {"textDocument": {"uri": uri}}
    end = {"line": 1 << 30, "character": 1 << 30}
    for method in ("completion", "hover", "definition", "documentHighlight", "prepareRename"):
        for position in ({"line": 0, "character": 1}, end):
            shared.ask(f"textDocument/{method}", {**asked, "position": position})
    for method in ("documentSymbol", "foldingRange"):
        shared.ask(f"textDocument/{method}", asked)
    options = {"tabSize": 2, "insertSpaces": True}
    shared.ask("textDocument/formatting", {**asked, "options": options})
    span = {"start": {"line": 0, "character": 0}, "end": end}
    actions = {**asked, "range": span, "context": {"diagnostics": []}}
    assert isinstance(shared.ask("textDocument/codeAction", actions), list)
    # And the session goes on.
    assert shared.change(uri, {"range": span, "text": CLEAN}) == []


def test_messages_that_are_none_do_not_end_a_session(shared: Editor, uri: str) -> None:
    for body in (
        b"{",
        b"[1, 2]",
        b"null",
        b"\xff\xfe",
        b'{"jsonrpc": "2.0"}',
        b"[" * 100_000,
        b'{"jsonrpc": "2.0", "method": "textDocument/didChange", "params": {"a": 1}}',
        json.dumps({"jsonrpc": "1.0", "method": "exit"}).encode(),
    ):
        shared.send_raw(body)
    assert shared.open(uri, CLEAN) == []


def test_changes_of_what_is_not_open_do_nothing(shared: Editor, uri: str) -> None:
    item = {"uri": "file:///nowhere/spec.env", "version": 3}
    shared.notify(
        "textDocument/didChange", {"textDocument": item, "contentChanges": [{"text": ""}]}
    )
    shared.notify("textDocument/didSave", {"textDocument": item})
    assert shared.open(uri, CLEAN) == []


def test_a_pipe_beside_the_spec_is_not_waited_for(shared: Editor, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "spec.lock")
    uri = (tmp_path / "spec.env").as_uri()
    assert shared.open(uri, CLEAN) == []
    shared.close(uri)


FAULTY = """
import envspec.lsp.documents as documents
import envspec.lsp.features as features
from envspec.lsp.stdio import run

def fault(*_):
    print("printed by something")
    raise RuntimeError("seeded fault")

real = documents.of_text
documents.of_text = lambda s, *more: fault() if "seeded" in s.text else real(s, *more)
features.hover = fault
raise SystemExit(run())
"""


def test_a_fault_of_our_own_is_logged_and_answered(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", FAULTY]
    pipe = subprocess.PIPE
    uri = (tmp_path / "spec.env").as_uri()
    with subprocess.Popen(argv, cwd=tmp_path, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        session = Editor(process)
        session.initialize()
        (found,) = session.open(uri, f"# seeded\n{CLEAN}")
        assert (found["severity"], found["message"].startswith("this is a bug")) == (2, True)
        with pytest.raises(ErrorAnswerError, match="RuntimeError"):
            session.about(uri, "hover", "gp|us")
        assert session.replace(uri, "# seeded\n", "") == []
        assert session.leave() == 0
    logged = b"".join(session.logged).decode()
    assert logged.count("RuntimeError: seeded fault") == 2
    assert "printed by something" in logged, "and not on the protocol's own stream"


def test_a_slow_text_is_checked_once_typing_pauses(tmp_path: Path) -> None:
    """Findings of versions that nobody looks at any more are not worked out."""
    slow = (
        "import time, envspec.lsp.documents as d\n"
        "from envspec.lsp.stdio import run\n"
        "real = d.of_text\n"
        "d.of_text = lambda *a: (time.sleep(0.5), real(*a))[1]\n"
        "raise SystemExit(run())\n"
    )
    pipe = subprocess.PIPE
    uri = (tmp_path / "spec.env").as_uri()
    argv = [sys.executable, "-c", slow]
    with subprocess.Popen(argv, cwd=tmp_path, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        session = Editor(process)
        session.initialize()
        session.open(uri, CLEAN)
        for version in range(2, 12):
            item = {"uri": uri, "version": version}
            changes = [{"text": f"{CLEAN}# {version}\n"}]
            session.notify(
                "textDocument/didChange", {"textDocument": item, "contentChanges": changes}
            )
        session.versions[uri] = 11
        assert session.diagnostics(uri) == []
        assert session.leave() == 0
        assert session.unread("textDocument/publishDiagnostics") < 9


def test_another_transport_is_refused(tmp_path: Path) -> None:
    with editor(tmp_path, None, "--tcp") as session:
        assert session.process.wait(60) == 2
