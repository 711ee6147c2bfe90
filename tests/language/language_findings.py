"""Findings as short text, so that a table of cases stays readable."""

from __future__ import annotations

from envspec import rules
from envspec.diagnostics import Diagnostic, DiagnosticError
from envspec.language.parse import parse
from envspec.language.resolve import resolve
from envspec.model import Spec
from envspec.source import SourceFile

SPEC = """\
envspec 1
project demo {
  source archive "demo-1.0.tar.gz" sha256 "%s"
}
platform linux/amd64 {
  base "python:3.11"
  python 3.11
}
"""
SPEC %= "a" * 64
LINES = SPEC.count("\n")


def read(text: str) -> Spec:
    """The model of a whole text."""
    source = SourceFile("spec.env", text)
    return resolve(parse(source), source)


def all_of(text: str) -> tuple[Diagnostic, ...]:
    """Findings of parsing and resolving a whole text."""
    try:
        read(text)
    except DiagnosticError as error:
        return error.diagnostics
    return ()


def of_rules(text: str) -> tuple[Diagnostic, ...]:
    """Findings of the rules about a good spec with some lines added."""
    source = SourceFile("spec.env", SPEC + text)
    return rules.check(resolve(parse(source), source), source)


def places(findings: tuple[Diagnostic, ...]) -> list[str]:
    """`CODE line:column` of each finding, and what its first label covers."""
    result = []
    for d in findings:
        assert d.source is not None
        at = d.source.position(d.span.start)
        covered = d.source.text[d.span.start : d.span.end].split("\n", 1)[0]
        result.append(f"{d.code} {at.line}:{at.column} {covered}".rstrip())
    return result
