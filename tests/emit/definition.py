"""Apptainer definitions, read as Apptainer reads them: build arguments first, then sections."""

from __future__ import annotations

import re
from typing import NamedTuple

_ARGUMENT = re.compile(r"{{\s*(\w+)\s*}}")
_COMMENT = re.compile(r"\s*#[^!]\s*.*")
_KNOWN = {"arguments", "files", "post", "environment", "labels", "test", "runscript"}
_MAX = 64 * 1024


class Definition(NamedTuple):
    """``sections`` hold the lines below each header, in order of appearance."""

    header: dict[str, str]
    sections: dict[str, list[str]]


def read(text: str) -> Definition:
    """The header and the sections; an error wherever Apptainer would have one."""
    arguments = _arguments(text)
    parts: list[list[str]] = [[]]
    for line in _filled(text, arguments).split("\n"):
        if line.split() and line.split()[0].startswith("%"):
            parts.append([])
        parts[-1].append(line)
    assert all(len("\n".join(p).encode()) < _MAX for p in parts), "longer than the reader's buffer"
    header = {}
    for line in parts[0]:
        bare = line.strip()
        if bare and not bare.startswith("#"):
            key, _, value = bare.split("#")[0].partition(":")
            header[key.lower()] = value.strip()
    sections: dict[str, list[str]] = {}
    for head, *lines in parts[1:]:
        name = head.lstrip("%").lower()
        assert name in _KNOWN or re.fullmatch(r"apprun [a-z0-9-]+", name), f"no section {name!r}"
        assert name not in sections, f"{name} comes twice"
        sections[name] = [line.strip() for line in lines if line.strip()]
    return Definition(header, sections)


def commands(lines: list[str]) -> list[str]:
    """Lines of a section that are no comments."""
    return [line for line in lines if not line.startswith("#")]


def _arguments(text: str) -> dict[str, str]:
    _, _, rest = text.partition("\n%arguments\n")
    lines = rest.partition("\n%")[0].split("\n")
    return dict(line.strip().split("=", 1) for line in lines if "=" in line)


def _filled(text: str, arguments: dict[str, str]) -> str:
    def fill(match: re.Match[str]) -> str:
        before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        if _COMMENT.search(before):
            return match.group()
        assert match.group(1) in arguments, f"no build argument {match.group(1)!r}"
        return arguments[match.group(1)]

    return _ARGUMENT.sub(fill, text)
