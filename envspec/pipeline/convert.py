"""A spec in its other form."""

from __future__ import annotations

import json
from pathlib import Path

from envspec.language.format import print_spec
from envspec.language.json_document import document
from envspec.language.json_form import parse_json
from envspec.language.layout import formatted
from envspec.language.parse import parse
from envspec.language.resolve import resolve
from envspec.pipeline.load import read_spec
from envspec.source import SourceFile

JSON = "json"
TEXT = "text"


def is_json(text: str) -> bool:
    """True for a text whose first character that shows is a brace: no statement begins so."""
    return text.lstrip(" \t\r\n").startswith("{")


def converted(path: Path, form: str | None) -> str:
    """The text of the other form, or of ``form``.

    Raises:
        DiagnosticError: E0902 (unreadable), E01.., E02...
    """
    source = read_spec(path)
    given = JSON if is_json(source.text) else TEXT
    wanted = form or (TEXT if given == JSON else JSON)
    statements = parse_json(source) if given == JSON else parse(source)
    text = formatted(SourceFile(source.name, print_spec(resolve(statements, source))))
    if wanted == TEXT:
        return text
    # By way of the text, so that the same spec gives the same JSON whichever form it came in.
    canonical = SourceFile(source.name, text)
    made = document(parse(canonical), canonical)
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"
