"""Text of a report as it may be shown: no credential, no control character, no text that runs the
other way. What any of the report's forms prints has passed here."""

from __future__ import annotations

import re

from envspec.render import visible

# A terminal's own commands go first: what they split or stand before would hide a token.
_TERMINAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_TAB = " " * 4


def plain(text: object) -> str:
    """One line. What cannot be shown is written as the number of its character."""
    return visible(_TERMINAL.sub("", str(text)).replace("\t", " ").replace("\n", " "))


def plain_lines(text: str) -> str:
    """Lines, each ending as Unix ends them."""
    text = _TERMINAL.sub("", text).replace("\r\n", "\n").replace("\t", _TAB)
    return "\n".join(visible(line) for line in text.split("\n"))
