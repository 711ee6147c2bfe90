"""A page of Markdown for people at a terminal."""

from __future__ import annotations

import re
from typing import TextIO

from rich.console import Console
from rich.markdown import Markdown

_PAGE_LINK = re.compile(r"\[([^\]]+)\]\((?!https?://)[^)]*\)")
_WIDEST = 100


def print_page(text: str, stream: TextIO) -> None:
    """Headings, lists and code as such; a link to another page is its words alone."""
    console = Console(file=stream, force_terminal=True, highlight=False)
    console.width = min(console.width, _WIDEST)
    console.print(Markdown(_PAGE_LINK.sub(r"\1", text), code_theme="ansi_dark"))
