"""The few tables of an ELF file that say what it needs and what it offers.

Read through its section headers, from bytes or a memory map. Every offset is checked, and what a
file may make the reader do is bounded: `UnreadableError` says why a file is not read.
"""

from __future__ import annotations

import struct
from mmap import mmap
from typing import NamedTuple

from envspec.inspect import fatbin
from envspec.inspect.errors import UnreadableError

MACHINES = {62: "x86_64", 183: "aarch64"}

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_DYNAMIC = struct.Struct("<QQ")
_NEED = struct.Struct("<HHIII")
_VERSION = struct.Struct("<IHHII")

_DYNSYM, _DYNAMIC_TYPE, _VERNEED, _NOBITS = 11, 6, 0x6FFFFFFE, 8
_NEEDED, _SONAME, _RPATH, _RUNPATH = 1, 14, 15, 29

MOST_SYMBOLS = 2_000_000
MOST_NAME_BYTES = 256 << 20
MOST_TEXT = 4096
_MOST_STRINGS = 256 << 20
_MOST_DYNAMIC = 4096
_FATBIN_SECTIONS = {".nv_fatbin", "__nv_relfatbin"}


class Elf(NamedTuple):
    """One shared library. Names are Latin-1 text, so that no two names become one.

    ``undefined`` are names that must be found when it is loaded (weak ones need not be),
    ``versions`` are pairs of library and version (``libc.so.6``, ``GLIBC_2.28``).
    """

    machine: str
    soname: str
    needed: tuple[str, ...]
    runpath: tuple[str, ...]
    undefined: frozenset[str]
    exported: frozenset[str]
    versions: tuple[tuple[str, str], ...]
    sass: tuple[str, ...]
    ptx: tuple[str, ...]


class _Section(NamedTuple):
    name: str
    kind: int
    offset: int
    size: int
    link: int


def is_elf(start: bytes) -> bool:
    """Whether a file with these first bytes says that it is ELF."""
    return start[:4] == b"\x7fELF"


def read(data: bytes | mmap) -> Elf:
    """Read one library; raises `UnreadableError` and nothing else."""
    machine, sections = _sections(data)
    soname, needed, runpath = _dynamic(data, sections)
    undefined, exported = _symbols(data, sections)
    sass: set[str] = set()
    ptx: set[str] = set()
    for section in sections:
        if section.name in _FATBIN_SECTIONS and section.kind != _NOBITS:
            native, portable = fatbin.read(data, section.offset, section.offset + section.size)
            sass |= native
            ptx |= portable
    return Elf(
        machine,
        soname,
        needed,
        runpath,
        undefined,
        exported,
        _versions(data, sections),
        fatbin.in_order(sass),
        fatbin.in_order(ptx),
    )


def _sections(data: bytes | mmap) -> tuple[str, list[_Section]]:
    size = len(data)
    if size < _HEADER.size or not is_elf(data[:4]):
        raise UnreadableError("it is no ELF file")
    ident, _, machine, _, _, _, at, _, _, _, _, width, count, names = _HEADER.unpack_from(data)
    if ident[4] != 2 or ident[5] != 1:
        raise UnreadableError("it is not 64-bit little-endian")
    if width != _SECTION.size or not count or at + width * count > size:
        raise UnreadableError("its section headers are missing or lie outside the file")
    raw = [_SECTION.unpack_from(data, at + width * i) for i in range(count)]
    if names >= count:
        raise UnreadableError("its section names are missing")
    table = _bytes(data, raw[names][4], raw[names][5])
    made = []
    for name, kind, _, _, offset, length, link, *_ in raw:
        if kind != _NOBITS and offset + length > size:
            raise UnreadableError("a section lies outside the file")
        made.append(_Section(_text(table, name, 64), kind, offset, length, link))
    return MACHINES.get(machine, f"machine {machine}"), made


def _dynamic(
    data: bytes | mmap, sections: list[_Section]
) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    section = next((s for s in sections if s.kind == _DYNAMIC_TYPE), None)
    if section is None:
        return "", (), ()
    table = _bytes(data, section.offset, min(section.size, _MOST_DYNAMIC * _DYNAMIC.size))
    strings = _strings(data, sections, section.link)
    soname = ""
    needed: list[str] = []
    # As the loader does: RPATH counts only where there is no RUNPATH.
    paths: dict[int, list[str]] = {_RPATH: [], _RUNPATH: []}
    for tag, value in _DYNAMIC.iter_unpack(table[: len(table) // 16 * 16]):
        if tag == 0:
            break
        if tag == _NEEDED:
            needed.append(_text(strings, value, MOST_TEXT))
        elif tag == _SONAME:
            soname = _text(strings, value, MOST_TEXT)
        elif tag in paths:
            paths[tag] += [p for p in _text(strings, value, MOST_TEXT * 4).split(":") if p]
    return soname, tuple(dict.fromkeys(needed)), tuple(paths[_RUNPATH] or paths[_RPATH])


def _symbols(data: bytes | mmap, sections: list[_Section]) -> tuple[frozenset[str], frozenset[str]]:
    section = next((s for s in sections if s.kind == _DYNSYM), None)
    if section is None:
        raise UnreadableError("it has no dynamic symbols")
    if section.size > MOST_SYMBOLS * _SYMBOL.size:
        raise UnreadableError(f"it has more than {MOST_SYMBOLS} symbols")
    strings = _strings(data, sections, section.link)
    table = _bytes(data, section.offset, section.size // _SYMBOL.size * _SYMBOL.size)
    wanted: list[int] = []
    offered: list[int] = []
    for name, info, other, index, _, _ in _SYMBOL.iter_unpack(table):
        binding = info >> 4
        if not name or not binding:
            continue
        if index:
            if other & 3 in {0, 3}:  # default or protected: others can see it
                offered.append(name)
        elif binding != 2:  # weak ones may stay undefined
            wanted.append(name)
    budget = [MOST_NAME_BYTES]
    return _names(strings, wanted, budget), _names(strings, offered, budget)


def _names(strings: bytes, offsets: list[int], budget: list[int]) -> frozenset[str]:
    made = set()
    find, left = strings.find, budget[0]
    for offset in offsets:
        end = find(b"\0", offset)
        if end < 0:
            raise UnreadableError("the name of a symbol lies outside its table")
        # One string table can hold a long name at every offset: the sum is what is bounded.
        left -= end - offset
        if left < 0:
            raise UnreadableError("the names of its symbols have no end")
        made.add(strings[offset:end].decode("latin-1"))
    budget[0] = left
    return frozenset(made)


def _versions(data: bytes | mmap, sections: list[_Section]) -> tuple[tuple[str, str], ...]:
    section = next((s for s in sections if s.kind == _VERNEED), None)
    if section is None:
        return ()
    strings = _strings(data, sections, section.link)
    table = _bytes(data, section.offset, min(section.size, 1 << 20))
    found: list[tuple[str, str]] = []
    at, steps = 0, len(table) // 16
    while at + 16 <= len(table) and steps > 0:
        _, count, name, first, following = _NEED.unpack_from(table, at)
        library = _text(strings, name, MOST_TEXT)
        inner = at + first
        for _ in range(count):
            steps -= 1
            if inner + 16 > len(table) or steps < 0:
                break
            _, _, _, version, step = _VERSION.unpack_from(table, inner)
            found.append((library, _text(strings, version, 256)))
            if not step:
                break
            inner += step
        if not following:
            break
        at += following
        steps -= 1
    return tuple(sorted(set(found)))


def _strings(data: bytes | mmap, sections: list[_Section], link: int) -> bytes:
    if link >= len(sections) or sections[link].kind == _NOBITS:
        raise UnreadableError("a table names no strings")
    return _bytes(data, sections[link].offset, min(sections[link].size, _MOST_STRINGS))


def _bytes(data: bytes | mmap, offset: int, size: int) -> bytes:
    if offset + size > len(data):
        raise UnreadableError("a table lies outside the file")
    return data[offset : offset + size]


def _text(strings: bytes, offset: int, most: int) -> str:
    end = strings.find(b"\0", offset, offset + most)
    if end < 0:
        raise UnreadableError("a name lies outside its table")
    return strings[offset:end].decode("latin-1")
