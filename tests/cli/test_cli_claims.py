"""`envspec claims`: the block of a spec, from a spec and from reports, good and hostile."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from user_room import Room

from envspec.language.parse import parse
from envspec.language.resolve import resolve
from envspec.source import SourceFile

NINE: dict[str, Any] = {
    "python_path": "/opt/env/bin/python",
    "python_version": "3.11.7",
    "torch_version": None,
    "cuda_available": False,
    "gpu_count": 0,
    "ddp_expected_ok": None,
    "env_tool": "uv",
    "env_name": None,
    "notes": None,
}
BLOCK = """claims {
  python_path    /opt/env/bin/python
  python_version 3.11.7
  torch_version  unstated
  cuda_available false
  gpu_count      0
  c4             unstated
}
"""


def write(room: Room, text: str) -> str:
    (room.home / "said.json").write_text(text, encoding="utf-8")
    return "said.json"


def test_a_nine_key_report_becomes_a_block_and_comes_back(room: Room) -> None:
    name = write(room, json.dumps({**NINE, "capabilities": {"x": 1}}))
    assert room.good("claims", "--from", name).stdout == BLOCK
    again = json.loads(room.good("claims", "--from", name, "--format", "nine-key").stdout)
    assert again == NINE
    rows = json.loads(room.good("claims", "--from", name, "--format", "json").stdout)["claims"]
    assert rows[-1] == {"name": "c4", "subject": "", "value": "unstated", "because": ""}


def test_what_a_verification_allows_is_confirmed_by_the_next(room: Room) -> None:
    room.good("lock")
    room.run("verify", "--engine", "local", "--report", "report.json")
    block = room.good("claims", "--from", "report.json").stdout
    assert "c3" in block
    assert "unstated" in block
    text = room.spec.read_text(encoding="utf-8")
    assert "claims {" not in text
    room.spec.write_text(f"{text}\n{block}", encoding="utf-8")
    source = SourceFile("spec.env", room.spec.read_text(encoding="utf-8"))
    stated = [c for c in resolve(parse(source), source).claims if c.value != "unstated"]
    assert len(stated) > 5
    room.run("verify", "--engine", "local", "--report", "report.json")
    report = json.loads((room.home / "report.json").read_text(encoding="utf-8"))
    assert report["scores"]["confirmed"] == report["scores"]["stated"] == len(stated)
    assert room.good("claims").stdout == room.good("claims", "--from", "report.json").stdout


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "E0861"),
        ("[]", "E0861"),
        ("{}", "E0861"),
        ("\udcff", "E0833"),
        ("[" * 100_000, "E0861"),
        ('{"schema": 1, "rungs": {}}', "E0830"),
        ('{"schema": 9, "rungs": {}}', "E0831"),
        ('{"python_path": "/a", "python_path": "/b", "gpu_count": 0}', "E0861"),
        ('{"python_path": "/a"}', "E0862"),
        (json.dumps({**NINE, "gpu_count": "\x1b[31m2"}), "E0862"),
        (json.dumps({**NINE, "torch_version": "2.4 (CUDA 12)"}), "E0863"),
        (json.dumps({**NINE, "python_path": "bin/python"}), "E0863"),
        (json.dumps({**NINE, "python_version": "3\x1b]0;x\x07"}), "E0863"),
    ],
)
def test_what_is_no_report_is_refused(room: Room, text: str, code: str) -> None:
    (room.home / "said.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    done = room.run("claims", "--from", "said.json")
    assert (done.returncode, done.stdout) == (1, "")
    assert f"error[{code}]" in done.stderr
    assert "\x1b" not in done.stderr
    (found,) = room.findings("claims", "--from", "said.json")
    assert found["code"] == code
    assert found["cause"] or found["hint"]


def test_no_report_is_an_error(room: Room, tmp_path: Path) -> None:
    done = room.run("claims", "--from", str(tmp_path / "none.json"))
    assert "error[E0833]" in done.stderr
    assert done.returncode == 1
