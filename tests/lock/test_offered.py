"""Whether an index still offers a locked file: yanked, vanished, changed, or not to be told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from envspec.lock.model import Artefact
from envspec.lock.offered import CHANGED, GONE, SAME, SILENT, UNTOLD, YANKED, offers


@pytest.fixture
def ask(kit: Any, local_index: Any, tmp_path: Path) -> Any:
    def run(*artefacts: Artefact) -> list[str]:
        found = offers(artefacts, kit.indexes(), tmp_path, kit.notes())
        assert [offer.artefact for offer in found] == list(artefacts)
        return [offer.state for offer in found]

    return run


@pytest.mark.parametrize("json", [True, False])
def test_same_changed_and_gone(ask: Any, local_index: Any, kit: Any, json: bool) -> None:
    local_index.json = json
    wheel, lost = kit.wheel("lib", "1.0"), kit.wheel("lib", "0.9")
    local_index.add(wheel)
    changed = wheel.artefact()._replace(sha256="0" * 64)
    nowhere = kit.wheel("nobody", "1.0").artefact()
    assert ask(wheel.artefact(), changed, lost.artefact(), nowhere) == [SAME, CHANGED, GONE, GONE]
    assert not any(path.startswith("/files") for path in local_index.asked)


def test_yanked(ask: Any, local_index: Any, kit: Any) -> None:
    wheel = kit.wheel("lib", "1.0")
    page = f'<a data-yanked="bad" href="{wheel.name}#sha256={wheel.sha256}">{wheel.name}</a>'
    local_index.bend["lib/"] = lambda h: kit.send(h, page.encode(), 200, "text/html")
    assert ask(wheel.artefact()) == [YANKED]


def test_an_index_without_hashes_tells_nothing(ask: Any, local_index: Any, kit: Any) -> None:
    local_index.hashes = False
    wheel = kit.wheel("lib", "1.0")
    local_index.add(wheel)
    assert ask(wheel.artefact()) == [UNTOLD]


def test_an_index_that_is_down_accuses_nobody(ask: Any, local_index: Any, kit: Any) -> None:
    local_index.bend["lib/"] = lambda h: kit.send(h, b"", 503)
    assert ask(kit.wheel("lib", "1.0").artefact()) == [SILENT]


def test_a_file_beside_the_spec(ask: Any, kit: Any, local_index: Any, tmp_path: Path) -> None:
    wheel = kit.wheel("lib", "1.0")
    artefact = wheel.artefact("")
    assert ask(artefact) == [GONE]
    (tmp_path / wheel.name).write_bytes(b"other")
    assert ask(artefact) == [CHANGED]
    (tmp_path / wheel.name).write_bytes(wheel.data)
    assert ask(artefact) == [SAME]
