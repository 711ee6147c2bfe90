"""Outputs as their own readers read them, and what may differ between two of them.

Two plans differ in one text: one has `MARK` there, the other a hostile text. Their outputs, read
back, have to be the same but for that text. What a value is in each output need not be known.
"""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple

import definition
import yaml
from emit_sample import instructions, unquoted
from hostile_places import MARK
from packaging.requirements import InvalidRequirement, Requirement

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_HEX = re.compile(r"[0-9a-f]{16,64}")
_QUOTED = re.compile(r"""'[^']*'|"'\"""")
_LABEL = "[a-z0-9-]{1,72}"


class Shell(str):
    """Commands that a shell reads."""

    __slots__ = ()


class Literal(str):
    """A text that stands for nothing but itself: only the same text will do."""

    __slots__ = ()


class Bag(NamedTuple):
    """Texts whose order follows from what they say."""

    items: Counter[str]


def dockerfile(text: str) -> Any:
    """Instructions as BuildKit has them: flags with their options, words, pairs, commands."""
    return [
        (c.cmd, [_options(f) for f in c.flags], c.json, len(c.sub_cmd or ""), _words(c))
        for c in instructions(text)
    ]


def _options(flag: str) -> list[Literal]:
    name, _, options = flag.partition("=")
    return [Literal(name), *map(Literal, options.split(","))]


def _words(command: Any) -> list[str]:
    words = list(command.value)
    if command.cmd in {"ENV", "LABEL"}:
        # `${PATH}` is ours; it stands alone in its value, and nothing of a plan beside it.
        return [
            Literal(unquoted(w) if i % 2 and ":${PATH}" not in w else w)
            for i, w in enumerate(words)
        ]
    if command.cmd == "RUN" and words[:2] == ["sh", "-ec"]:
        return [*map(Literal, words[:2]), Shell(words[2])]
    return [*map(Literal, words)]


def requirements(text: str) -> Any:
    """Requirements as pip's own library has them."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return Bag(Counter(map(_requirement, lines)))


@lru_cache(maxsize=4096)
def _requirement(line: str) -> str:
    match = re.fullmatch(r"(\S+) --hash=sha256:\S+  # .*", line)
    assert match, line
    with suppress(InvalidRequirement):  # what no reader takes is refused by every reader
        parsed = Requirement(match[1])
        assert (parsed.url, parsed.extras, parsed.marker) == (None, set(), None), line
    return line


def checksums(text: str) -> Any:
    """Digest and file name, as `sha256sum --check --strict` reads them."""
    lines = text.split("\n")
    assert not lines.pop()
    pairs = [re.fullmatch(r"(\S+)  ([^/\\]+)", line, re.DOTALL) for line in lines]
    assert all(pairs), lines
    return [tuple(map(Literal, p.groups())) for p in pairs if p]


def yaml_file(text: str) -> Any:
    """Documents of data."""
    return list(yaml.load_all(text, _Loader))


def json_file(text: str) -> Any:
    """Data, below lines of comment."""
    lines = [line for line in text.split("\n") if not line.lstrip().startswith("//")]
    return json.loads("\n".join(lines))


def apptainer(text: str) -> Any:
    """Header and sections; what a shell runs in them, as commands."""
    header, sections = definition.read(text)
    files = Bag(Counter(sections.pop("files")))
    shells = {"post", "test", "environment", "runscript"}
    return (
        header,
        files,
        [
            (
                re.sub(r"^(apprun) .*", r"\1", name),
                [
                    Shell(line) if name in shells or name.startswith("apprun") else line
                    for line in lines
                    if not line.startswith("#")
                ],
            )
            for name, lines in sections.items()
        ],
    )


def reader(name: str) -> Any:
    """What reads a file of that name, None where it is `nix`."""
    for end, read in (
        ("Dockerfile", dockerfile),
        ("apptainer.def", apptainer),
        (".yaml", yaml_file),
        (".json", json_file),
        ("flake.lock", json_file),
        (".nix", None),
    ):
        if name.endswith(end):
            return read
    return checksums if name.startswith("checksums.") else requirements


def difference(marked: Any, found: Any, text: str, *, exact: bool = True) -> str:
    """Where two outputs differ in more than the text, "" where they do not.

    ``exact=False`` compares the structure alone: kinds and numbers of things.
    """
    if isinstance(marked, Bag):
        expected = Counter({k.replace(MARK, text): n for k, n in marked.items.items()})
        good = expected == found.items or (not exact and len(expected) == len(found.items))
        return "" if good else f"{expected - found.items} became {found.items - expected}"
    if isinstance(marked, str):
        same = isinstance(found, str) and same_text(marked, found, text)
        if not exact and isinstance(found, str):
            same = not isinstance(marked, Shell) or _shape(marked) == _shape(found)
        return "" if same else f"{marked!r:.300} became {found!r:.300}"
    if isinstance(marked, dict):
        if not isinstance(found, dict) or len(marked) != len(found):
            return f"{marked!r:.200} became {found!r:.200}"
        pairs = list(zip(marked.items(), found.items(), strict=True))
        if not all(same_text(ours[0], theirs[0], text) for ours, theirs in pairs):
            keys = {key: key.replace(MARK, text) for key in marked}  # another order, then
            if set(keys.values()) != found.keys():
                return f"{list(marked)} became {list(found)}"
            pairs = [(item, (keys[item[0]], found[keys[item[0]]])) for item in marked.items()]
        pairs = [(ours[1], theirs[1]) for ours, theirs in pairs]
        return next((d for x, y in pairs if (d := difference(x, y, text, exact=exact))), "")
    if isinstance(marked, (list, tuple)):
        if not isinstance(found, (list, tuple)) or len(marked) != len(found):
            return f"{marked!r:.200} became {found!r:.200}"
        pairs_ = zip(marked, found, strict=True)
        return next((d for x, y in pairs_ if (d := difference(x, y, text, exact=exact))), "")
    return "" if marked == found else f"{marked!r:.200} became {found!r:.200}"


def same_text(marked: str, found: str, text: str) -> bool:
    """Whether a text is the marked one with another word in place of the mark."""
    if marked == found and MARK not in marked:
        return True
    if isinstance(marked, Shell):
        return same_commands(marked, found, text)
    if MARK not in marked or isinstance(marked, Literal):
        return _HEX.sub("H", found) == _HEX.sub("H", marked.replace(MARK, text))
    if found in {marked.replace(MARK, text), marked.replace(MARK, text.replace("$", "$$"))}:
        return True
    # A name of a cluster, which stands for the text and cannot hold it.
    label = _HEX.sub("H", re.escape(marked)).replace(MARK, _LABEL)
    return re.fullmatch(label, _HEX.sub("H", found)) is not None or _in_words(marked, found, text)


def _in_words(marked: str, found: str, text: str) -> bool:
    return shlex.quote(text) != text and same_commands(marked, found, text)


def same_commands(marked: str, found: str, text: str) -> bool:
    """Whether a shell runs the same commands, with another word in place of the mark."""
    if _loose(marked) != _loose(found):
        return False
    try:
        ours, theirs = shlex.split(marked), shlex.split(found)
    except ValueError:
        return False
    if len(ours) != len(theirs):
        return False
    for a, b in zip(ours, theirs, strict=True):
        if b != a.replace(MARK, text) and not (" " in a and same_commands(a, b, text)):
            return False
    return True


def _shape(commands: str) -> tuple[str, int]:
    return _loose(commands), len(shlex.split(commands))


def _loose(commands: str) -> str:
    """What stands outside single quotes and means something to a shell."""
    return "".join(c for c in _QUOTED.sub("", commands) if c in "$`*?;&|<>(){}[]\\\"'~#\n")


_NIX = re.compile(r'"(?:[^"\\]|\\.)*"|[A-Za-z_][A-Za-z0-9_\'-]*|\S', re.DOTALL)


_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_CONTROL = {"n": "\n", "t": "\t", "r": "\r"}


def nix_tokens(parsed: str) -> tuple[Counter[str], Counter[str]]:
    """Strings and names, and the rest, of what `nix-instantiate --parse` prints."""
    words: Counter[str] = Counter()
    rest: Counter[str] = Counter()
    for token in _NIX.findall(parsed):
        if token[0] == '"':
            words[_ESCAPE.sub(lambda m: _CONTROL.get(m[1], m[1]), token[1:-1])] += 1
        elif token[0].isalpha() or token[0] == "_":
            words[token] += 1  # a name needs quotes or none, as it happens to be spelled
        else:
            rest[token] += 1
    return words, rest
