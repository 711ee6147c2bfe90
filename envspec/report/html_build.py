"""HTML as values. A text becomes markup here and nowhere else, and it is always escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from envspec.report.plain import plain, plain_lines

_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9-]*")
_VOID = frozenset({"meta"})


class Markup(str):
    """HTML that was built here. `str` methods give plain texts again, which are escaped again."""

    __slots__ = ()


Child = str | Markup | Iterable["Child"] | None


def el(tag: str, *children: Child, **attributes: str | float | bool | None) -> Markup:
    """An element. An attribute's underscore is a hyphen (`class_` is `class`); one that is None or
    False is left out. Texts are made plain and escaped."""
    words = [_name(tag)]
    for key, value in attributes.items():
        name = _name(key.rstrip("_").replace("_", "-"))
        if value is True:
            words.append(name)
        elif value is not None and value is not False:
            words.append(f'{name}="{escape(plain(value))}"')
    start = f"<{' '.join(words)}>"
    return Markup(start if tag in _VOID else f"{start}{join(*children)}</{tag}>")


def join(*children: Child) -> Markup:
    """Children one after the other."""
    return Markup("".join(map(_child, children)))


def lines(text: str) -> Markup:
    """A text of several lines, kept as lines (for `pre`)."""
    return Markup(escape(plain_lines(text)))


def page(style: str, title: str, body: Markup, policy: str) -> str:
    """A whole document. ``style`` is this package's own and is no text of a report."""
    if "<" in style:
        raise ValueError("a style sheet must not hold markup")
    head = join(
        el("meta", charset="utf-8"),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("meta", name="referrer", content="no-referrer"),
        el("title", title),
        Markup(f"<style>{style}</style>"),
    )
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>{body}</body></html>\n'


def _child(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Markup):
        return str(child)
    if isinstance(child, str):
        return escape(plain(child))
    return "".join(map(_child, child))


def _name(word: str) -> str:
    if not _NAME.fullmatch(word):
        raise ValueError(f"{word!r} is no name of an element or attribute")
    return word
