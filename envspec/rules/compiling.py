"""Extensions that are compiled: what is known of them, and which of them run nvcc.

They are built without a GPU, against the locked torch. Only those that the table knows are looked
at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from envspec.diagnostics import Edit
from envspec.facts import lookup
from envspec.facts import rows as kinds
from envspec.facts.versions import at_least, within
from envspec.model import Extension, Package
from envspec.names import normalise
from envspec.rules import places
from envspec.rules.view import View
from envspec.source import Span
from envspec.stated import environment

ARCH_LIST = "TORCH_CUDA_ARCH_LIST"
"""What a build has to import where the spec does not say."""

_NAME = re.compile(r"[A-Za-z0-9._-]+", re.ASCII)


class Build(NamedTuple):
    """An extension whose build runs nvcc, and what is known about it."""

    extension: Extension
    facts: kinds.Extension


def builds(view: View) -> Iterator[Build]:
    """Extensions whose build runs nvcc: known ones, for a torch that is not a CPU build. Without an
    accelerator, those that have no CPU build, for a torch that is known to have CUDA."""
    if view.torch_build_name == "cpu":
        return
    for extension in view.spec.extensions:
        row = facts(view, extension.name)
        if row is None or not row.compiles_cuda or not _wants_cuda(view, extension, row):
            continue
        if view.cuda or (view.torch_cuda and row.force_reason != "gpu"):
            yield Build(extension, row)


def facts(view: View, name: str) -> kinds.Extension | None:
    """What is known about an extension in its release; None where the row is about others."""
    row = lookup.extension(name)
    if row is None or not (row.since or row.until):
        return row
    settled = view.settled.get(name)
    if settled is None:
        # A commit may be any release; without a version, the newest one is meant.
        stated = view.stated.get(name)
        from_git = isinstance(stated, Extension) and stated.git is not None
        return None if from_git and row.until else row
    number = re.match(r"\d+(?:\.\d+)*", settled.public, re.ASCII)
    asked = number[0] if number else ""
    return row if within(asked, row.since or "0", row.until) else None


def _wants_cuda(view: View, extension: Extension, row: kinds.Extension) -> bool:
    values = environment(view.spec, extension)
    if any(values.get(name) == value for name, value in settings(row.skip)):
        return False
    if row.asked_by is None:
        return True
    return any(
        value not in {"", "0"}
        and any(name == a or (a[-1] == "_" and name.startswith(a)) for a in row.asked_by)
        for name, value in values.items()
    )


def settings(written: tuple[str, ...] | None) -> tuple[tuple[str, str], ...]:
    """``NAME=VALUE`` of a table as pairs."""
    parts = (text.partition("=") for text in written or ())
    return tuple((name, value) for name, _, value in parts)


# --- what is written ----------------------------------------------------------------------


def add_to_extension(view: View, extension: Extension, line: str) -> Edit | None:
    """Put a line into the block of an extension, or give it a block."""
    text = view.source.text
    span = extension.span
    if not (0 <= span.start < span.end <= len(text)) or not text.startswith(
        "extension", span.start
    ):
        return None
    if text[span.end - 1] == "}":
        return places.add_line(view.source, span, line)
    return Edit(Span(span.end, span.end), f" {{\n  {line}\n}}")


def written_name(view: View, package: Package) -> Span | None:
    """Where the name of a package is written; None for a spec that came in another form."""
    match = _NAME.match(view.source.text, package.span.start)
    if match is None or normalise(match[0]) != package.name:
        return None
    return Span(match.start(), match.end())


def head(extension: Extension, source_text: str) -> Span:
    """The first line of an extension: a finding about the whole of it marks that line."""
    text = source_text[extension.span.start : extension.span.end].partition("\n")[0]
    text = text.partition("{")[0].rstrip() or text
    return Span(extension.span.start, extension.span.start + len(text)) if text else extension.span


@cache
def shown_sm(gpu: str) -> str:
    """``sm_90a`` as NVIDIA and torch write it: ``9.0a``."""
    match = re.fullmatch(r"sm_(\d{1,3})(\d)([af]?)", gpu, re.ASCII)
    return f"{int(match[1])}.{match[2]}{match[3]}" if match else ""


def older(found: str, wanted: str) -> bool:
    """Whether a version is known to be older than another one."""
    return at_least(found, wanted) is False
