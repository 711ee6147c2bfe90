"""Reading a `report.json` that anybody may have written: every field checked, and all of them
against each other, or a finding that names the place in the JSON."""

from __future__ import annotations

import json
import math
import os
import re
import stat
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn

from envspec.diagnostics import DiagnosticError
from envspec.report import schema, shapes
from envspec.report.consistency import contradictions
from envspec.report.document import SCHEMA
from envspec.report.shapes import Fields, Items, Number, Shape, Text, Truth, Word
from envspec.source import SourceFile
from envspec.suggest import closest

MALFORMED, UNKNOWN_SCHEMA, CONTRADICTORY, UNREADABLE = "E0830", "E0831", "E0832", "E0833"
_HINT = "run `envspec verify` again; a report is not meant to be edited"
_HALF = re.compile("[\ud800-\udfff]")
_DIGITS = 40
_LONG = re.compile(r"[0-9]{41}")
_SHOWN = 3


def read(path: Path) -> dict[str, Any]:
    """The report in a file.

    Raises:
        DiagnosticError: E0833 (no file that can be read), and what `loads` raises.
    """
    return loads(file_text(path, "the report"), str(path))


def loads(text: str, name: str = "report.json") -> dict[str, Any]:
    """The report as plain data. ``name`` is shown in findings.

    Raises:
        DiagnosticError: E0830 with the JSON path, E0831 (another version of the schema), E0832
            (what it says contradicts itself).
    """
    report = Reader(name, "report", _HINT).read(text, schema.REPORT, SCHEMA)
    wrong = list(islice(contradictions(report), _SHOWN))
    if wrong:
        said = "; ".join(f"`{w.path}` is {w.what}" for w in wrong)
        raise DiagnosticError.of(
            CONTRADICTORY,
            f"the report contradicts itself: {said}",
            source=SourceFile(name, ""),
            cause="a verdict follows from the evidence in the same report, and these do not",
            hint=_HINT,
        )
    return report


def file_text(path: Path, what: str) -> str:
    """The text of a file that anybody may have put there, at most `shapes.LARGEST` bytes.

    Raises:
        DiagnosticError: E0833.
    """
    why = ""
    data = b""
    try:
        # A pipe without a writer would keep us waiting.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as stream:
            if stat.S_ISREG(os.fstat(handle).st_mode):
                data = stream.read(shapes.LARGEST + 1)
            else:
                why = "it is no regular file"
    except (OSError, ValueError) as error:
        why = (getattr(error, "strerror", None) or "its name is no file name").lower()
    if len(data) > shapes.LARGEST:
        why = f"it is larger than {shapes.LARGEST >> 20} MiB"
    if not why:
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            why = f"it is not UTF-8 at byte {error.start}"
    raise DiagnosticError.of(
        UNREADABLE,
        f"cannot read {what}: {why}",
        source=SourceFile(str(path), ""),
        hint="`envspec verify` writes it as `report.json`, or where `--report` says",
    )


class Reader:
    """Reads one document of a given shape. ``name`` is its file, ``what`` its kind in messages,
    ``hint`` what mends it."""

    def __init__(self, name: str, what: str, hint: str, code: str = MALFORMED) -> None:
        self._source = SourceFile(name, "")
        self._what = what
        self._hint = hint
        self._code = code

    def read(self, text: str, shape: Shape, version: int = 0) -> dict[str, Any]:
        """The document as plain data; ``version`` is what its field `schema` must hold.

        Raises:
            DiagnosticError: the code of this reader with the JSON path, E0831.
        """
        if len(text) > shapes.LARGEST:
            self._wrong("$", f"{len(text):,} characters, at most {shapes.LARGEST:,} are read")
        try:
            value = json.loads(
                text,
                object_pairs_hook=self._once,
                parse_constant=self._constant,
                # A call for each number is slow, and hardly any text has a run of digits so long.
                parse_int=self._whole if _LONG.search(text) else None,
            )
        except json.JSONDecodeError as error:
            self._wrong("$", f"no JSON at line {error.lineno}, column {error.colno}")
        except RecursionError:
            self._wrong("$", "lists and objects nested too deep to be read")
        if not isinstance(value, dict):
            self._wrong("$", f"{_kind(value)}, expected an object")
        if version:
            self._version(value, version)
        self._check(value, shape, "$")
        return value

    def _once(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            seen: set[str] = set()
            for name, _ in pairs:
                if name in seen:
                    self._wrong("$", f"an object that holds {_quoted(name)} twice")
                seen.add(name)
        return found

    def _constant(self, word: str) -> NoReturn:
        self._wrong("$", f"`{word}`, which is no JSON")

    def _whole(self, digits: str) -> int:
        if len(digits) > _DIGITS:
            self._wrong("$", f"a number of {len(digits):,} digits")
        return int(digits)

    def _version(self, value: dict[str, Any], wanted: int) -> None:
        version = value.get("schema")
        if isinstance(version, bool) or not isinstance(version, int) or version < 1:
            self._wrong("$.schema", f"{_kind(version)}, expected the number {wanted}")
        if version != wanted:
            raise DiagnosticError.of(
                UNKNOWN_SCHEMA,
                f"the {self._what} has schema {version}, and this envspec reads schema {wanted}",
                source=self._source,
                cause="it was written by another version of envspec",
                hint="read it with the version that wrote it, or verify again with this one",
            )

    def _check(self, value: Any, shape: Shape, path: str) -> None:
        if value is None and getattr(shape, "null", False):
            return
        if isinstance(shape, Text):
            self._text(value, shape, path)
        elif isinstance(shape, Word):
            if not isinstance(value, str) or value not in shape.words:
                self._wrong(path, f"{_kind(value)}, expected one of {', '.join(shape.words)}")
        elif isinstance(shape, Number):
            self._number(value, shape, path)
        elif isinstance(shape, Truth):
            if not isinstance(value, bool):
                self._wrong(path, f"{_kind(value)}, expected true or false")
        elif isinstance(shape, Items):
            self._items(value, shape, path)
        elif isinstance(shape, Fields):
            self._fields(value, shape, path)
        else:
            self._anything(value, path)

    def _text(self, value: Any, shape: Text, path: str) -> None:
        if not isinstance(value, str):
            self._wrong(path, f"{_kind(value)}, expected {shape.what} as a text")
        self._plain(value, path)
        if shape.pattern and re.fullmatch(shape.pattern, value, re.ASCII) is None:
            self._wrong(path, f"{_quoted(value)}, expected {shape.what} (`{shape.pattern}`)")

    def _plain(self, value: str, path: str) -> None:
        if len(value) > shapes.LONGEST:
            self._wrong(path, f"a text of {len(value):,} characters, at most {shapes.LONGEST:,}")
        if _HALF.search(value):
            self._wrong(path, "a text with half a character (a lone surrogate)")

    def _number(self, value: Any, shape: Number, path: str) -> None:
        kinds = int if shape.whole else (int, float)
        if isinstance(value, bool) or not isinstance(value, kinds):
            self._wrong(path, f"{_kind(value)}, expected a {'whole ' * shape.whole}number")
        if not math.isfinite(value):
            self._wrong(path, "a number without end")
        if shape.least is not None and value < shape.least:
            self._wrong(path, f"{value}, expected at least {shape.least}")

    def _items(self, value: Any, shape: Items, path: str) -> None:
        if not isinstance(value, list):
            self._wrong(path, f"{_kind(value)}, expected a list")
        if not shape.least <= len(value) <= shape.most:
            self._wrong(
                path, f"a list of {len(value):,}, expected {shape.least:,} to {shape.most:,}"
            )
        for number, item in enumerate(value):
            self._check(item, shape.each, f"{path}[{number}]")

    def _fields(self, value: Any, shape: Fields, path: str) -> None:
        if not isinstance(value, dict):
            self._wrong(path, f"{_kind(value)}, expected an object")
        known = {**shape.fields, **shape.optional}
        for name in value:
            if name not in known:
                near = closest(name[:80], known)
                said = f"; did you mean `{near}`?" if near else ""
                self._wrong(path, f"an object with the unknown field {_quoted(name)}{said}")
        for name, field in known.items():
            if name in value:
                self._check(value[name], field, f"{path}.{name}")
            elif name in shape.fields:
                self._wrong(path, f"without `{name}`, which every {self._what} has")

    def _anything(self, value: Any, path: str) -> None:
        """An object or nothing, bounded in depth, length and number."""
        if value is not None and not isinstance(value, dict):
            self._wrong(path, f"{_kind(value)}, expected an object")
        if _bounded(value):
            return
        # Something is wrong in it: look again, and know the place.
        waiting: list[tuple[Any, str, int]] = [(value, path, 0)]
        while waiting:
            item, where, depth = waiting.pop()
            if depth > shapes.DEEPEST:
                self._wrong(where, f"more than {shapes.DEEPEST} levels")
            if isinstance(item, str):
                self._plain(item, where)
            elif isinstance(item, float) and not math.isfinite(item):
                self._wrong(where, "a number without end")
            elif isinstance(item, list | dict):
                if len(item) > shapes.MOST:
                    self._wrong(where, f"{len(item):,} elements, at most {shapes.MOST:,}")
                if isinstance(item, dict):
                    for name in item:
                        self._plain(name, where)
                    parts = [(v, f"{where}.{_short(k)}", depth + 1) for k, v in item.items()]
                else:
                    parts = [(v, f"{where}[{n}]", depth + 1) for n, v in enumerate(item)]
                waiting.extend(reversed(parts))

    def _wrong(self, path: str, what: str) -> NoReturn:
        raise DiagnosticError.of(
            self._code,
            f"`{path}` of the {self._what} is {what}",
            source=self._source,
            hint=self._hint,
        )


def _bounded(value: Any) -> bool:
    """Whether a value without a fixed shape keeps to the bounds, as fast as that can be told."""
    level, longest, most = [value], shapes.LONGEST, shapes.MOST
    for _ in range(shapes.DEEPEST + 1):
        inner: list[Any] = []
        for item in level:
            kind = type(item)  # of what JSON gives, and so never of a subclass
            if kind is str:
                if len(item) > longest or _HALF.search(item):
                    return False
            elif kind is list or kind is dict:
                if len(item) > most:
                    return False
                inner.extend(item)
                if kind is dict:
                    inner.extend(item.values())
            elif kind is float and not math.isfinite(item):
                return False
        if not inner:
            return True
        level = inner
    return False


def _kind(value: Any) -> str:
    if value is None:
        return "null or missing"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    return "a list" if isinstance(value, list) else "an object"


def _quoted(text: str) -> str:
    return f"`{_short(text)}`"


def _short(text: str) -> str:
    """A text from the report as one short word of a message."""
    cut = text if len(text) <= 60 else text[:59] + "…"
    return cut.encode("utf-8", "backslashreplace").decode("utf-8")
