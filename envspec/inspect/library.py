"""What is kept of each library, and of the package it belongs to."""

from __future__ import annotations

import re
from typing import NamedTuple

from envspec.inspect.elf import Elf

_FAMILY = re.compile(
    r"_Z(?:GV|T[VTIS])?(?:N[rVK]*[RO]?)?(?:3c10|2at|5torch|6caffe2)(?![A-Za-z]*$)|aoti_torch_"
)


class Library(NamedTuple):
    """One library at its ``path`` below site-packages.

    Of its symbols those of torch (c10, at, torch, caffe2, and `aoti_torch_…`) are kept.
    """

    path: str
    machine: str
    soname: str
    needed: tuple[str, ...]
    runpath: tuple[str, ...]
    versions: tuple[tuple[str, str], ...]
    sass: tuple[str, ...]
    ptx: tuple[str, ...]
    undefined: tuple[str, ...]
    exported: frozenset[str]


class Package(NamedTuple):
    """A distribution and its libraries; ``unread`` are pairs of path and reason."""

    name: str
    version: str
    libraries: tuple[Library, ...]
    unread: tuple[tuple[str, str], ...]


def library(path: str, file: Elf) -> Library:
    """What is kept of an ELF file."""
    return Library(
        path,
        file.machine,
        file.soname,
        file.needed,
        file.runpath,
        file.versions,
        file.sass,
        file.ptx,
        tuple(sorted(filter(_FAMILY.match, file.undefined))),
        frozenset(n for n in file.exported if _FAMILY.match(n) and "\n" not in n),
    )
