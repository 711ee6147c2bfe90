"""Which source archive an extension is compiled from, of all that its index offers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from local_index import send
from sdists import Room, written

from envspec.diagnostics import DiagnosticError
from envspec.lock.extensions.releases import choose


def offer(index: Any, *rows: dict[str, Any]) -> None:
    """Let the index answer with a page of these files of `ops`."""
    files = [
        {"url": f"../../files/{r['filename']}", "hashes": {"sha256": "0" * 64}, **r} for r in rows
    ]
    body = json.dumps({"meta": {"api-version": "1.1"}, "name": "ops", "files": files}).encode()

    def answer(handler: Any) -> None:
        send(handler, body, 200, "application/vnd.pypi.simple.v1+json")

    index.projects["ops"] = []
    index.bend["ops/"] = answer


def row(name: str, **more: Any) -> dict[str, Any]:
    return {"filename": name, **more}


OFFERED = (
    row("ops-1.0.tar.gz"),
    row("ops-1.2.tar.gz", **{"upload-time": "2024-01-01T00:00:00.000000Z"}),
    row("ops-1.10.tar.gz", **{"upload-time": "2024-06-01T00:00:00.500000Z"}),
    row("ops-1.11.tar.gz", yanked="broken"),
    row("ops-1.12.tar.gz", **{"requires-python": ">=4"}),
    row("ops-1.13-py3-none-any.whl"),
    row("ops-1.14.zip"),
    row("ops-2.0rc1.tar.gz"),
    row("ops_more-3.0.tar.gz"),
    row("ops-cpu-4.0.tar.gz"),
)


@pytest.mark.parametrize(
    ("statement", "more", "version"),
    [
        ("ops", {}, "1.10"),
        ("ops <1.10", {}, "1.2"),
        ("ops >=1,<2", {}, "1.10"),
        ("ops ==1.11", {}, "1.11"),
        ("ops >=2.0rc1", {}, "2.0rc1"),
        ("ops ==2.0rc1", {}, "2.0rc1"),
        ("ops", {"pins": {"ops": "1.2"}}, "1.2"),
        ("ops >1.2", {"pins": {"ops": "1.2"}}, "1.10"),
        ("ops", {"pins": {"ops": "1.11"}}, "1.10"),
        ("ops", {"exclude_newer": "2024-06-01T00:00:01Z"}, "1.10"),
        ("ops", {"exclude_newer": "2024-06-01T00:00:00Z"}, "1.2"),
        ("ops ==1.10", {"exclude_newer": "2020-01-01T00:00:00Z"}, "1.10"),
        ("ops ==1.0", {"exclude_newer": "2020-01-01T00:00:00Z"}, "1.0"),
    ],
)
def test_the_newest_that_fits(
    local_index: Any, kit: Any, tmp_path: Path, statement: str, more: dict[str, Any], version: str
) -> None:
    """Neither wheels, zip archives, nor other projects; what was withdrawn and pre-releases only
    where they are asked for by number; the earlier lock's where it still fits."""
    offer(local_index, *OFFERED)
    spec, source = written(f"extension {statement}")
    request = Room(local_index, kit, tmp_path).request(spec, source, **more)
    found = choose(spec.extensions[0], request, kit.indexes())
    assert (str(found.version), found.file.filename) == (version, f"ops-{version}.tar.gz")


@pytest.mark.parametrize(
    ("statement", "rows", "more", "said"),
    [
        ("ops", (), {}, "has no file of it"),
        ("ops", (row("ops-1.0.zip"),), {}, "`.zip` alone"),
        ("ops", (row("ops-1.0-py3-none-any.whl"),), {}, "wheels of it and no `.tar.gz`"),
        ("ops", (row("ops-1.0rc1.tar.gz"),), {}, "only pre-releases fit, the newest is 1.0rc1"),
        ("ops >=9", OFFERED, {}, "up to version 2.0rc1"),
        ("ops ==1.12", OFFERED, {}, "`Requires-Python: >=4`"),
        ("ops >1.10,<1.12", OFFERED, {}, "1.11 was withdrawn"),
        ("ops <1.1", OFFERED, {"exclude_newer": "2024-01-01T00:00:00Z"}, "uploaded before 2024"),
    ],
)
def test_e0430_says_what_there_is(
    local_index: Any,
    kit: Any,
    tmp_path: Path,
    statement: str,
    rows: Any,
    more: dict[str, Any],
    said: str,
) -> None:
    offer(local_index, *rows)
    spec, source = written(f"extension {statement}")
    request = Room(local_index, kit, tmp_path).request(spec, source, **more)
    with pytest.raises(DiagnosticError) as caught:
        choose(spec.extensions[0], request, kit.indexes())
    (finding,) = caught.value.diagnostics
    assert (finding.code, finding.span) == ("E0430", spec.extensions[0].span)
    assert said in finding.cause
    assert finding.hint


def test_e0430_a_project_that_the_index_does_not_know(
    local_index: Any, kit: Any, tmp_path: Path
) -> None:
    spec, source = written("extension ops")
    with pytest.raises(DiagnosticError) as caught:
        Room(local_index, kit, tmp_path).prepare(spec, source)
    (finding,) = caught.value.diagnostics
    assert (finding.code, "does not know" in finding.cause) == ("E0430", True)
