"""Draw what `envspec check` finds in a spec; run as a program, in every spec of a folder."""

from __future__ import annotations

import sys
from pathlib import Path

from envspec import render, rules
from envspec.diagnostics import DiagnosticError, in_order
from envspec.language.parse import parse
from envspec.language.resolve import resolve
from envspec.source import SourceFile


def drawing(path: Path) -> str:
    """The findings of a spec as text, and how many there are."""
    source = SourceFile(path.name, path.read_bytes().decode("utf-8"))
    try:
        findings = rules.check(resolve(parse(source), source), source)
    except DiagnosticError as error:
        findings = in_order(error.diagnostics)
    return render.text(findings) + (render.summary(findings) or "nothing found") + "\n"


if __name__ == "__main__":
    for spec in sorted(Path(sys.argv[1]).glob("*.env")):
        sys.stdout.write(f"{spec.stem}\n{drawing(spec)}")
