"""Reads the tables: strictly, lazily, each once.

A table is a TOML file beside this module: a head with ``source``, ``as_of`` and
``review_days``, and ``rows``. Head values are filled into each row that does not state its own.
An unknown key, a missing one, a wrong type or a repeated row is a `FactTableError`: a broken
table is a broken installation, not a finding about someone's spec.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from datetime import date
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from envspec.facts import rows as kinds

Row = TypeVar("Row", bound=tuple[Any, ...])

_HEAD = {"source", "as_of", "review_days", "rows"}
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


class FactTableError(ValueError):
    """A table of this installation does not hold what its type promises."""


class Stale(NamedTuple):
    """A row that nobody has looked at for longer than its table's ``review_days``."""

    table: str
    key: tuple[str, ...]
    as_of: str
    age_days: int
    review_days: int


class Table(NamedTuple):
    """A table as read: its file name without suffix, its review interval and its rows."""

    name: str
    review_days: int
    rows: tuple[Any, ...]


class _Schema(NamedTuple):
    """Where a kind of row is kept; the first ``keys`` fields of a row name it uniquely."""

    file: str
    kind: Callable[..., tuple[Any, ...]]
    keys: int = 1


# nixpkgs alone is JSON: every compile reads it, and importing tomllib costs 10 ms, json none
# (the compiler writes JSON anyway).
_SCHEMAS = {
    schema.kind: schema
    for schema in (
        _Schema("cuda_driver.toml", kinds.DriverFloor),
        _Schema("cuda_toolkit.toml", kinds.ToolkitDriver),
        _Schema("cuda_branch.toml", kinds.DriverBranch),
        _Schema("cuda_arch.toml", kinds.Arch),
        _Schema("cuda_images.toml", kinds.CudaImageRule, keys=2),
        _Schema("host_compiler.toml", kinds.HostCompiler, keys=2),
        _Schema("distribution.toml", kinds.Distribution, keys=2),
        _Schema("torch.toml", kinds.TorchBuild, keys=3),
        _Schema("torch_pairing.toml", kinds.TorchPairing, keys=3),
        _Schema("jax.toml", kinds.JaxPlugin),
        _Schema("tensorflow.toml", kinds.TensorflowRelease),
        _Schema("extensions.toml", kinds.Extension),
        _Schema("imports.toml", kinds.ImportName),
        _Schema("nixpkgs.json", kinds.NixpkgsPin, keys=2),
    )
}


def rows(kind: type[Row]) -> tuple[Row, ...]:
    """All rows of a kind, in the order of their file."""
    return _table(kind).rows


def nixpkgs() -> kinds.NixpkgsPin:
    """The nixpkgs revision that generated flakes are locked to."""
    return rows(kinds.NixpkgsPin)[0]


def tables() -> tuple[Table, ...]:
    """Every table of the installation; reads them all."""
    return tuple(_table(kind) for kind in _SCHEMAS)


def stale(today: date) -> list[Stale]:
    """Rows due for review on ``today``, by table and key."""
    found = []
    for kind, schema in _SCHEMAS.items():
        table = _table(kind)
        for row in table.rows:
            age = (today - date.fromisoformat(row.as_of)).days
            if age > table.review_days:
                key = row[: schema.keys]
                found.append(Stale(table.name, key, row.as_of, age, table.review_days))
    return sorted(found)


@cache
def _table(kind: Callable[..., tuple[Any, ...]]) -> Table:
    schema = _SCHEMAS[kind]
    return read_table(Path(__file__).with_name(schema.file), kind, schema.keys)


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
    try:
        valid = bool(_DAY.fullmatch(as_of)) and date.fromisoformat(as_of) is not None
    except ValueError:
        valid = False
    if not valid:
        raise FactTableError(f"{place}: as_of must be a day, YYYY-MM-DD, found {as_of!r}")
