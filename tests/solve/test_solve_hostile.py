"""What nobody writes costs no more than what people write."""

from __future__ import annotations

import time

import pytest
from solve_models import Case, read, spec, text

from envspec.solve import check, solve
from envspec.solve.values import Conflict, Solution


def timed(words: str) -> Solution | Conflict:
    model, source = read(words)
    begun = time.process_time()
    found = solve(model, source)
    assert time.process_time() - begun < 1.0
    return found


MANY = tuple(f"sm_{number}{letter}" for number in range(10, 1000) for letter in ("", "a", "f"))


@pytest.mark.parametrize(
    "case",
    [
        Case(gpus=MANY[:50]),
        Case(gpus=MANY[-50:]),
        Case(gpus=MANY[-50:], extensions=tuple(f"x{n}" for n in range(64))),
        Case(gpus=MANY[-50:], torch=None, extensions=tuple(f"x{n}" for n in range(64))),
        Case(extensions=tuple(f"x{n}" for n in range(2000))),
        Case(torch=",".join([">=1"] * 20_000)),
        Case(torch=f">={'9' * 400}"),
        Case(torch=f">={'9' * 5000}"),
        Case(torch=f"=={'9' * 30}.1.1"),
        Case(driver="9" * 5000),
        Case(toolkit="9" * 5000),
        Case(toolkit="12"),
        Case(toolkit="12.8.1.1"),
        Case(torch=None, toolkit="12.7"),
        Case(python="3.99"),
        Case(packages=tuple(f"p{n}" for n in range(3000)), gpus=("sm_60", "sm_120")),
        Case(packages=("torchvision >=0.1,<0.2",)),
        Case(more=f"cudnn {'1' * 4000}"),
    ],
    ids=lambda case: str(case)[:60],
)
def test_every_answer_comes_in_time(case: Case) -> None:
    found = timed(text(case))
    assert isinstance(found, Solution) or found.demands
    assert len(list(check(*spec(case)))) <= 1


def test_so_many_packages_take_no_part_in_a_conflict() -> None:
    case = Case(packages=tuple(f"p{n}" for n in range(500)), gpus=("sm_60", "sm_120"))
    found = solve(*spec(case))
    assert isinstance(found, Conflict)
    assert [d.statement.key for d in found.demands] == ["gpu sm_60", "gpu sm_120"]


def test_a_toolkit_by_its_major_is_one() -> None:
    found = solve(*spec(Case(torch=None, toolkit="12", gpus=("sm_80",))))
    assert isinstance(found, Solution)
    found = solve(*spec(Case(toolkit="12", gpus=("sm_80",))))
    assert isinstance(found, Solution)
    assert found.build == "cu126"
