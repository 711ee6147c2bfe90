"""Mappings and lists of encoded values, laid out as YAML blocks or as JSON.

Keys and values are `Encoded`, numbers or booleans: nothing is quoted here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from envspec.emit.encode import Encoded

Scalar: TypeAlias = Encoded | bool | int
Node: TypeAlias = "Scalar | Mapping[Encoded, Node] | Sequence[Node]"


def scalar(value: object) -> Encoded:
    """A value as it is printed; refuses text that was not encoded."""
    if isinstance(value, bool):
        return Encoded("true" if value else "false")
    if isinstance(value, int):
        return Encoded(value)
    if isinstance(value, Encoded):
        return value
    raise TypeError(f"a bare {type(value).__name__} was to be printed: {value!r:.60}")


def yaml(node: Node) -> Encoded:
    """A YAML document, without the line that begins one."""
    return Encoded("".join(f"{line}\n" for line in _yaml(node)))


def _yaml(node: Node) -> Iterator[str]:
    if isinstance(node, Mapping):
        for key, value in node.items():
            yield from _item(f"{scalar(key)}:", value)
        return
    if isinstance(node, (list, tuple)):
        for value in node:
            lines = list(_yaml(value)) if _is_block(value) else [_inline(value)]
            yield f"- {lines[0]}"
            yield from (f"  {line}" for line in lines[1:])
        return
    yield _inline(node)


def _item(head: str, value: Node) -> Iterator[str]:
    if _is_block(value):
        yield head
        yield from (f"  {line}" for line in _yaml(value))
    else:
        yield f"{head} {_inline(value)}"


def _is_block(value: Node) -> bool:
    return isinstance(value, (Mapping, list, tuple)) and bool(value)


def _inline(value: Node) -> str:
    if isinstance(value, Mapping):
        return "{}"
    if isinstance(value, (list, tuple)):
        return "[]"
    return scalar(value)


def json(node: Node, indent: str = "") -> Encoded:
    """A JSON text."""
    deeper = indent + "  "
    if isinstance(node, Mapping):
        parts = [f"{scalar(k)}: {json(v, deeper)}" for k, v in node.items()]
        marks = "{}"
    elif isinstance(node, (list, tuple)):
        parts = [json(v, deeper) for v in node]
        marks = "[]"
    else:
        return scalar(node)
    if not parts:
        return Encoded(marks)
    inside = ",\n".join(deeper + part for part in parts)
    return Encoded(f"{marks[0]}\n{inside}\n{indent}{marks[1]}")
