"""The tables in the form that is read at run time: one JSON beside each TOML.

Reading TOML costs ten times as much, and `check` reads ten tables. People edit the TOML alone; the
JSON is made from it by ``python -m envspec.facts.compiled`` and carries a checksum of the text it
was made from. One that does not belong to its TOML (or to its row type) is not read, so an edit
holds at once and only costs time until the JSON is made again. A test asks for all to be fresh.

The last two fields of a row, its birth certificate, are null where the head of the table has them.
"""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from envspec.facts.reader import Table

FOLDER = "compiled"


def place(toml: Path) -> Path:
    """Where the compiled form of a table is."""
    return toml.parent / FOLDER / f"{toml.stem}.json"


def read(toml: Path, kind: Callable[..., tuple[Any, ...]]) -> Table | None:
    """The table, None where its compiled form is missing or was made from something else.

    Nothing is checked again: `reader.read_table` did when it was made.
    """
    try:
        text = place(toml).read_text(encoding="utf-8")
        data = json.loads(text)
        if data["made_from"] != checksum(toml.read_bytes()):
            return None
        if data["fields"] != list(kind._fields):  # type: ignore[attr-defined]  # a NamedTuple
            return None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    source, as_of, lists = data["source"], data["as_of"], data["lists"]
    made = []
    for row in data["rows"]:
        for at in lists:
            if row[at] is not None:
                row[at] = tuple(row[at])
        row[-2] = row[-2] or source
        row[-1] = row[-1] or as_of
        made.append(kind(*row))
    return Table(toml.stem, data["review_days"], tuple(made))


def text_of(toml: Path, table: Table) -> str:
    """The compiled form of a table that was read from its TOML: a row a line."""
    rows = table.rows
    fields = rows[0]._fields
    lists = [i for i in range(len(fields)) if any(isinstance(row[i], tuple) for row in rows)]
    source, as_of = (_usual([row[at] for row in rows]) for at in (-2, -1))
    lines = []
    for row in rows:
        *values, where, when = row
        values += [None if where == source else where, None if when == as_of else when]
        lines.append(_json(values))
    head = {
        "made_from": checksum(toml.read_bytes()),
        "review_days": table.review_days,
        "fields": list(fields),
        "lists": lists,
        "source": source,
        "as_of": as_of,
    }
    return _json(head)[:-1] + ',"rows":[\n' + ",\n".join(lines) + "\n]}\n"


def checksum(text: bytes) -> int:
    """Tells one state of a file from another; it guards against forgetting, not against malice."""
    return zlib.crc32(text.replace(b"\r\n", b"\n"))


def _usual(values: list[str]) -> str:
    """The commonest value, the first of them where several are."""
    return max(dict.fromkeys(values), key=values.count)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def main() -> None:
    """Write what is not fresh."""
    from envspec.facts import tables  # noqa: PLC0415 - which imports this module

    for toml, table in tables.tables_as_edited():
        path, text = place(toml), text_of(toml, table)
        path.parent.mkdir(exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            sys.stdout.write(f"{path.name}: written\n")


if __name__ == "__main__":
    main()
