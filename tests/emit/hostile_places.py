"""Every text of a plan, found by reflection, and hostile texts to put there."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from random import Random
from typing import Any

from emit_sample import CONTROL, EXTENSION, HOSTILE, entry, sample

from envspec.plan import model as plan

MARK = "zq9markq9z"
"""Stands for a hostile text in the outputs that it is compared with: a word to every reader."""

Path = tuple[str | int, ...]

_TRAPS = (
    "\n", "\r\n", "\nRUN id", "\\\nRUN id", "]\nRUN id", '"\nENV A=1', "\t", "\v", "\ufeff", "\x85",
    "\u202e", "\U000e0041", "yes", "null", "1e3", "0x1f", "- x", "a: b", "a #b", "? x", "---",
    "${{ x }}", "${localEnv:HOME}", "$(HOME)", "{{wheels}}", "%post", " %post", "x' y", "';id;'",
    "'\"'\"'", "a,b", "x,target=/etc", "x,rw", "a@b", "a==1", "x ; python_version>'3'", "\\'",
    "--hash=sha256:0", "/../../etc", "../x", "..", ".", "''\\${x}", "'' + x + ''", "}", "${", "\\",
    "https://u:p@h/x", "-r /etc/passwd", "*/", "//", "/*", "EOF", "<<'EOF'", "# escape=`",
    "# syntax=x", "@", "=", ",", ":", "!", "%", "^", "(", ")", "<", ">", "?", "a\\ b", "$'x'",
)  # fmt: skip
_WORD = "abzAZ09_./:@=+,!-"


def hostile(random: Random) -> str:
    """A text that means something to one reader or another."""
    kind = random.randrange(12)
    pieces = (*HOSTILE, *_TRAPS)
    if kind < 4:
        return random.choice(pieces)
    if kind == 4:
        return f"x{random.choice(CONTROL)}RUN id"
    if kind < 7:
        return "".join(random.choices(pieces, k=random.randrange(2, 5)))
    if kind < 9:
        return "".join(random.choices(_WORD, k=random.randrange(1, 13)))
    if kind == 9:
        return f"abc{random.choice(pieces)}def"
    if kind == 10 and random.random() < 0.02:
        return "x" * random.choice((59_900, 60_001, 70_000))
    points = (random.choice((0x7E, 0x2FF, 0xFFFF, 0x10FFFF)) for _ in range(random.randrange(1, 9)))
    return "".join(chr(random.randrange(0x20, top)) for top in points)


def texts(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Where the texts of a plan stand, however deep."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, tuple):
        names = getattr(value, "_fields", range(len(value)))
        for name, item in zip(names, value, strict=True):
            yield from texts(item, (*path, name))


def put(value: Any, path: Path, text: str) -> Any:
    """The plan with another text in one place."""
    if not path:
        return text
    head, rest = path[0], path[1:]
    if isinstance(head, str):
        return value._replace(**{head: put(getattr(value, head), rest, text)})
    return (*value[:head], put(value[head], rest, text), *value[head + 1 :])


def marked(value: Any, text: str, harmless: frozenset[str]) -> Any:
    """The plan with the mark wherever a text holds ``text`` and is none of ``harmless``."""
    if isinstance(value, str):
        return value if value in harmless else value.replace(text, MARK)
    if isinstance(value, tuple):
        items = [marked(item, text, harmless) for item in value]
        return value._make(items) if hasattr(value, "_make") else tuple(items)
    return value


def records() -> set[type]:
    """Every kind of record that a plan is made of."""
    members = inspect.getmembers(sys.modules[plan.__name__], inspect.isclass)
    return {c for _, c in members if hasattr(c, "_fields")}


def kinds(value: Any) -> Iterator[type]:
    """The records that are in a plan."""
    if isinstance(value, tuple):
        if hasattr(value, "_fields"):
            yield type(value)
        for item in value:
            yield from kinds(item)


_RECORDED = EXTENSION._replace(wheel="torch_scatter-2.1.2-cp311.whl", sha256="e" * 64)

FULL = sample(
    accelerator=plan.Accelerator("cuda", "12.8", "525.60.13", ("sm_90",), "525.60.13"),
    steps=tuple(_RECORDED if s is EXTENSION else s for s in sample().steps),
    entries=(
        entry(expect=plan.Expect(0, ("/tmp/out.txt",), ("done",))),
        entry(name="kernel", level="c3", script=None, argv=("python", "kernel.py")),
        entry(name="ddp", level="c4", processes=2, script=None, argv=("torchrun", "x.py")),
    ),
    optional_imports=(plan.OptionalImport("flash_attn", "only on a GPU", 50),),
    claims=(plan.Claim("torch_version", "2.9.1", "seen once", 60),),
)
DEVEL = FULL._replace(
    devel=plan.Base("nvidia/cuda:12.8.1-devel-ubuntu22.04", f"sha256:{'d' * 64}"), devel_line=9
)
