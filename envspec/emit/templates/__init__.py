"""Layout of emitted files. Templates print encoded values and nothing else.

The only place that imports jinja2.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from envspec.emit.encode import finalize


@lru_cache(maxsize=1)
def _environment() -> Environment:
    # Autoescape is for HTML; here `finalize` refuses every value that was not encoded.
    return Environment(
        loader=FileSystemLoader(Path(__file__).parent, encoding="utf-8"),
        undefined=StrictUndefined,
        finalize=finalize,
        autoescape=False,  # noqa: S701
        keep_trailing_newline=True,
        auto_reload=False,
    )


def render(template: str, **values: Any) -> str:
    """Fill in a template of this folder."""
    return _environment().get_template(template).render(values)
