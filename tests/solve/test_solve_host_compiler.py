"""The solver and rule E0336 answer alike which compiler builds an extension."""

from __future__ import annotations

import pytest
from solve_models import Case, read, text

from envspec import rules, solve
from envspec.solve.values import Conflict

OLD = text(Case(devel="nvidia/cuda:12.1.1-devel-ubuntu24.04", extensions=("mmcv",)))


@pytest.mark.parametrize(
    ("extra", "inside", "refused"),
    [
        ("", "", True),
        ("system {\n  build g++-11\n}\n", "", True),  # beside the default, which is what is called
        ("", '  env CC="gcc-11" CXX="g++-11"\n', False),
        ("", '  env NVCC_APPEND_FLAGS="-allow-unsupported-compiler"\n', False),
        ("", '  env CC="gcc-13"\n', True),
    ],
)
def test_a_compiler_that_nvcc_refuses(extra: str, inside: str, refused: bool) -> None:
    words = OLD.replace("  needs torch setuptools\n", f"  needs torch setuptools\n{inside}") + extra
    spec, source = read(words)
    assert isinstance(solve.solve(spec, source), Conflict) is refused
    assert ("E0336" in {d.code for d in rules.check(spec, source)}) is refused
