"""The scripts that entries name: files beside the spec."""

from __future__ import annotations

import os
from pathlib import Path

from envspec.diagnostics import Diagnostic, Label
from envspec.model import Entry, Spec
from envspec.source import SourceFile

MAX_SCRIPT = 1 << 20


def read(
    spec: Spec, source: SourceFile, folder: Path
) -> tuple[dict[str, bytes], tuple[Diagnostic, ...]]:
    """Name → content of every script, and E0207 for each that is not there or too large."""
    scripts: dict[str, bytes] = {}
    findings: list[Diagnostic] = []
    root = Path(os.path.realpath(folder))  # pathlib's own fails on a link that leads to itself
    for entry in spec.entries:
        if not entry.script or entry.script in scripts:
            continue
        path = Path(os.path.realpath(root / entry.script))
        try:
            if not path.is_relative_to(root) or not path.is_file():
                raise FileNotFoundError
            with path.open("rb") as stream:
                scripts[entry.script] = stream.read(MAX_SCRIPT + 1)
        except OSError:
            title = f"there is no file `{entry.script}` beside the spec"
            hint = "a script is a file in the spec's folder or below, not a link out of it"
            findings.append(_finding(entry, source, title, hint))
            continue
        if len(scripts[entry.script]) > MAX_SCRIPT:
            title = f"`{entry.script}` is larger than 1 MiB"
            findings.append(_finding(entry, source, title, "data belongs into the source archive"))
    return scripts, tuple(findings)


def _finding(entry: Entry, source: SourceFile, title: str, hint: str) -> Diagnostic:
    label = Label(entry.span, "this entry runs it")
    return Diagnostic("E0207", title, source, (label,), hint=hint)
