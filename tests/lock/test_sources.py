"""The source archive: found by its file name, its hash compared with the spec's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from envspec.diagnostics import Diagnostic, DiagnosticError
from envspec.lock.model import Artefact
from envspec.lock.sources import source_artefact
from envspec.source import SourceFile, Span

SPEC = SourceFile("spec.env", "source archive …\n")


def refused(*arguments: Any, **more: Any) -> Diagnostic:
    with pytest.raises(DiagnosticError) as caught:
        source_artefact(*arguments, source=SPEC, span=Span(0, 6), **more)
    (finding,) = caught.value.diagnostics
    assert finding.span == Span(0, 6)
    return finding


@pytest.mark.parametrize("json", [True, False])
@pytest.mark.parametrize("name", ["x_transformers-2.0.tar.gz", "x-transformers-2.0.tar.gz"])
def test_from_an_index(local_index: Any, kit: Any, json: bool, name: str) -> None:
    """Old and new spelling of the archive's name; the size is asked for where it is not told."""
    local_index.json = json
    archive = kit.wheel("x", "1")._replace(name=name)
    local_index.projects["x-transformers"] = [archive]
    found = source_artefact("pypi", name, archive.sha256, kit.indexes())
    assert found == Artefact("pypi", name, archive.sha256, len(archive.data))


def test_another_hash(local_index: Any, kit: Any) -> None:
    archive = kit.wheel("x", "1")._replace(name="x-1.tar.gz")
    local_index.projects["x"] = [archive]
    finding = refused("pypi", "x-1.tar.gz", "0" * 64, kit.indexes())
    assert finding.code == "E0502"
    assert archive.sha256 in finding.cause
    assert "0" * 64 in finding.cause


@pytest.mark.parametrize("file", ["x-2.tar.gz", "y-1.tar.gz", "---"])
def test_not_on_the_index(local_index: Any, kit: Any, file: str) -> None:
    local_index.projects["x"] = [kit.wheel("x", "1")._replace(name="x-1.tar.gz")]
    finding = refused("pypi", file, "0" * 64, kit.indexes())
    assert (finding.code, "`pypi`" in finding.cause) == ("E0503", True)


def test_no_answer(local_index: Any, kit: Any) -> None:
    local_index.bend["x/"] = lambda h: kit.send(h, b"", 500)
    assert refused("pypi", "x-1.tar.gz", "0" * 64, kit.indexes()).code == "E0501"


def test_beside_the_spec(local_index: Any, kit: Any, tmp_path: Path) -> None:
    archive = kit.wheel("x", "1")
    (tmp_path / "x.tar.gz").write_bytes(archive.data)
    found = source_artefact("", "x.tar.gz", archive.sha256, kit.indexes(), beside=(tmp_path,))
    assert found == Artefact("", "x.tar.gz", archive.sha256, len(archive.data))
    wrong = refused("", "x.tar.gz", "0" * 64, kit.indexes(), beside=(tmp_path,))
    assert wrong.code == "E0502"
    missing = refused("", "../x.tar.gz", "0" * 64, kit.indexes(), beside=(tmp_path / "sub",))
    assert missing.code == "E0503"
    assert local_index.asked == []
