"""The tables of this installation: each read lazily, once, when somebody asks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from envspec.facts import compiled
from envspec.facts import failure_rows as failures
from envspec.facts import rows as kinds
from envspec.facts.nixpkgs import NixpkgsPin
from envspec.facts.reader import Table, read_table

if TYPE_CHECKING:
    from datetime import date  # slow to import, and only `stale` needs it

Row = TypeVar("Row", bound=tuple[Any, ...])
_FOLDER = Path(__file__).parent


class Stale(NamedTuple):
    """A row that nobody has looked at for longer than its table's ``review_days``."""

    table: str
    key: tuple[str, ...]
    as_of: str
    age_days: int
    review_days: int


class _Schema(NamedTuple):
    """Where a kind of row is kept; the first ``keys`` fields of a row name it uniquely."""

    file: str
    kind: Callable[..., tuple[Any, ...]]
    keys: int = 1

    @property
    def name(self) -> str:
        """The name of the table: its file without suffix."""
        return self.file.partition(".")[0]


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
        _Schema("torch_unlisted.toml", kinds.UnlistedBuild),
        _Schema("torch_pairing.toml", kinds.TorchPairing, keys=3),
        _Schema("jax.toml", kinds.JaxPlugin),
        _Schema("jax_release.toml", kinds.JaxRelease),
        _Schema("tensorflow.toml", kinds.TensorflowRelease),
        _Schema("extensions.toml", kinds.Extension),
        _Schema("extension_wheels.toml", kinds.ExtensionWheel, keys=5),
        _Schema("namesakes.toml", kinds.Namesake),
        _Schema("imports.toml", kinds.ImportName),
        _Schema("signs.toml", failures.Sign),
        _Schema("system_libraries.toml", failures.SystemLibrary),
        _Schema("removed_names.toml", failures.RemovedName),
        _Schema("symbol_signs.toml", failures.SymbolSign),
        _Schema("nixpkgs.json", NixpkgsPin, keys=2),
    )
}


def rows(kind: type[Row]) -> tuple[Row, ...]:
    """All rows of a kind, in the order of their file."""
    return _table(kind).rows


def tables() -> tuple[Table, ...]:
    """Every table of the installation; reads them all."""
    return tuple(_table(kind) for kind in _SCHEMAS)


def keys(table: str) -> int:
    """How many of the first fields of a row name it uniquely."""
    return next(schema.keys for schema in _SCHEMAS.values() if schema.name == table)


def stale(today: date, among: Collection[str] | None = None) -> list[Stale]:
    """Rows due for review on ``today``, by table and key; of all tables, or of those named."""
    found = []
    for kind, schema in _SCHEMAS.items():
        if among is not None and schema.name not in among:
            continue
        table = _table(kind)
        # Days written as YYYY-MM-DD are in order as text.
        first = type(today).fromordinal(today.toordinal() - table.review_days).isoformat()
        for row in table.rows:
            if row.as_of < first:
                age = age_days(row.as_of, today)
                found.append(
                    Stale(table.name, row[: schema.keys], row.as_of, age, table.review_days)
                )
    return sorted(found, key=_by_table_and_key)


def _by_table_and_key(row: Stale) -> tuple[str, tuple[str, ...]]:
    return row.table, row.key


def age_days(as_of: str, today: date) -> int:
    """Days from the day of a row to ``today``."""
    return (today - type(today).fromisoformat(as_of)).days


def tables_as_edited() -> Iterator[tuple[Path, Table]]:
    """Each TOML file and its table, read from that file and checked."""
    for schema in _SCHEMAS.values():
        path = _FOLDER / schema.file
        if path.suffix == ".toml":
            yield path, read_table(path, schema.kind, schema.keys)


@cache
def _table(kind: Callable[..., tuple[Any, ...]]) -> Table:
    schema = _SCHEMAS[kind]
    path = _FOLDER / schema.file
    table = compiled.read(path, kind) if path.suffix == ".toml" else None
    return table or read_table(path, kind, schema.keys)
