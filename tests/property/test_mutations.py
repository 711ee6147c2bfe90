"""Whatever a text holds, reading it gives a spec or findings, and drawing those is harmless."""

from __future__ import annotations

import os

from mutations import share

COUNT = 4 * int(os.environ.get("ENVSPEC_PROPERTY_EXAMPLES", "500"))


def test_only_findings_come_out() -> None:
    seen = share(range(COUNT))
    assert COUNT // 50 < seen.good < COUNT - COUNT // 50, "the mutations are too harsh or too tame"
    assert len(seen.codes) > 20, "hardly anything was reached"
