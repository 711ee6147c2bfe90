"""Fifty generated worlds of indexes: what is asked of one index comes from no other."""

from __future__ import annotations

import random
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from local_index import serving

from envspec.diagnostics import DiagnosticError
from envspec.lock.places import Locations
from envspec.lock.request import PackageRequest, Request
from envspec.lock.resolve import resolve
from envspec.lock.store import Store
from envspec.names import normalise
from envspec.source import SourceFile, Span

HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
WAYS = ("another index", "extra index", "find-links", "default index", "every place")
SPELLINGS = ("my-lib", "My_Lib", "my.lib", "MY--LIB", "my_-lib")


@pytest.mark.parametrize("world", range(50))
def test_0_wrong_of_50(
    local_index: Any, kit: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, world: int
) -> None:
    dice = random.Random(world)
    resolver = ("uv", "pip-tools")[world % 2]
    way = WAYS[world % len(WAYS)]
    version = dice.choice(["2.0", "9.9", "99999.0", "1.0.post1", "1.0+evil", "1.0"])
    spelling = dice.choice(SPELLINGS)
    with ExitStack() as stack:
        others = [stack.enter_context(serving()) for _ in range(dice.randint(1, 3))]
        home, rest = others[0], others[1:]
        mine = kit.wheel("my-lib", "1.0", ("my-core>=1",))
        core = kit.wheel("my-core", "1.0")
        home.add(mine, core)
        bait = kit.wheel("my-lib", version, ("evil",), tag="py3-none-any")
        bait_core = kit.wheel("my-core", version, ("evil",))
        evil = kit.wheel("evil", "1.0")
        # Its file is spelt in another way; a project's page is found under the normal name.
        spelt = spelling.replace("-", "_")
        held = []
        if way in {"another index", "every place"}:
            held += rest or [local_index]
        if way in {"default index", "every place"}:
            held.append(local_index)
        if way in {"extra index", "every place"}:
            attacker = stack.enter_context(serving())
            held.append(attacker)
            monkeypatch.setenv("PIP_EXTRA_INDEX_URL", attacker.url)
            monkeypatch.setenv("UV_EXTRA_INDEX_URL", attacker.url)
            monkeypatch.setenv("UV_INDEX", attacker.url)
        for index in held:
            index.add(bait_core, evil)
            renamed = bait._replace(name=bait.name.replace("my_lib", spelt, 1))
            index.projects.setdefault("my-lib", []).append(
                renamed if "--" not in spelling else bait
            )
        if way in {"find-links", "every place"}:
            links = tmp_path / "links"
            links.mkdir()
            for wheel in (bait, bait_core, evil):
                (links / wheel.name).write_bytes(wheel.data)
            monkeypatch.setenv("PIP_FIND_LINKS", str(links))
            monkeypatch.setenv("UV_FIND_LINKS", str(links))
        local_index.add(kit.wheel("plain", "1.0"))
        declared = {f"lab{i}": index.url for i, index in enumerate(others)}
        specifier = dice.choice(["", ">=1", "==1.0"])
        lines = [
            PackageRequest(normalise(spelling), specifier, "lab0", span=Span(0, 1)),
            PackageRequest("my-core", "", "lab0", span=Span(1, 2)),
            PackageRequest("plain", "", "", span=Span(2, 3)),
        ]
        dice.shuffle(lines)
        request = Request(
            HERE, "linux/amd64", "2.28", tuple(lines), declared, source=SourceFile("s", "   ")
        )
        done = resolve(request, resolver, kit.notes(), kit.indexes(declared))
        found = {p.name: p.artefact for p in done.packages}
        assert found["my-lib"] == mine.artefact("lab0")
        assert found["my-core"] == core.artefact("lab0")
        assert set(found) == {"my-lib", "my-core", "plain"}
        store, indexes = Store(tmp_path / "store"), kit.indexes(declared)
        path = store.fetch(found["my-lib"], Locations(indexes), kit.notes())
        assert path.read_bytes() == mine.data


@pytest.mark.parametrize("resolver", ["uv", "pip-tools"])
def test_a_dependency_that_nobody_assigned_is_a_question(
    local_index: Any, kit: Any, resolver: str
) -> None:
    """The public name with a higher version is neither taken nor passed over in silence."""
    with serving() as lab:
        lab.add(kit.wheel("my-lib", "1.0", ("my-core",)), kit.wheel("my-core", "1.0"))
        local_index.add(kit.wheel("my-core", "9.0"))
        lines = (PackageRequest("my-lib", "", "lab", span=Span(0, 1)),)
        request = Request(
            HERE, "linux/amd64", "2.28", lines, {"lab": lab.url}, source=SourceFile("s", "  ")
        )
        with pytest.raises(DiagnosticError) as caught:
            resolve(request, resolver, kit.notes(), kit.indexes({"lab": lab.url}))
        assert [d.code for d in caught.value.diagnostics] == ["E0410"]
