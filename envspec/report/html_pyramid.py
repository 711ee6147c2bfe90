"""The pyramid C0 to C5 as a picture: read from the bottom, a course a rung. Verdicts are told by
words and by the outline as well as by colour."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from envspec.report.html_build import Markup, el, join
from envspec.report.rungs import question, title
from envspec.verify.claims.model import CONFIRMED, HALLUCINATIONS, INCONCLUSIVE, UNDERCLAIM

_WIDTH, _COURSE, _GAP = 740, 54, 8
_TOP, _BOTTOM = 300, 720  # widths of the highest and the lowest course
_COURSES = (("c0_static", "c0_live"), ("c1",), ("c2_static", "c2_live"), ("c3",), ("c4",))
MARKS = {
    "pass": "✓ pass",
    "fail": "✗ fail",
    "error": "! error",
    "blocked": "? blocked",
    "n/a": "– n/a",
    "unstated": "– nothing stated",
}


class _Stone(NamedTuple):
    title: str
    asks: str
    verdict: str


def css_class(verdict: str) -> str:
    """The class of a verdict, which gives its colour."""
    return verdict.replace("/", "")


def c5(report: Mapping[str, Any]) -> str:
    """The claims as one verdict: `fail` for a hallucination, `blocked` where nothing worse than
    an inconclusive or too modest claim is there, `unstated` where there is no claim."""
    found = {claim["verdict"] for claim in report["claims"]}
    if found & set(HALLUCINATIONS):
        return "fail"
    if found & {INCONCLUSIVE, UNDERCLAIM}:
        return "blocked"
    return "pass" if CONFIRMED in found else "unstated"


def pyramid(report: Mapping[str, Any]) -> Markup:
    """An inline SVG with a description for those who do not see it."""
    courses = [
        [_Stone(title(n), question(n), report["rungs"][n]["verdict"]) for n in names]
        for names in _COURSES
    ]
    courses.append([_Stone("C5", "did the spec tell the truth?", c5(report))])
    height = len(courses) * (_COURSE + _GAP) + _GAP
    drawn = []
    for level, stones in enumerate(courses):
        y = height - (level + 1) * (_COURSE + _GAP)
        whole = _BOTTOM - (_BOTTOM - _TOP) * level / (len(courses) - 1)
        each = (whole - _GAP * (len(stones) - 1)) / len(stones)
        left = (_WIDTH - whole) / 2
        for place, stone in enumerate(stones):
            drawn.append(_stone(stone, left + place * (each + _GAP), y, each))
    said = "; ".join(f"{s.title}: {s.verdict}" for stones in courses for s in stones)
    return el(
        "figure",
        el(
            "svg",
            el("title", "The pyramid, from C0 at the bottom to C5 at the top", id="pyramid-title"),
            el("desc", f"{said}.", id="pyramid-desc"),
            join(drawn),
            viewBox=f"0 0 {_WIDTH} {height}",
            role="img",
            aria_labelledby="pyramid-title pyramid-desc",
        ),
    )


def _stone(stone: _Stone, x: float, y: float, width: float) -> Markup:
    return el(
        "g",
        el("rect", x=_round(x), y=y, width=_round(width), height=_COURSE, rx=6),
        el("text", stone.title, x=_round(x + 14), y=y + 22),
        el(
            "text",
            MARKS.get(stone.verdict, stone.verdict),
            class_="mark",
            x=_round(x + width - 14),
            y=y + 22,
            text_anchor="end",
        ),
        el("text", stone.asks, class_="asks", x=_round(x + 14), y=y + 42),
        class_=css_class(stone.verdict),
    )


def _round(number: float) -> str:
    return f"{number:.1f}"
