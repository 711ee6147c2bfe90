"""Data that programs under test had a hand in, made such that every reader takes it. Pure."""

from __future__ import annotations

import math
import re
from typing import Any

from envspec.report.shapes import DEEPEST, LONGEST, MOST

_CUT = " … (cut)"
_LONE = re.compile("[\ud800-\udfff]")
_LARGEST = 10**30


def bounded(value: Any, depth: int = 0) -> Any:
    """The same, with half characters written as their code, and with what is too long, too deep,
    too many or no number that JSON knows cut off."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return value if abs(value) < _LARGEST else str(value)[:40]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if depth >= DEEPEST:
        return None
    if isinstance(value, dict):
        pairs = list(value.items())[:MOST]
        return {_text(str(k)): bounded(v, depth + 1) for k, v in pairs}
    if isinstance(value, list | tuple):
        return [bounded(item, depth + 1) for item in value[:MOST]]
    return _text(str(value))


def _text(text: str) -> str:
    if _LONE.search(text):
        text = _LONE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
    return text if len(text) <= LONGEST else text[: LONGEST - len(_CUT)] + _CUT
