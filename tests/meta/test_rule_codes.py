"""Every code has a page and a test, and no page is about a code that is gone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RULES = ROOT / "docs" / "rules"
HEADINGS = ["What it means", "Example", "How to mend it"]


def codes_in(folder: Path, *suffixes: str) -> set[str]:
    files = (f for f in folder.rglob("*") if f.suffix in suffixes and f != Path(__file__))
    return {c for f in files for c in re.findall(r"[EW]0[0-9]{3}", f.read_text(encoding="utf-8"))}


CODES = sorted(codes_in(ROOT / "envspec", ".py"))


@pytest.mark.parametrize("code", CODES)
def test_code_has_a_page(code: str) -> None:
    text = (RULES / f"{code}.md").read_text(encoding="utf-8")
    assert re.match(rf"# {code} \S", text)
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == HEADINGS
    parts = re.split(r"^#.+$", text, flags=re.MULTILINE)[2:]
    assert all(len(part.strip()) > 15 for part in parts), "an empty section"


def test_every_code_is_tested() -> None:
    tested = codes_in(ROOT / "tests", ".py", ".txt")
    assert [code for code in CODES if code not in tested] == []


def test_no_page_is_left_over() -> None:
    assert [p.stem for p in sorted(RULES.glob("*.md")) if p.stem not in CODES] == []


@pytest.mark.parametrize("page", sorted(RULES.parent.rglob("*.md")), ids=lambda p: p.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target
