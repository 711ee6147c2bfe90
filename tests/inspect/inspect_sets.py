"""Packages and libraries made by hand, for judging."""

from __future__ import annotations

from typing import Any

from envspec.inspect.library import Library, Package

OLD = "_ZN3c105ErrorC2ENS_14SourceLocationESs"
NEW = "_ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
EMPTY = Library("a.so", "x86_64", "", (), (), (), (), (), (), frozenset())


def library(path: str = "ext/_C.so", **fields: Any) -> Library:
    return EMPTY._replace(path=path, **fields)


def package(name: str, *libraries: Library, unread: tuple[tuple[str, str], ...] = ()) -> Package:
    return Package(name, "1.0", libraries, unread)


def torch(*exported: str, needed: tuple[str, ...] = ()) -> Package:
    made = library("torch/lib/libtorch_cpu.so", exported=frozenset(exported), needed=needed)
    return package("torch", made)
