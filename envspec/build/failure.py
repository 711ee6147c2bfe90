"""A build that failed at a line of the spec.

Engines know the plan, and so the line, but not the text of the spec. They raise this value;
`envspec.pipeline`, which holds the text, turns it into a finding with a place.
"""

from __future__ import annotations

from collections.abc import Iterable


class BuildFailed(Exception):  # noqa: N818 - reads as what happened, and is never shown as such
    """What went wrong, in the words of a finding. ``line`` counts from 1; 0 is no line."""

    def __init__(
        self,
        code: str,
        title: str,
        *,
        line: int = 0,
        cause: str = "",
        hint: str = "",
        excerpt: Iterable[str] = (),
    ) -> None:
        self.code = code
        self.title = title
        self.line = line
        self.cause = cause
        self.hint = hint
        self.excerpt = tuple(excerpt)
        super().__init__(f"{code} {title}")
