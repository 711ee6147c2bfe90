"""The example on a rule's page shows that rule."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from language_findings import SPEC, all_of, of_rules

from envspec.pipeline.check import of_text
from envspec.source import SourceFile

RULES = Path(__file__).parents[2] / "docs" / "rules"
# Codes of a spec alone. These have examples that no page can show, or that are not text of a spec.
NOT_ON_A_PAGE = {"E0102", "E0105", "E0107", "E0207", "E0208", "W0348"}
PAGES = [p for p in sorted(RULES.glob("[EW]0[123]*.md")) if p.stem not in NOT_ON_A_PAGE]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_example_shows_its_code(page: Path) -> None:
    example = page.read_text(encoding="utf-8").split("## Example", 1)[1]
    block = re.search(r"```\n(.*?)```", example, re.DOTALL)
    assert block is not None
    text = block[1]
    whole = text if text.startswith("envspec") else SPEC + text
    found = of_text(SourceFile("spec.env", whole))
    assert page.stem in {d.code for d in found}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_a_mended_example_is_silent(page: Path) -> None:
    """Where the way to mend it is shown as a block, that block is a good one."""
    mend = page.read_text(encoding="utf-8").split("## How to mend it", 1)[1]
    for block in re.findall(r"```\n(.*?)```", mend, re.DOTALL):
        assert all_of(SPEC + block) == ()
        assert of_rules(block) == ()
