"""Shapes of JSON values: the words in which `schema.py` says what a report and an attestation hold.
The reader checks with them, and JSON Schema is drawn from them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

LONGEST = 1 << 20
"""Characters of one text."""
MOST = 100_000
"""Elements of one list, and fields of one object of no fixed shape."""
DEEPEST = 32
"""Levels of what has no fixed shape."""
LARGEST = 64 << 20
"""Bytes of a report."""


class Text(NamedTuple):
    """A text that ``pattern`` describes as a whole (`^…$`)."""

    what: str
    pattern: str = ""
    null: bool = False


class Word(NamedTuple):
    """One of some words."""

    what: str
    words: tuple[str, ...]
    null: bool = False


class Number(NamedTuple):
    """A number of at least ``least``."""

    what: str
    whole: bool = True
    least: float | None = 0
    null: bool = False


class Truth(NamedTuple):
    """true or false."""

    what: str
    null: bool = False


class Items(NamedTuple):
    """A list of one kind of thing, ``least`` of them at least and ``most`` at most."""

    what: str
    each: Shape
    least: int = 0
    most: int = MOST


class Fields(NamedTuple):
    """An object with exactly these fields."""

    what: str
    fields: Mapping[str, Shape]
    null: bool = False
    optional: Mapping[str, Shape] = {}


class Anything(NamedTuple):
    """An object of no fixed shape: what probes observed, for people and for later versions."""

    what: str


Shape = Text | Word | Number | Truth | Items | Fields | Anything


def drawn(shape: Shape) -> dict[str, Any]:
    """The shape as JSON Schema 2020-12."""
    if isinstance(shape, Text):
        result: dict[str, Any] = {"type": _or_null("string", shape.null), "maxLength": LONGEST}
        if shape.pattern:
            result["pattern"] = shape.pattern
    elif isinstance(shape, Word):
        result = {"enum": [*shape.words, *([None] if shape.null else [])]}
    elif isinstance(shape, Number):
        result = {"type": _or_null("integer" if shape.whole else "number", shape.null)}
        if shape.least is not None:
            result["minimum"] = shape.least
    elif isinstance(shape, Truth):
        result = {"type": _or_null("boolean", shape.null)}
    elif isinstance(shape, Items):
        result = {"type": "array", "items": drawn(shape.each)}
        result.update(minItems=shape.least, maxItems=shape.most)
    elif isinstance(shape, Fields):
        fields = {**shape.fields, **shape.optional}
        result = {
            "type": _or_null("object", shape.null),
            "required": list(shape.fields),
            "properties": {name: drawn(field) for name, field in fields.items()},
            "additionalProperties": False,
        }
    else:
        result = {"type": ["object", "null"]}
    return {"description": shape.what, **result}


def _or_null(kind: str, null: bool) -> str | list[str]:
    return [kind, "null"] if null else kind
