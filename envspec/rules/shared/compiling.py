"""Extensions that are compiled: what is known of them, and which of them run nvcc.

They are built without a GPU, against the locked torch. Only those that the table knows are looked
at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from envspec.diagnostics import Edit
from envspec.facts import lookup
from envspec.facts import rows as kinds
from envspec.model import Extension, Package
from envspec.names import normalise
from envspec.rules.shared import places
from envspec.rules.view import View
from envspec.source import Span
from envspec.stated import environment
from envspec.toolchain import extension_facts

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
    settled, stated = view.settled.get(name), view.stated.get(name)
    if settled is not None or stated is None:
        return lookup.extension(name, settled.public if settled else "")
    return extension_facts(stated)


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
