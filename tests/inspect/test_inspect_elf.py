"""The reader of libraries: the sets of pyelftools, and only its own error on any bytes."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile

from envspec.inspect import elf
from envspec.inspect.demangle import demangle
from envspec.inspect.errors import UnreadableError

PLACES = (
    Path(sys.prefix) / "lib",
    Path(sys.base_prefix) / "lib",
    Path("/usr/lib/x86_64-linux-gnu"),
)


def libraries() -> list[Path]:
    """Some shared libraries of this machine, small ones first, none twice."""
    found: dict[str, Path] = {}
    for place in PLACES:
        for path in sorted(place.rglob("*.so*")):
            if path.is_file() and not path.is_symlink() and path.stat().st_size < 3_000_000:
                with path.open("rb") as file:
                    if elf.is_elf(file.read(4)):
                        found.setdefault(path.name, path)
    return sorted(found.values(), key=lambda p: p.stat().st_size)


LIBRARIES = libraries()
TRIED = LIBRARIES[:: max(1, len(LIBRARIES) // 40)]


def by_pyelftools(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = {"needed": [], "soname": "", "versions": set()}
    undefined, exported = set(), set()
    with path.open("rb") as file:
        read = ELFFile(file)
        for tag in read.get_section_by_name(".dynamic").iter_tags():
            if tag.entry.d_tag == "DT_NEEDED":
                found["needed"].append(tag.needed)
            elif tag.entry.d_tag == "DT_SONAME":
                found["soname"] = tag.soname
        for symbol in read.get_section_by_name(".dynsym").iter_symbols():
            binding, index = symbol["st_info"]["bind"], symbol["st_shndx"]
            if not symbol.name or binding == "STB_LOCAL":
                continue
            if index == "SHN_UNDEF":
                if binding != "STB_WEAK":
                    undefined.add(symbol.name)
            elif symbol["st_other"]["visibility"] in {"STV_DEFAULT", "STV_PROTECTED"}:
                exported.add(symbol.name)
        needs = read.get_section_by_name(".gnu.version_r")
        for need, versions in needs.iter_versions() if needs else ():
            found["versions"] |= {(need.name, version.name) for version in versions}
    return {**found, "undefined": undefined, "exported": exported}


def test_there_are_enough_to_compare() -> None:
    assert len(TRIED) >= 20


@pytest.mark.parametrize("path", TRIED, ids=lambda p: p.name)
def test_the_same_sets_as_pyelftools(path: Path) -> None:
    read, wanted = elf.read(path.read_bytes()), by_pyelftools(path)
    assert list(read.needed) == list(dict.fromkeys(wanted["needed"]))
    assert read.soname == wanted["soname"]
    assert set(read.versions) == wanted["versions"]
    assert read.undefined == wanted["undefined"]
    assert read.exported == wanted["exported"]


def test_any_bytes_give_a_library_or_the_readers_own_error() -> None:
    """10,000 mutations: bytes changed, cut off, and numbers of the headers made large."""
    data = next(p for p in LIBRARIES if p.stat().st_size > 14_000).read_bytes()
    chance = random.Random(5)
    refused = 0
    for number in range(10_000):
        made = bytearray(data)
        for _ in range(chance.randint(1, 8)):
            # Half of them in the headers, where they matter.
            reach = 64 if number % 2 else len(made)
            made[chance.randrange(reach)] = chance.choice((0, 0xFF, chance.randrange(256)))
        if number % 5 == 0:
            del made[chance.randrange(len(made)) :]
        try:
            elf.read(bytes(made))
        except UnreadableError:
            refused += 1
    assert 2_000 < refused < 10_000


@pytest.mark.parametrize(
    ("symbol", "text"),
    [
        (
            "_ZN3c105ErrorC2ENS_14SourceLocationESs",
            "c10::Error::Error(c10::SourceLocation, std::string)",
        ),
        ("_ZN3c104cuda9SetDeviceEi", "c10::cuda::SetDevice(int)"),
        ("_ZNK2at10TensorBase4sizeEl", "at::TensorBase::size(long) const"),
        ("_ZTIN3c105ErrorE", "typeinfo for c10::Error"),
        ("aoti_torch_new", None),
        ("_Z", None),
        ("_ZN" + "1a" * 5000 + "E", None),
        ("_ZN9999999999", None),
    ],
)
def test_symbols_as_people_write_them(symbol: str, text: str | None) -> None:
    assert demangle(symbol) == text


def test_any_symbol_is_told_or_left_as_it_is() -> None:
    chance = random.Random(7)
    letters = "_ZNEISsTtKRPvijlbcfd0123456789CDJLXaBcd"
    for _ in range(20_000):
        made = "_Z" + "".join(chance.choice(letters) for _ in range(chance.randint(1, 60)))
        assert demangle(made) is None or len(demangle(made) or "") <= 16_000
