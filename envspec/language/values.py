"""The shapes of values: what a version, a name or a duration looks like.

Each shape is a regular expression and a sentence. `packaging` is not used here: importing it
costs as much as parsing twenty specs, and `compile` needs the shapes only.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from envspec.wording import either


class Shape(NamedTuple):
    """What a value must look like. ``expected`` completes the sentence "expected …".

    ``words`` are all values there are, where those can be listed; ``noun`` then says what one of
    them is.
    """

    pattern: str
    expected: str
    words: tuple[str, ...] = ()
    noun: str = ""

    def fits(self, text: str) -> bool:
        """True where the whole text has the shape."""
        return _compiled(self.pattern).fullmatch(text) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    r"""Compiled when first asked: a spec uses half of the shapes, and compiling takes longer than
    matching. ASCII, or `\d` would take every digit of Unicode and `(?i:s)` a long s."""
    return re.compile(pattern, re.ASCII)


def _shape(pattern: str, expected: str) -> Shape:
    return Shape(pattern, expected)


def _choice(noun: str, *words: str) -> Shape:
    return Shape("|".join(map(re.escape, words)), either(words), words, noun)


# The grammar of PEP 440, part by part.
_RELEASE = r"v?(?:\d+!)?\d+(?:\.\d+)*"
_COMPATIBLE = r"v?(?:\d+!)?\d+(?:\.\d+)+"
_SUFFIXES = (
    r"(?:[-_.]?(?:alpha|beta|preview|pre|a|b|c|rc)[-_.]?\d*)?"
    r"(?:-\d+|[-_.]?(?:post|rev|r)[-_.]?\d*)?"
    r"(?:[-_.]?dev[-_.]?\d*)?"
)
_LOCAL = r"(?:\+[a-z0-9]+(?:[-_.][a-z0-9]+)*)?"
_VERSION = f"{_RELEASE}{_SUFFIXES}{_LOCAL}"
# Only `==` and `!=` take `.*` or a local version, `~=` wants two numbers, and `===`, which PEP 440
# lets compare any text, is held to versions here.
_CLAUSE = (
    rf"(?:(?:==|!=)(?:{_VERSION}|{_RELEASE}\.\*)"
    rf"|===(?:{_VERSION})|~={_COMPATIBLE}{_SUFFIXES}|(?:<=|>=|<|>){_RELEASE}{_SUFFIXES})"
)
# An image as registries name it: a host, perhaps with a port, then lower-case parts.
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_HOST = rf"{_LABEL}(?:\.{_LABEL})*(?::\d{{1,5}})?"
_PART = r"[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*"

NAME = _shape(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?", "a name such as `my-project`")
VERSION = _shape(f"(?i:{_VERSION})", "a version such as `2.13.0+cpu`")
SPECIFIER = _shape(
    rf"(?i:{_CLAUSE}(?:,{_CLAUSE})*)", "a version specifier such as `>=0.8` or `==2.13.0`"
)
PYTHON = _shape(r"3\.(?:[89]|[1-9]\d)", "a Python release such as `3.11`")
PLATFORM = _shape(r"linux/(?:amd64|arm64)", "`linux/amd64` or `linux/arm64`")
FLOOR = _shape(r">=\d+(?:\.\d+){0,3}", "a lower bound such as `>=2.28`")
NUMBER_DOTTED = _shape(r"\d+(?:\.\d+){0,3}", "a version number such as `12.8`")
SHA256 = _shape(r"[0-9a-f]{64}", "a sha256 of 64 lower-case hexadecimal digits")
IMAGE = _shape(
    rf"(?:{_HOST}/)?{_PART}(?:/{_PART})*(?::[A-Za-z0-9_][A-Za-z0-9._-]{{0,127}})?"
    r"(?:@sha256:[0-9a-f]{64})?",
    "an image such as `python:3.11-slim-bookworm@sha256:…`",
)
FILE_NAME = _shape(r"[A-Za-z0-9_][A-Za-z0-9._+!-]{0,199}", "a file name without folders")
RELATIVE = _shape(
    r"(?!.*(?:^|/)\.\.(?:/|$))[A-Za-z0-9_.][A-Za-z0-9._+-]*(?:/[A-Za-z0-9._+-]+)*",
    "a path inside the folder, without `..`",
)
SYSTEM_PACKAGE = _shape(r"[a-z0-9][a-z0-9.+-]+", "a package name of the distribution")
GPU = _shape(r"sm_\d{2,3}[af]?", "an architecture such as `sm_90`")
DURATION = _shape(r"[1-9]\d{0,5}[smh]", "a duration such as `90s`, `10m` or `2h`")
COUNT = _shape(r"0|[1-9]\d{0,8}", "a whole number")
PROCESSES = _shape(r"[1-9]\d{0,3}", "a number of processes such as `2`")
MODULE = _shape(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*", "a module name such as `flash_attn`")
VARIABLE = _shape(r"[A-Za-z_][A-Za-z0-9_]*", "a variable name")
URL = _shape(r"(?:https|http|file)://[!-~]+", "an address such as `https://example.org/simple`")
BOOLEAN = _shape(r"true|false", "`true` or `false`")
CUDA_OR_NONE = _shape(r"none|\d+(?:\.\d+){0,3}", "a version such as `12.8`, or `none`")
ARCHITECTURES = _shape(
    r"none|(?:sm|compute)_\d{2,3}[af]?(?: (?:sm|compute)_\d{2,3}[af]?){0,63}",
    'architectures such as `"sm_80 sm_90 compute_90"`, or `none`',
)
PYTHON_ABI = _shape(r"cp3\d{1,2}t?|pp3\d{1,2}", "an interpreter's tag such as `cp311`")
DIGEST = _shape(r"(?:sha256:)?[0-9a-f]{64}", "a sha256 such as `sha256:9f86d0…`")
JAX_BACKEND = _choice("a backend of JAX", "cpu", "gpu", "tpu")
COLLECTIVES = _choice("a library of collectives", "nccl", "gloo", "mpi")
VERDICT = _shape(r"pass|fail", "`pass`, `fail` or `unstated`")
ACCELERATOR = _choice("an accelerator", "cuda", "none")
LEVEL = _choice("a level of an entry", "c1", "c3", "c4")
ALLOWED = _choice("a value of `network`", "allowed")
_PLAIN = r"[^\x00-\x08\x0a-\x1f\x7f]"
TEXT = _shape(f"{_PLAIN}*", "a string on one line")
REASON = _shape(rf"\s*[^\s\x00-\x1f\x7f]{_PLAIN}*", "a reason")
PACKAGE = _shape(
    r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?"
    r"(?:\[[A-Za-z0-9._-]+(?:,[A-Za-z0-9._-]+)*\])?",
    "a package name, perhaps with extras such as `jax[cuda12]`",
)
GIT_URL = _shape(r"(?:https|ssh|file)://[!-~]+", "an address such as `https://example.org/x.git`")
COMMIT = _shape(r"[0-9a-f]{40}", "a commit of 40 lower-case hexadecimal digits")
SIZE = _shape(r"[1-9]\d{0,5}(?:MiB|GiB|TiB)", "a size such as `512MiB` or `16GiB`")
PORT = _shape(
    r"[1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d{2}|655[0-2]\d|6553[0-5]",
    "a port such as `5432`",
)
STATUS = _shape(r"\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5]", "an exit status from 0 to 255")
HUB = _shape(rf"{_LABEL}/[A-Za-z0-9][A-Za-z0-9._-]{{0,95}}", "a repository such as `owner/model`")
REVISION = _shape(r"[0-9a-f]{40}", "a revision of 40 lower-case hexadecimal digits")
ABSOLUTE = _shape(r"/[!-~]*", "an absolute path")

_UNITS = {"MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


def size(text: str) -> int:
    """Bytes of a text that has the shape `SIZE`."""
    return int(text[:-3]) * _UNITS[text[-3:]]


def seconds(duration: str) -> int:
    """Seconds of a text that has the shape `DURATION`."""
    return int(duration[:-1]) * {"s": 1, "m": 60, "h": 3600}[duration[-1]]
