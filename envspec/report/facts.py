"""The tables of facts: as plain data of schema 1, and as text of a given width. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from textwrap import TextWrapper
from typing import Any

from envspec import __version__
from envspec.facts import tables
from envspec.facts.reader import Table

SCHEMA = 1
_GAP = "  "
_WIDE = 30
_BOLD, _DIM, _YELLOW, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[33m", "\x1b[0m"
_NO_FIELD = {"source", "as_of", "age_days", "due"}
_Row = Mapping[str, Any]


def listing(chosen: Iterable[Table], today: date, *, stale: bool) -> dict[str, Any]:
    """Tables with their rows; with ``stale``, only rows that are due for review on ``today``."""
    return {
        "schema": SCHEMA,
        "envspec": __version__,
        "today": today.isoformat(),
        "tables": [_entry(table, today, stale=stale) for table in chosen],
    }


def _entry(table: Table, today: date, *, stale: bool) -> dict[str, Any]:
    rows = []
    for row in table.rows:
        age = tables.age_days(row.as_of, today)
        due = age > table.review_days
        if due or not stale:
            values = {name: _plain(value) for name, value in row._asdict().items()}
            rows.append({**values, "age_days": age, "due": due})
    key = list(table.rows[0]._fields[: tables.keys(table.name)])
    return {"name": table.name, "review_days": table.review_days, "key": key, "rows": rows}


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


# --- for people ---------------------------------------------------------------------------


def overview(document: _Row, width: int, *, colour: bool) -> str:
    """A line a table: rows, the oldest day, how many are due, and the commonest source, cut."""
    lines = []
    for table in document["tables"]:
        rows = table["rows"]
        oldest = max(rows, key=_age)
        due = sum(row["due"] for row in rows)
        days, source = f"{oldest['age_days']} d", _usual([row["source"] for row in rows])
        lines.append([table["name"], str(len(rows)), oldest["as_of"], days, str(due), source])
    grid = _grid(
        [["table", "rows", "oldest", "age", "due", "source"], *lines], width, right=(1, 3, 4)
    )
    styled = [_styled(grid[0], _BOLD, colour)]
    for line, cells in zip(grid[1:], lines, strict=True):
        styled.append(_styled(line, _YELLOW if cells[4] != "0" else "", colour))
    hint = "`envspec facts TABLE [KEY…]` prints rows, `--stale` those due for review."
    return "\n".join([*styled, "", _styled(hint, _DIM, colour)])


def rows(document: _Row, width: int, *, colour: bool) -> str:
    """The rows of the tables: side by side with what fits, a single one with all it says."""
    parts = []
    for table in document["tables"]:
        alone = len(table["rows"]) == 1
        parts.append((_one if alone else _side_by_side)(table, width, colour=colour))
    return "\n\n".join(parts)


def stale(document: _Row, *, colour: bool) -> str:
    """Rows that are due, by table; or one line that says that none is."""
    lines = [
        [table["name"], _key(table, row), row["as_of"], f"{row['age_days']} d",
         f"{table['review_days']} d"]
        for table in document["tables"] for row in table["rows"]
    ]  # fmt: skip
    if not lines:
        return f"no fact is due for review on {document['today']}"
    header = ["table", "row", "as of", "age", "review after"]
    grid = _grid([header, *lines], 0, right=(3, 4))
    return "\n".join([_styled(grid[0], _BOLD, colour), *grid[1:]])


def _one(table: _Row, width: int, *, colour: bool) -> str:
    (row,) = table["rows"]
    due = f", due for review after {table['review_days']} days" if row["due"] else ""
    said = {
        name.replace("_", " "): _shown(row[name])
        for name in row
        if name not in {*_NO_FIELD, *table["key"]} and row[name] is not None
    }
    said["source"] = row["source"]
    said["as of"] = f"{row['as_of']}, {row['age_days']} days ago{due}"
    room = max(map(len, said))
    lines = [_styled(f"{table['name']} {_key(table, row)}", _BOLD, colour)]
    for name, value in said.items():
        first, *rest = _wrapped(value, max(20, width - room - 4))
        lines.append(f"{_GAP}{_styled(name.ljust(room), _DIM, colour)}{_GAP}{first}")
        lines += [f"{_GAP}{' ' * room}{_GAP}{line}" for line in rest]
    return "\n".join(lines)


def _side_by_side(table: _Row, width: int, *, colour: bool) -> str:
    """As many fields as fit, then notes and sources, each once, by number."""
    every = table["rows"]
    births = list(dict.fromkeys(map(_birth, every)))
    rooms, left_out = _fitting(table, width - len("source") - len(_GAP))
    head = [name.replace("_", " ") for name in rooms]
    cells = [[_cut(_shown(row[name]), room) for name, room in rooms.items()] for row in every]
    if len(births) > 1:
        head.append("source")
        for line, row in zip(cells, every, strict=True):
            line.append(f"[{births.index(_birth(row)) + 1}]")
    grid = _grid([head, *cells], 0)
    notes = [
        line for row in every if row.get("note")
        for line in _wrapped(f"{_key(table, row)}: {row['note']}", width, _GAP)
    ]  # fmt: skip
    sources = []
    for number, birth in enumerate(births, 1):
        label = f"[{number}] " if len(births) > 1 else ""
        sources += _wrapped(f"{label}{birth}", width, " " * len(label))
    more = ""
    if left_out:
        command = " ".join(["envspec facts", table["name"], *(k.upper() for k in table["key"])])
        names = ", ".join(name.replace("_", " ") for name in left_out)
        more = f"Left out for width: {names}. `{command}` shows all of a row."
    parts = (
        "\n".join([_styled(grid[0], _BOLD, colour), *grid[1:]]),
        "\n".join(notes),
        "\n".join(_styled(line, _DIM, colour) for line in sources),
        "\n".join(_wrapped(more, width)),
    )
    return "\n\n".join(filter(None, parts))


def _fitting(table: _Row, width: int) -> tuple[dict[str, int], list[str]]:
    """Fields that say something, in order, each with its room, and those that do not fit. One that
    is wide on its own is cut rather than left out."""
    every = table["rows"]
    used = [
        name for name in every[0]
        if name not in {*_NO_FIELD, "note"} and any(row[name] is not None for row in every)
    ]  # fmt: skip
    fit: dict[str, int] = {}
    left_out, left = [], width
    for name in used:
        room = max(len(name), *(len(_shown(row[name])) for row in every))
        if name not in table["key"] and room + len(_GAP) > left:
            if room < _WIDE or left < _WIDE:
                left_out.append(name)
                continue
            room = left - len(_GAP)
        fit[name] = room
        left -= room + len(_GAP)
    return fit, left_out


def _grid(lines: Sequence[Sequence[str]], width: int, right: Sequence[int] = ()) -> list[str]:
    """Cells in columns; the last column is cut to a width, where one is given."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    if width:
        widths[-1] = max(20, width - sum(widths[:-1]) - len(_GAP) * (len(widths) - 1))
    drawn = []
    for line in lines:
        cells = [
            cell.rjust(room) if at in right else _cut(cell, room).ljust(room)
            for at, (cell, room) in enumerate(zip(line, widths, strict=True))
        ]
        drawn.append(_GAP.join(cells).rstrip())
    return drawn


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Lines of a text; names are not broken at their hyphens."""
    wrapper = TextWrapper(width, subsequent_indent=indent, break_on_hyphens=False)
    return wrapper.wrap(text)


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[: room - 1]}…"


def _key(table: _Row, row: _Row) -> str:
    return " ".join(str(row[field]) for field in table["key"])


def _birth(row: _Row) -> str:
    return f"{row['source']} (as of {row['as_of']}, {row['age_days']} days ago)"


def _age(row: _Row) -> int:
    days: int = row["age_days"]
    return days


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return " ".join(value) or "none" if isinstance(value, list) else str(value)


def _usual(values: Sequence[str]) -> str:
    return max(dict.fromkeys(values), key=values.count)


def _styled(text: str, style: str, colour: bool) -> str:
    return f"{style}{text}{_PLAIN}" if colour and style and text else text
