"""The browser that tests show pages in."""

from __future__ import annotations

import os
import shutil


def browser() -> str | None:
    """A Chromium on PATH, or the one that ENVSPEC_BROWSER names."""
    names = (os.environ.get("ENVSPEC_BROWSER", ""), "chromium", "chromium-browser", "google-chrome")
    return next((found for name in names if name and (found := shutil.which(name))), None)
