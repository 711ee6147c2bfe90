"""A page in a real Chromium: its picture, and what a script beside it measures."""

from __future__ import annotations

import html
import json
import re
import subprocess
from pathlib import Path
from typing import Any

from browsers import browser

_OPTIONS = (
    "--headless",
    "--no-sandbox",  # tests run as root in CI
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
# The page is shown in a frame of the width of a phone or a desk. The frame's own policy forbids it
# scripts, so what measures it stands outside.
_BESIDE = """<!DOCTYPE html><meta charset="utf-8"><title>untouched</title>
<style>body{{margin:0}}iframe{{border:0;width:{width}px;height:{height}px;color-scheme:{scheme}}}
</style><pre id="measured">nothing</pre>
<iframe srcdoc="{page}"></iframe>
<script>
addEventListener("load", () => {{
  const page = document.querySelector("iframe").contentDocument;
  const measure = {measure};
  document.getElementById("measured").textContent = JSON.stringify(measure(page));
}});
</script>"""


def run(folder: Path, *more: str) -> str:
    """The browser on what its last argument names; what it prints."""
    found = browser()
    assert found
    profile = f"--user-data-dir={folder / 'profile'}"
    done = subprocess.run(
        [found, *_OPTIONS, profile, *more], capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout


def measured(
    folder: Path, page: str, measure: str, *, width: int = 1000, scheme: str = "light"
) -> Any:
    """What ``measure``, a JavaScript function, gives for the document of ``page``."""
    beside = folder / "beside.html"
    beside.write_text(
        _BESIDE.format(
            page=html.escape(page), width=width, height=4000, scheme=scheme, measure=measure
        )
    )
    shown = run(folder, "--dump-dom", "--virtual-time-budget=10000", beside.as_uri())
    assert "<title>untouched</title>" in shown
    found = re.search(r'<pre id="measured">(.*?)</pre>', shown, re.DOTALL)
    assert found
    return json.loads(html.unescape(found[1]))


def picture(
    folder: Path, page: str, name: str, *, width: int = 1000, scheme: str = "light"
) -> Path:
    """A screenshot as PNG."""
    source = folder / f"{name}.html"
    source.write_text(
        _BESIDE.format(
            page=html.escape(page), width=width, height=4000, scheme=scheme, measure="() => 0"
        )
    )
    path = folder / f"{name}.png"
    run(folder, f"--window-size={width},4000", f"--screenshot={path}", source.as_uri())
    return path
