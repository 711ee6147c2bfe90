"""Reads one table strictly.

A table is a TOML file of this package: a head with ``source``, ``as_of`` and ``review_days``,
and ``rows``. Head values are filled into each row that does not state its own. A parser is
imported when a table is read, and not before: importing tomllib costs 10 ms.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

_HEAD = {"source", "as_of", "review_days", "rows"}


class FactTableError(ValueError):
    """A table of this installation does not hold what its type promises.

    An unknown key, a missing one, a wrong type or a repeated row: a broken installation, not a
    finding about someone's spec.
    """


class Table(NamedTuple):
    """A table as read: its file name without suffix, its review interval and its rows."""

    name: str
    review_days: int
    rows: tuple[Any, ...]


def read_table(path: Path, kind: Callable[..., tuple[Any, ...]], keys: int = 1) -> Table:
    """Read and check one file; raises `FactTableError` naming file, row and field."""
    data = _parse(path)
    if unknown := data.keys() - _HEAD:
        raise FactTableError(f"{path.name}: unknown keys {sorted(unknown)}")
    review_days = data.get("review_days")
    if type(review_days) is not int or review_days <= 0:
        raise FactTableError(f"{path.name}: review_days must be a positive number of days")
    entries = data.get("rows")
    if not isinstance(entries, list) or not entries:
        raise FactTableError(f"{path.name}: rows must be a list with at least one row")
    birth: dict[str, Any] = {key: data[key] for key in ("source", "as_of") if key in data}
    made = []
    seen: set[tuple[Any, ...]] = set()
    for number, entry in enumerate(entries, start=1):
        place = f"{path.name}, row {number}"
        if not isinstance(entry, dict):
            raise FactTableError(f"{place}: not a table")
        row = _row(place, kind, birth | entry)
        if row[:keys] in seen:
            raise FactTableError(f"{place}: {row[:keys]} is there twice")
        seen.add(row[:keys])
        made.append(row)
    return Table(path.stem, review_days, tuple(made))


def _parse(path: Path) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        parser = import_module("json")
    else:
        parser = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        data = parser.loads(text)
    except ValueError as error:
        raise FactTableError(f"{path.name}: not readable as {path.suffix[1:]}") from error
    if not isinstance(data, dict):
        raise FactTableError(f"{path.name}: the top level is not a table")
    return data


def _row(
    place: str, kind: Callable[..., tuple[Any, ...]], entry: dict[str, Any]
) -> tuple[Any, ...]:
    fields = _fields(kind)
    if unknown := entry.keys() - fields.keys():
        raise FactTableError(f"{place}: unknown keys {sorted(unknown)}")
    values = []
    for name, wanted in fields.items():
        optional = wanted.endswith(" | None")
        value = entry.get(name)
        if value is None:
            if not optional:
                raise FactTableError(f"{place}: {name} is missing")
        elif not _is(value, wanted.removesuffix(" | None")):
            raise FactTableError(f"{place}: {name} must be {wanted}, found {value!r}")
        values.append(tuple(value) if isinstance(value, list) else value)
    _check_birth(place, entry)
    return kind(*values)


def _fields(kind: Callable[..., tuple[Any, ...]]) -> dict[str, str]:
    # With postponed annotations NamedTuple keeps the text of a type inside a ForwardRef.
    return {
        name: str(getattr(hint, "__forward_arg__", hint))
        for name, hint in kind.__annotations__.items()
    }


def _is(value: object, wanted: str) -> bool:
    if wanted == "tuple[str, ...]":
        return isinstance(value, list) and all(_is(item, "str") for item in value)
    if wanted == "str":
        return isinstance(value, str) and value != "" and value == value.strip()
    # bool is a subclass of int, so types are compared, not classes.
    return type(value).__name__ == wanted


def _check_birth(place: str, entry: dict[str, Any]) -> None:
    as_of = entry["as_of"]
    year, *rest = numbers = as_of.split("-")
    digits = all(part.isascii() and part.isdigit() for part in numbers)
    if not (digits and [len(year), *map(len, rest)] == [4, 2, 2] and _in_calendar(*rest)):
        raise FactTableError(f"{place}: as_of must be a day, YYYY-MM-DD, found {as_of!r}")


def _in_calendar(month: str, day: str) -> bool:
    # datetime would say it exactly, and costs more to import than a whole table to read.
    return "01" <= month <= "12" and "01" <= day <= "31"
