"""What rungs are called and what they ask, for every form of the report."""

from __future__ import annotations

TITLES = {
    "c0_static": ("C0 static", "is every import there?"),
    "c0_live": ("C0 live", "does every import load?"),
    "c1": ("C1", "does it run on CPU?"),
    "c2_static": ("C2 static", "do the binaries fit?"),
    "c2_live": ("C2 live", "is the GPU seen?"),
    "c3": ("C3", "does a kernel run?"),
    "c4": ("C4", "does it run distributed?"),
}


def title(name: str) -> str:
    """`C0 static` for `c0_static`; the name itself for a rung that is not in the table."""
    return TITLES.get(name, (name.replace("_", " ").upper(), ""))[0]


def question(name: str) -> str:
    """What the rung asks."""
    return TITLES.get(name, ("", ""))[1]
