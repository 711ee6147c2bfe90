"""Findings → SARIF 2.1.0, the format that code scanning reads.

Columns count UTF-16 units, as `columnKind` says: a character outside the basic plane counts two,
a tab one. No source text is part of the document, so it holds nothing that a spec should not have
held, and what stands before the `@` of an address is masked in every message.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from envspec.credentials import masked
from envspec.diagnostics import ERROR, NOTE, WARNING, Diagnostic, Fix, Label
from envspec.resources import Page
from envspec.source import SourceFile, Span

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_LEVELS = {ERROR: "error", WARNING: "warning", NOTE: "note"}
_FINGERPRINT = "envspecFinding/v1"
_MEANING = re.compile(r"## What it means\n+(.*?)\n*(?=\n## |\Z)", re.DOTALL)
_PAGE_LINK = re.compile(r"\[([^\]]+)\]\((?!https?://)[^)]*\)")


def document(
    findings: Sequence[Diagnostic], pages: Mapping[str, Page], version: str
) -> dict[str, Any]:
    """One run of envspec as plain data. ``pages`` holds at least the page of every code found."""
    order = sorted({d.code for d in findings})
    driver = {
        "name": "envspec",
        "version": version,
        "semanticVersion": version,
        "rules": [_rule(pages[code]) for code in order],
    }
    seen: dict[str, int] = {}
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "utf16CodeUnits",
                "results": [_result(d, order.index(d.code), seen) for d in findings],
            }
        ],
    }


def _rule(page: Page) -> dict[str, Any]:
    """``helpUri`` has to be absolute, and the page has no address of its own: its text is here."""
    meaning = _MEANING.match(page.body)
    full = " ".join(meaning[1].split()) if meaning else page.title
    body = _PAGE_LINK.sub(r"\1", page.body)
    return {
        "id": page.code,
        "shortDescription": {"text": message(page.title)},
        "fullDescription": {"text": message(_PAGE_LINK.sub(r"\1", full))},
        "help": {"text": message(body), "markdown": _braces(body)},
        "defaultConfiguration": {"level": "warning" if page.code.startswith("W") else "error"},
    }


def _result(d: Diagnostic, index: int, seen: dict[str, int]) -> dict[str, Any]:
    notes = [f"Cause: {d.cause}." if d.cause else "", f"Hint: {d.hint}." if d.hint else ""]
    text = "\n".join([f"{d.title}.", *(n for n in notes if n), *d.excerpt])
    result: dict[str, Any] = {
        "ruleId": d.code,
        "ruleIndex": index,
        "level": _LEVELS[d.severity],
        "message": {"text": message(text)},
        "partialFingerprints": {_FINGERPRINT: _fingerprint(d, seen)},
    }
    if d.source is not None:
        first, *others = d.labels or (Label(d.span),)
        result["locations"] = [_location(d.source, first)]
        if others:
            result["relatedLocations"] = [
                {"id": number, **_location(d.source, label)}
                for number, label in enumerate(others, 1)
            ]
        if d.fix is not None:
            result["fixes"] = [_fix(d.source, d.fix)]
    return result


def _location(source: SourceFile, label: Label) -> dict[str, Any]:
    place = {"artifactLocation": artefact(source.name), "region": _region(source, label.span)}
    text = {"message": {"text": message(label.text)}} if label.text else {}
    return {"physicalLocation": place, **text}


def _fix(source: SourceFile, fix: Fix) -> dict[str, Any]:
    replacements = [
        {
            "deletedRegion": _region(source, edit.span),
            "insertedContent": {"text": edit.replacement},
        }
        for edit in sorted(fix.edits)
    ]
    change = {"artifactLocation": artefact(source.name), "replacements": replacements}
    return {"description": {"text": message(fix.description)}, "artifactChanges": [change]}


def artefact(name: str) -> dict[str, str]:
    """A file as a URI: relative to the folder the command ran in, or absolute as it was named."""
    path = quote(str(PurePosixPath(name)).encode("utf-8", "surrogateescape"), safe="/")
    if path.startswith("/"):
        return {"uri": f"file:///{path.lstrip('/')}"}
    return {"uri": path, "uriBaseId": "%SRCROOT%"}


def _region(source: SourceFile, span: Span) -> dict[str, int]:
    start_line, start_column = _place(source, span.start)
    end_line, end_column = _place(source, span.end)
    return {
        "startLine": start_line,
        "startColumn": start_column,
        "endLine": end_line,
        "endColumn": end_column,
    }


def _place(source: SourceFile, offset: int) -> tuple[int, int]:
    """Line from 1 and column from 1 in UTF-16 units."""
    offset = max(0, min(offset, len(source.text)))
    line, column = source.position(offset)
    before = source.text[offset - column + 1 : offset]
    return line, column + sum(char > "\uffff" for char in before)


def _fingerprint(d: Diagnostic, seen: dict[str, int]) -> str:
    """The same for a finding that other lines push up or down: code, line of text, and which of
    its like it is."""
    line = ""
    if d.source is not None and d.labels:
        line = d.source.line(d.source.position(d.span.start).line)
    name = d.source.name if d.source else ""
    key = "\n".join((d.code, name, masked(" ".join(line.split()))))
    seen[key] = seen.get(key, 0) + 1
    return hashlib.sha256(f"{key}\n{seen[key]}".encode("utf-8", "surrogateescape")).hexdigest()


def message(text: str) -> str:
    """Text of a SARIF message: braces mean placeholders there, and `[…](…)` means a link."""
    return _braces(masked(text)).replace("](", "\\](")


def _braces(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
