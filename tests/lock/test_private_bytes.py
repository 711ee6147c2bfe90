"""One flipped byte anywhere, in any kind of file, in any place: refused every time."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from local_index import LocalIndex, Wheel, make_wheel

from envspec.diagnostics import DiagnosticError
from envspec.lock.indexes import Indexes
from envspec.lock.model import Artefact
from envspec.lock.pipconfig import PipConfig
from envspec.lock.places import Locations
from envspec.lock.store import Store

NOISE = random.Random(4).randbytes
KINDS = {
    "wheel": make_wheel("app", "1.0"),
    "sdist": Wheel("app-1.0.tar.gz", b"\x1f\x8b" + NOISE(3000)),
    "installer": make_wheel("uv", "1.0", tag="py3-none-manylinux_2_17_x86_64"),
    "deb": Wheel("app_1.0-1_amd64.deb", b"!<arch>\n" + NOISE(5000)),
    "packed source": Wheel("demo-1.0.tar.gz", b"\x1f\x8b" + NOISE(2000)),
    "large": Wheel("big-1.0.tar.gz", NOISE((4 << 20) + 17)),
}
"""The last is longer than what is hashed at a time."""
BESIDE = {"deb", "packed source"}
PLACES = ("index", "extra index", "mirror", "find-links", "beside", "store")
FLIPS = 216


def cases() -> list[tuple[str, str, int, int]]:
    """(place, kind, position, bit), spread over every region of every kind, in every place."""
    dice = random.Random(2026)
    pairs = [
        (place, kind)
        for kind in KINDS
        for place in PLACES
        if place in {"store", "find-links"} or (kind in BESIDE) == (place == "beside")
    ]
    found = []
    for number in range(FLIPS):
        place, kind = pairs[number % len(pairs)]
        size = len(KINDS[kind].data)
        region = number // len(pairs)  # first, last, then a slice of the file of its own
        slices = FLIPS // len(pairs) + 1
        low, high = size * region // slices, max(size * (region + 1) // slices - 1, 0)
        position = {0: 0, 1: size - 1}.get(region, dice.randint(min(low, high), max(low, high)))
        found.append((place, kind, position, dice.randrange(8)))
    return found


def flipped(data: bytes, position: int, bit: int) -> bytes:
    return data[:position] + bytes([data[position] ^ 1 << bit]) + data[position + 1 :]


class Offering:
    """One place that has a file, with the bytes that a test gives it."""

    def __init__(self, place: str, index: LocalIndex, folder: Path, patch: Any, kit: Any) -> None:
        self.place, self.index, self.folder = place, index, folder
        self.store = Store(folder / "store")
        (folder / "beside").mkdir()
        pip = PipConfig()
        if place == "find-links":
            pip = PipConfig(find_links=(str(folder / "links"),))
        elif place == "extra index":
            pip = PipConfig(extra_index_urls=(index.url,))
        mirrors = [("campus", "pypi")] if place == "mirror" else []
        if place in {"mirror", "extra index"}:
            patch.setenv("ENVSPEC_INDEX_PYPI", str(folder / "empty"))
            (folder / "empty").mkdir()
            patch.setenv("ENVSPEC_MIRROR_CAMPUS", index.url)
        indexes = Indexes(None, kit.patience, mirrors)
        indexes._pip = pip
        self.locations = Locations(indexes, beside=(folder / "beside",))
        self.notes = kit.notes()

    def hold(self, kind: str, data: bytes) -> Artefact:
        wheel = KINDS[kind]
        artefact = wheel.artefact("" if kind in BESIDE else "pypi")
        if self.place in {"find-links", "beside"}:
            folder = self.folder / ("links" if self.place == "find-links" else "beside")
            folder.mkdir(exist_ok=True)
            (folder / wheel.name).write_bytes(data)
        elif self.place == "store":
            path = self.store.path(artefact)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        else:
            # The page gives the right hash: it is the bytes that are held to it.
            project = wheel.name.partition("-")[0]
            page = f'<a href="../../files/{wheel.name}#sha256={wheel.sha256}">{wheel.name}</a>'
            self.index.bend[f"{project}/"] = answer(page.encode(), "text/html")
            self.index.bend[wheel.name] = answer(data, "application/octet-stream")
        return artefact


def answer(body: bytes, kind: str) -> Any:
    from local_index import send

    return lambda handler: send(handler, body, 200, kind)


def test_flipped_bytes_are_refused(
    local_index: Any, kit: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """216 of 216; and the same place with the right bytes is accepted, or this proves nothing."""
    refused, kinds = 0, set()
    for number, (place, kind, position, bit) in enumerate(cases()):
        folder = tmp_path / str(number)
        folder.mkdir()
        with monkeypatch.context() as patch:
            offering = Offering(place, local_index, folder, patch, kit)
            data = KINDS[kind].data
            artefact = offering.hold(kind, flipped(data, position, bit))
            with pytest.raises(DiagnosticError) as caught:
                offering.store.fetch(artefact, offering.locations, offering.notes)
            codes = {d.code for d in caught.value.diagnostics}
            # In the store it is set aside, and then nobody else has it.
            wanted = {"E0503", "E0501"} if place == "store" else {"E0502"}
            assert codes & wanted, (place, kind, position, codes)
            assert not offering.store.has(artefact)
            assert not offering.store.path(artefact).exists()
            kept = [p.read_bytes() for p in (offering.store.root / "rejected").iterdir()]
            assert kept == [flipped(data, position, bit)]
            refused += 1
            kinds.add((place, kind))
            local_index.bend.clear()
    assert refused == FLIPS
    assert len(kinds) >= 20
    for place, kind in sorted(kinds):
        folder = tmp_path / f"good {place} {kind}"
        folder.mkdir()
        with monkeypatch.context() as patch:
            offering = Offering(place, local_index, folder, patch, kit)
            artefact = offering.hold(kind, KINDS[kind].data)
            path = offering.store.fetch(artefact, offering.locations, offering.notes)
            assert path.read_bytes() == KINDS[kind].data
            local_index.bend.clear()


@pytest.mark.parametrize("kind", ["wheel", "installer"])
def test_a_flip_that_leaves_size_and_time_in_the_store(
    kind: str, local_index: Any, kit: Any, tmp_path: Path
) -> None:
    """The store looks at size and time first; who forges both is not seen there, and the folder
    of wheels that an image is built from is held to the hashes once more, in the build."""
    import os

    store, wheel = Store(tmp_path / "store"), KINDS[kind]
    local_index.add(wheel)
    path = store.fetch(wheel.artefact(), Locations(kit.indexes()), kit.notes())
    status = path.stat()
    path.write_bytes(flipped(wheel.data, 40, 1))
    assert not store.has(wheel.artefact())
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert store.path(wheel.artefact()).read_bytes() != wheel.data
