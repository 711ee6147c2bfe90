"""The GPU code in a library: `.nv_fatbin` holds containers, each with an entry for each code.

Only headers are read, so compressed code is seen too. The suffix of an SM (`90a`) is in the code
itself and not in its header: here it is its plain number.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from mmap import mmap

from envspec.inspect.errors import UnreadableError

MAGIC = b"\x50\xed\x55\xba"
_CONTAINER = struct.Struct("<IHHQ")
_ENTRY = struct.Struct("<HHIQ")  # kind, version, size of this header, size of the payload
_ARCH = struct.Struct("<I")
_PTX, _SASS = 1, 2
_ARCH_AT = 28
MOST_ENTRIES = 1_000_000


def read(data: bytes | mmap, start: int, end: int) -> tuple[set[str], set[str]]:
    """SMs with native code and SMs with PTX, as `sm_90`, between two offsets."""
    sass: set[int] = set()
    ptx: set[int] = set()
    end = min(end, len(data))
    left = MOST_ENTRIES
    at = data.find(MAGIC, start, end)
    while 0 <= at <= end - _CONTAINER.size:
        _, _, header, size = _CONTAINER.unpack_from(data, at)
        if header < _CONTAINER.size or size > end - at - header:
            raise UnreadableError("its GPU code is cut off")
        entry, last = at + header, at + header + size
        left -= 1
        while entry + _ARCH_AT + _ARCH.size <= last:
            kind, _, width, payload = _ENTRY.unpack_from(data, entry)
            if width < _ARCH_AT + _ARCH.size or payload > last - entry - width:
                raise UnreadableError("its GPU code is cut off")
            (arch,) = _ARCH.unpack_from(data, entry + _ARCH_AT)
            if kind in {_PTX, _SASS} and 10 <= arch < 1000:
                (sass if kind == _SASS else ptx).add(arch)
            entry += width + payload
            left -= 1
            if left < 0:
                raise UnreadableError("its GPU code has no end")
        if left < 0:
            raise UnreadableError("its GPU code has no end")
        at = data.find(MAGIC, last, end)
    return {f"sm_{n}" for n in sass}, {f"sm_{n}" for n in ptx}


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """SMs by their number."""
    return tuple(sorted(names, key=_number))


def _number(name: str) -> int:
    return int(name.removeprefix("sm_"))
