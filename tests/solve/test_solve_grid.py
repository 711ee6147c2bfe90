"""Over every combination of facts: as new as an oracle's answer, and refused only where it has to
be, by statements of which none is idle."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import combinations, product

import pytest
from solve_models import Case, read, spec, text
from solve_oracle import best, numbers

from envspec import fixing, rules
from envspec.diagnostics import ERROR
from envspec.facts.rows import DriverBranch, DriverFloor
from envspec.facts.tables import rows
from envspec.solve import check, solve
from envspec.solve.values import Conflict, Solution

GENERATIONS = ("sm_60", "sm_70", "sm_75", "sm_80", "sm_90", "sm_120")
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
COMPANIONS = ("xformers", "torchvision", "torchaudio")
ADDITIONS: tuple[dict[str, tuple[str, ...]], ...] = (
    {},
    {"extensions": ("flash-attn",)},
    {"packages": ("xformers",)},
    {"extensions": ("mmcv",)},
)


def drivers() -> list[str]:
    """Every floor that CUDA 10.2 and newer has, and every branch."""
    named = {r.linux for r in rows(DriverFloor)} | {r.branch for r in rows(DriverBranch)}
    return sorted(named, key=numbers)


def grid(driver: str) -> Iterator[Case]:
    for gpu, python, more in product(GENERATIONS, PYTHONS, ADDITIONS):
        yield Case(driver=driver, gpus=(gpu,), python=python, **more)


def judge(case: Case) -> Solution | Conflict:
    """Solve, and hold the answer against the oracle's."""
    found = solve(*spec(case))
    if isinstance(found, Solution):
        assert (found.version, found.build) == best(case), case
        return found
    assert best(case) is None, case
    assert found.known == (best(case, strict=False) is None), case
    keys = {d.statement.key for d in found.demands}
    # Those alone conflict, and none of them is idle.
    assert best(only(case, keys), strict=not found.known) is None, (case, keys)
    for key in keys:
        assert best(only(case, keys - {key}), strict=not found.known), (case, keys, key)
    return found


def only(case: Case, keys: set[str]) -> Case:
    """The case with some of its statements. Torch and its platform always stay."""
    return case._replace(
        driver=case.driver if "driver" in keys else "",
        gpus=tuple(g for g in case.gpus if f"gpu {g}" in keys),
        python=case.python if "python" in keys else "",
        torch=case.torch if "package torch" in keys else "",
        toolkit=case.toolkit if "toolkit" in keys else "",
        packages=tuple(p for p in case.packages if f"package {p}" in keys),
        extensions=tuple(e for e in case.extensions if f"extension {e}" in keys),
    )


@pytest.mark.parametrize("driver", drivers())
def test_every_combination_of_facts(driver: str) -> None:
    answers = [judge(case) for case in grid(driver)]
    assert len(answers) == 96


def test_the_grid_has_both_answers() -> None:
    answers = [type(judge(case)) for driver in ("450.80.02", "580") for case in grid(driver)]
    assert min(answers.count(Solution), answers.count(Conflict)) > 20


@pytest.mark.parametrize("driver", ["450.80.02", "525.60.13", "580", ""])
def test_every_two_generations(driver: str) -> None:
    for gpus in combinations(GENERATIONS, 2):
        judge(Case(driver=driver, gpus=gpus))


def random_case(chance: random.Random) -> Case:
    bounds = [
        "",
        "",
        "<2.15",
        ">=2.6,<2.10",
        "<2.8",
        "==2.9.1",
        ">=2.11",
        "<2.4",
        "==2.5.1",
        "!=2.14.1",
    ]
    return Case(
        driver=chance.choice(["", *drivers()[6:]]),
        gpus=tuple(chance.sample(GENERATIONS, chance.choice([0, 1, 1, 2, 3]))),
        python=chance.choice(["3.9", *PYTHONS, "3.14"]),
        torch=chance.choice(bounds),
        toolkit=chance.choice(["", "", "", "11.8", "12.4", "12.8", "13.0"]),
        packages=tuple(chance.sample(COMPANIONS, chance.choice([0, 1, 2]))),
        extensions=tuple(chance.sample(["flash-attn", "mmcv"], chance.choice([0, 0, 1]))),
    )


@pytest.mark.parametrize("seed", range(6))
def test_statements_in_any_mixture(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(60):
        case = random_case(chance)
        if "==" in case.torch and not case.toolkit:  # a pin from the default index is one build
            case = case._replace(torch="")
        elif "==" in case.torch:
            case = case._replace(torch=case.torch.replace("==", "<="))
        judge(case)


@pytest.mark.parametrize("seed", range(6))
def test_what_is_filled_in_has_no_errors_and_leaves_nothing_open(seed: int) -> None:
    """The rules know nothing of the solver; they have to accept what it writes."""
    chance = random.Random(100 + seed)
    for _ in range(25):
        case = random_case(chance)._replace(extensions=())
        model, source = spec(case)
        found = solve(model, source)
        if isinstance(found, Conflict) or found.fix is None:
            continue
        after, count = fixing.apply(text(case), [found.fix])
        assert count == 1
        filled, written = read(after)
        errors = [d for d in rules.check(filled, written) if d.severity == ERROR]
        assert errors == [], (after, errors)
        assert list(check(filled, written)) == [], after
        again = solve(filled, written)
        assert isinstance(again, Solution)
        assert (again.version, again.build, again.fix) == (found.version, found.build, None), after


@pytest.mark.parametrize(
    "packages",
    [
        ("jax[cuda12]",),
        ("jax[cuda13]",),
        ("tensorflow[and-cuda] >=2.20",),
        ("vllm", "torchvision", "torchaudio"),
        ("xformers", "torchvision"),
    ],
)
@pytest.mark.parametrize("gpu", GENERATIONS)
def test_frameworks_together_have_no_errors(packages: tuple[str, ...], gpu: str) -> None:
    case = Case(packages=packages, gpus=(gpu,))
    model, source = spec(case)
    found = solve(model, source)
    if isinstance(found, Conflict):
        assert packages[0].startswith("jax") or gpu == "sm_60", (case, found)
        return
    assert found.fix is not None
    filled, written = read(fixing.apply(source.text, [found.fix])[0])
    assert [d for d in rules.check(filled, written) if d.severity == ERROR] == []
