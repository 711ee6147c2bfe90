"""A whole session of an editor with the server, over the pipes of a real process."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from editor import CAPABILITIES, Editor, ErrorAnswerError, editor
from specs import CLEAN


def test_a_session_from_initialize_to_exit(tmp_path: Path) -> None:
    uri = (tmp_path / "spec.env").as_uri()
    with editor(tmp_path, None, "--stdio") as session:
        capabilities = session.initialize()["capabilities"]
        assert capabilities["positionEncoding"] == "utf-16"
        assert capabilities["textDocumentSync"]["change"] == 2  # incremental
        assert capabilities["codeActionProvider"]["codeActionKinds"] == [
            "quickfix",
            "source.fixAll.envspec",
        ]
        for feature in (
            "completionProvider",
            "hoverProvider",
            "definitionProvider",
            "referencesProvider",
            "renameProvider",
            "documentFormattingProvider",
            "documentSymbolProvider",
            "documentHighlightProvider",
            "foldingRangeProvider",
        ):
            assert capabilities[feature], feature
        assert session.open(uri, CLEAN) == []
        (found,) = session.replace(uri, "entry smoke", "entri smoke")
        assert (found["code"], found["severity"]) == ("E0201", 1)
        assert session.replace(uri, "entri smoke", "entry smoke") == []
        assert session.close(uri) == []
        assert session.leave() == 0
        assert b"".join(session.logged) == b""


def test_exit_without_shutdown_is_a_failure(tmp_path: Path) -> None:
    with editor(tmp_path) as session:
        session.notify("exit")
        assert session.process.wait(60) == 1


def test_the_end_of_stdin_ends_the_server(tmp_path: Path) -> None:
    with editor(tmp_path) as session:
        assert session.process.stdin is not None
        session.process.stdin.close()
        assert session.process.wait(60) == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server(tmp_path: Path, number: signal.Signals) -> None:
    with editor(tmp_path) as session:
        session.process.send_signal(number)
        assert session.process.wait(60) == -number


def test_two_documents_do_not_mix(shared: Editor, tmp_path: Path) -> None:
    first, second = (tmp_path / "a.env").as_uri(), (tmp_path / "b.env").as_uri()
    assert shared.open(first, CLEAN) == []
    assert [d["code"] for d in shared.open(second, CLEAN.replace("envspec 1", "envspec 2"))] == [
        "E0106"
    ]
    assert [d["code"] for d in shared.replace(first, "claims {", "clams {")] == ["E0201"]
    assert shared.replace(second, "envspec 2", "envspec 1") == []
    assert shared.about(second, "hover", "gpus   |sm_80")["contents"]["value"].count("A100")
    assert shared.replace(first, "clams {", "claims {") == []
    assert shared.close(first) == shared.close(second) == []


def test_findings_carry_the_version_they_are_about(shared: Editor, uri: str) -> None:
    shared.open(uri, CLEAN)
    # Two changes in one breath; `replace` waits for the findings of its own version.
    item = {"uri": uri, "version": 7}
    whole = [{"text": "envspec 1\n"}]
    shared.notify("textDocument/didChange", {"textDocument": item, "contentChanges": whole})
    shared.versions[uri] = 7
    assert "E0204" in {d["code"] for d in shared.diagnostics(uri)}


def test_requests_about_documents_that_are_not_open_are_answered(shared: Editor) -> None:
    asked = {"textDocument": {"uri": "file:///not-open"}, "position": {"line": 0, "character": 0}}
    with pytest.raises(ErrorAnswerError, match="not open"):
        shared.ask("textDocument/hover", asked)


def test_a_request_of_no_known_shape_is_answered(shared: Editor) -> None:
    with pytest.raises(ErrorAnswerError) as wrong:
        shared.ask("textDocument/hover", {"textDocument": 3})
    assert wrong.value.code == -32602
    with pytest.raises(ErrorAnswerError) as unknown:
        shared.ask("envspec/doesNotExist", {})
    assert unknown.value.code == -32601


def test_a_document_on_no_disk_is_checked_too(shared: Editor) -> None:
    uri = "untitled:Untitled-1"
    assert shared.open(uri, CLEAN) == []
    assert shared.close(uri) == []


def test_a_client_that_knows_little_gets_what_it_knows(tmp_path: Path) -> None:
    uri = (tmp_path / "spec.env").as_uri()
    with editor(tmp_path, {}) as session:
        assert session.open(uri, CLEAN) == []
        found = session.replace(uri, "entry train", "entry smoke")
        assert all("relatedInformation" not in d for d in found)
        items = session.about(uri, "completion", "|\n# Everything")["items"]
        assert items
        assert all(
            i["insertTextFormat"] == 1 and "$" not in i["textEdit"]["newText"] for i in items
        )
        flat = session.about(uri, "documentSymbol", "envspec|")
        assert {"name", "kind", "location"} <= set(flat[0])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-32"])
def test_columns_count_in_the_units_agreed(tmp_path: Path, encoding: str) -> None:
    """Helix and new Neovim ask for UTF-8."""
    capabilities: dict[str, Any] = {**CAPABILITIES, "general": {"positionEncodings": [encoding]}}
    line = 'entry smoke { level c1\n run "𝒳" bare }'
    uri = (tmp_path / "spec.env").as_uri()
    with editor(tmp_path, None) as session:
        assert session.initialize(capabilities)["capabilities"]["positionEncoding"] == encoding
        found = session.open(uri, CLEAN[: CLEAN.index("entry smoke")] + line + "\n")
    at = [d["range"] for d in found if "`bare`" in d["message"]]
    before = ' run "𝒳" '
    column = len(before.encode(encoding + "-le" * (encoding == "utf-32")))
    assert [r["start"]["character"] for r in at] == [column // (4 if encoding == "utf-32" else 1)]


def test_without_pygls_the_verb_says_how_to_install_it() -> None:
    code = (
        "import sys, importlib.util as u\n"
        "real = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'pygls' else real(name, *a)\n"
        "sys.argv = ['envspec', 'lsp']\n"
        "from envspec.cli.main import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert "pip install 'envspec[lsp]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_other_verbs_load_no_protocol() -> None:
    code = (
        "import sys, json; sys.argv = ['envspec', 'check', '--help']\n"
        "from envspec.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(json.dumps(sorted(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    loaded = json.loads(done.stdout.splitlines()[-1])
    assert "envspec.cli.check" in loaded
    assert not [m for m in loaded if m.startswith(("pygls", "lsprotocol", "envspec.lsp"))]
