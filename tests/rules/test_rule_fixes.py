"""What the fixes of the framework rules write: the lines that change, and where there is no fix.

`test_rules.py` shows that a fix takes its finding away; here is what it puts in its place.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from envspec import fixing, rules
from envspec.language.parse import parse
from envspec.language.resolve import resolve
from envspec.source import SourceFile

HERE = Path(__file__).parent
FRAMEWORK = [c for c in rules.RULES if "0310" <= c[1:] <= "0322" or c == "W0355"]
CASES = sorted(p for code in FRAMEWORK for p in HERE.glob(f"{code}/bad*.env"))

CHANGED: dict[str, list[str]] = {
    "E0310/bad": [
        "torch ==2.9.1+cu128 from pytorch-cu128",
        "torchvision ==0.24.1+cu128 from pytorch-cu128",
    ],
    "E0310/bad_index_alone": ["torch ==2.9.1+cu128 from pytorch-cu128"],
    "E0311/bad": ["driver >=525.60.13"],
    "E0311/bad_default_build": ["driver >=580"],
    "E0311/bad_lock": ['driver >=580 because "what the cluster has"'],
    "E0310/bad_default_of_arm64": ["torch ==2.9.1+cu128 from pytorch-cu128"],
    "E0311/bad_toolkit_alone": ["driver >=580"],
    "E0312/bad": ["driver >=570.26"],
    "E0313/bad_unique": ["accelerator cuda 12.6 {", "torch ==2.13.0+cu126 from pytorch-cu126"],
    "E0315/bad_floor_below_wheel": ["glibc >=2.28"],
    "E0316/bad": [
        "accelerator cuda 12.6",
        "torch ==2.13.0+cu126 from pytorch-cu126",
        "torchvision >=0.28 from pytorch-cu126",
    ],
    "E0317/bad": ["accelerator cuda 13.0"],
    "E0317/bad_major_because": ["accelerator cuda 13.0"],
    "W0355/bad": ["accelerator cuda 12.8"],
    "E0318/bad": ["torchaudio ==2.9.1"],
    "E0318/bad_build": ["torchvision ==0.24.1+cpu from pytorch-cpu"],
    "E0318/bad_build_pypi": ["torchvision ==0.24.1+cpu from pytorch-cpu"],
    "E0318/bad_vision": ["torchvision ==0.24.1+cpu from pytorch-cpu"],
    "E0319/bad_fix": ["jax[cuda13] ==0.12.0"],
    "E0321/bad": ["driver >=580"],
    "E0321/bad_tensorflow": ["accelerator cuda 11.8"],
    "E0321/bad_tensorflow_driver": ["driver >=525.60.13"],
    "W0320/bad": ["cudnn 9.10", "nccl 2.27.5"],
    "W0320/bad_lock": ["cudnn 9.12"],
}
"""Case → the new text of the lines that its fixes change; a case without a fix is not here."""


def written(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    beside = path.with_suffix(".locked")
    lines = beside.read_text(encoding="utf-8").splitlines() if beside.exists() else []
    source = SourceFile("spec.env", text)
    found = rules.check(
        resolve(parse(source), source), source, dict(line.split()[:2] for line in lines)
    )
    fixes = [d.fix for d in found if d.fix and d.code == path.parent.name]
    mended, _ = fixing.apply(text, fixes)
    return [" ".join(x.split()) for x in mended.splitlines() if x not in text.splitlines()]


@pytest.mark.parametrize("path", CASES, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_what_the_fixes_write(path: Path) -> None:
    assert written(path) == CHANGED.get(f"{path.parent.name}/{path.stem}", [])


def test_no_case_is_left_over() -> None:
    assert CHANGED.keys() <= {f"{p.parent.name}/{p.stem}" for p in CASES}
