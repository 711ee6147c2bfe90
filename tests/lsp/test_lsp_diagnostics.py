"""Findings while typing: the same as `envspec check`, at the right place, with their fixes."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from editor import Editor, applied, cut
from specs import CLEAN

EXAMPLE = Path(__file__).parents[2] / "examples" / "x-transformers"


def whole(shared: Editor, uri: str, *only: str) -> list[dict[str, Any]]:
    """The code actions of a whole document."""
    context: dict[str, Any] = {"diagnostics": []}
    if only:
        context["only"] = list(only)
    end = {"line": shared.texts[uri].count("\n"), "character": 0}
    span = {"start": {"line": 0, "character": 0}, "end": end}
    asked = {"textDocument": {"uri": uri}, "range": span, "context": context}
    actions: list[dict[str, Any]] = shared.ask("textDocument/codeAction", asked)
    return actions


def test_each_kind_of_finding_appears_while_typing(shared: Editor, uri: str) -> None:
    assert shared.open(uri, CLEAN) == []
    (shape,) = shared.replace(uri, '"demo"\n', '"demo\n')
    assert shape["code"] == "E0103"
    assert shared.replace(uri, '"demo\n', '"demo"\n') == []
    (meaning,) = shared.replace(uri, "level   c3", "level   c9")
    assert (meaning["code"], cut(shared.texts[uri], meaning["range"])) == ("E0203", "c9")
    assert shared.replace(uri, "level   c9", "level   c3") == []
    (rule,) = shared.replace(uri, "c3             unstated\n", "c3 fail\n  c4 pass\n")
    assert (rule["code"], rule["severity"], rule["source"]) == ("W0301", 2, "envspec")
    assert Path(rule["codeDescription"]["href"].removeprefix("file://")).name == "W0301.md"


def test_what_the_editor_shows_is_what_check_finds(shared: Editor, tmp_path: Path) -> None:
    text = CLEAN.replace("entry train", "entry smoke").replace("sm_80", "sm80")
    text = text.replace("from lab\n}", "from labb\n}")
    spec = tmp_path / "spec.env"
    spec.write_text(text)
    argv = [sys.executable, "-m", "envspec", "check", "--format", "json", str(spec)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    expected = json.loads(done.stdout)["diagnostics"]
    found = shared.open(spec.as_uri(), text)
    assert len(found) >= 3
    assert [(d["code"], d["range"]["start"]["line"] + 1) for d in found] == [
        (d["code"], d["labels"][0]["line"]) for d in expected
    ]
    shared.close(spec.as_uri())


def test_further_places_are_related_information(shared: Editor, uri: str) -> None:
    (found,) = shared.open(uri, CLEAN.replace("entry train", "entry smoke"))
    assert found["code"] == "E0202"
    assert cut(shared.texts[uri], found["range"]) == "smoke"
    (related,) = found["relatedInformation"]
    assert related["location"]["uri"] == uri
    line = CLEAN[: CLEAN.index("entry smoke")].count("\n")
    assert related["location"]["range"]["start"] == {"line": line, "character": 6}
    assert related["message"] == "first here"


def test_columns_are_utf_16_units(shared: Editor, uri: str) -> None:
    """𝒳 is one character, two units and four bytes; é is one, one and two."""
    text = CLEAN.replace('run   "python"', 'run   "𝒳é𝒳" bare "python"')
    (found,) = shared.open(uri, text)
    column = text.split("\n")[found["range"]["start"]["line"]].index("bare") + 2
    assert found["range"]["start"]["character"] == column
    assert found["range"]["end"]["character"] == column + len("bare")
    assert cut(text, found["range"]) == "bare"
    # Typing behind such characters changes what it should.
    assert shared.replace(uri, "bare", '"bare"') == []
    assert [d["code"] for d in shared.replace(uri, '𝒳" "', '𝒳 "')] == ["E0103"]


def test_lines_end_where_the_protocol_ends_them(shared: Editor, uri: str) -> None:
    """A form feed or a line separator ends a line in `str.splitlines`, and in no editor."""
    text = CLEAN.replace("# Everything", "# \x0c \u2028 \x85 Everything").replace("\n", "\r\n")
    found = shared.open(uri, text)
    assert {d["code"] for d in found} == {"E0102"}
    assert {d["range"]["start"]["line"] for d in found} == {2}
    shared.texts[uri] = text.replace("\r\n", "\n")
    shared.replace(uri, "c1             pass", "c1 maybe")
    (last,) = shared.replace(uri, "\x0c \u2028 \x85 Every", "Every")
    assert last["code"] == "E0203"
    assert last["range"]["start"]["line"] == text[: text.index("c1             pass")].count("\n")
    assert cut(shared.texts[uri], last["range"]) == "maybe"


def test_a_quick_fix_mends_what_it_says(shared: Editor, uri: str) -> None:
    (found,) = shared.open(uri, CLEAN.replace("accelerator cuda", "acelerator cuda"))
    context = {"diagnostics": [found]}
    asked = {"textDocument": {"uri": uri}, "range": found["range"], "context": context}
    first, *_ = shared.ask("textDocument/codeAction", asked)
    assert (first["kind"], first["isPreferred"]) == ("quickfix", True)
    assert first["title"] == "Write `accelerator`"
    assert [d["code"] for d in first["diagnostics"]] == ["E0201"]
    mended = applied(shared.texts[uri], first["edit"]["changes"][uri])
    assert mended == CLEAN
    assert shared.change(uri, {"text": mended}) == []
    assert whole(shared, uri) == []


def test_a_fix_elsewhere_is_not_offered(shared: Editor, uri: str) -> None:
    shared.open(uri, CLEAN.replace("accelerator cuda", "acelerator cuda"))
    start = {"line": 0, "character": 0}
    asked = {
        "textDocument": {"uri": uri},
        "range": {"start": start, "end": start},
        "context": {"diagnostics": [], "only": ["quickfix"]},
    }
    assert shared.ask("textDocument/codeAction", asked) == []


def test_fix_all_mends_everything_at_once(shared: Editor, uri: str) -> None:
    slips = {"accelerator cuda": "acelerator cuda", "packages {": "pakages {", "claims": "clams"}
    text = CLEAN
    for right, wrong in slips.items():
        text = text.replace(right, wrong)
    assert len(shared.open(uri, text)) >= 3
    for kind in ("source.fixAll", "source.fixAll.envspec", "source"):
        (action,) = whole(shared, uri, kind)
        assert action["kind"] == "source.fixAll.envspec"
        assert applied(text, action["edit"]["changes"][uri]) == CLEAN
    assert whole(shared, uri, "refactor") == []
    kinds = [a["kind"] for a in whole(shared, uri)]
    assert kinds == ["quickfix"] * 3 + ["source.fixAll.envspec"]


def test_a_fresh_lock_takes_part_and_a_stale_one_is_told(shared: Editor, tmp_path: Path) -> None:
    for name in ("spec.env", "spec.lock", "smoke.py"):
        shutil.copy(EXAMPLE / name, tmp_path)
    text = (tmp_path / "spec.env").read_text()
    uri = (tmp_path / "spec.env").as_uri()
    assert shared.open(uri, text) == []
    hover = shared.about(uri, "hover", "|loguru")["contents"]["value"]
    assert "Locked at `" in hover
    stale = shared.replace(uri, "einops             >=0.8.0", "einops             >=0.7.0")
    assert ("E0402", 2) in [(d["code"], d["severity"]) for d in stale]
    assert shared.replace(uri, "einops             >=0.7.0", "einops             >=0.8.0") == []
    # The lock changes on the disk; the editor tells, or saves.
    (tmp_path / "spec.lock").write_text("{")
    shared.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    broken = {d["code"]: d["message"] for d in shared.diagnostics(uri)}
    assert "spec.lock" in broken["E0407"]
    (tmp_path / "spec.lock").unlink()
    event = {"uri": (tmp_path / "spec.lock").as_uri(), "type": 3}
    shared.notify("workspace/didChangeWatchedFiles", {"changes": [event]})
    assert not {"E0402", "E0407"} & {d["code"] for d in shared.diagnostics(uri)}
    shared.close(uri)


def test_a_missing_script_is_found_and_found_again_on_saving(
    shared: Editor, tmp_path: Path
) -> None:
    uri = (tmp_path / "spec.env").as_uri()
    (found,) = shared.open(uri, CLEAN.replace('run   "python" "-c" "import demo"', 'script "a.py"'))
    assert found["code"] == "E0207"
    (tmp_path / "a.py").touch()
    shared.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    assert shared.diagnostics(uri) == []
    shared.close(uri)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_formatting_gives_the_one_layout(shared: Editor, uri: str, newline: str) -> None:
    untidy = CLEAN.replace("  gpus   sm_80", "gpus sm_80").replace(
        "\n\npackages", "\n\n\n\npackages"
    )
    shared.open(uri, untidy.replace("\n", newline))
    options = {"tabSize": 8, "insertSpaces": False}
    asked = {"textDocument": {"uri": uri}, "options": options}
    edits = shared.ask("textDocument/formatting", asked)
    if newline == "\n":
        assert applied(untidy, edits) == CLEAN
        assert len(edits[0]["newText"]) < len(CLEAN) / 2, "lines that stay are left alone"
        shared.change(uri, {"text": CLEAN})
        assert shared.ask("textDocument/formatting", asked) == []
    else:
        assert applied(untidy.replace("\n", newline), edits) == CLEAN


def test_a_broken_text_is_not_formatted(shared: Editor, uri: str) -> None:
    shared.open(uri, CLEAN + "entry x {\n")
    asked = {"textDocument": {"uri": uri}, "options": {"tabSize": 2, "insertSpaces": True}}
    assert shared.ask("textDocument/formatting", asked) is None
