"""Changes of one statement after which a spec that nothing meets can be met."""

from __future__ import annotations

from collections.abc import Iterator

from envspec.facts.rows import TorchBuild
from envspec.facts.tables import rows
from envspec.facts.versions import version
from envspec.model import Spec
from envspec.solve import fitting
from envspec.solve.candidates import Companion, Toolkit, Torch
from envspec.solve.limits import problem as problem_of
from envspec.solve.problem import Problem
from envspec.solve.search import Choice, Search
from envspec.solve.values import Demand
from envspec.stated import TORCH, package
from envspec.wording import listed


def relaxed(problem: Problem, search: Search, demands: tuple[Demand, ...]) -> Iterator[str]:
    """For each statement, its smallest change that makes the whole spec solvable, if one does."""
    for demand in demands:
        key = demand.statement.key
        without = search.find(problem.keys - {key})
        if without is not None:
            yield _change(problem, key, without)


def _change(problem: Problem, key: str, without: Choice) -> str:
    kind, _, name = key.partition(" ")
    for smaller, said in _smaller(problem, kind, name, without):
        again = problem_of(smaller, problem.source)
        found = Search(again).find()
        if found is not None:
            return f"{said} would do, with {chosen(again, found)}"
    what = {"gpu": name, "package": name, "extension": name}.get(kind, problem.statement(key).said)
    if kind == "package" and name == TORCH:
        return f"another release or index of torch would do: {chosen(problem, without)}"
    if kind in {"base", "devel"}:
        return f"another `{kind}` image would do{_with_glibc(kind, without)}"
    return f"dropping `{what}` leaves {chosen(problem, without)}"


def _with_glibc(kind: str, choice: Choice) -> str:
    torch = choice.get(TORCH)
    known = kind == "base" and isinstance(torch, Torch) and torch.row.glibc
    return f", with glibc {torch.row.glibc} or newer" if known and isinstance(torch, Torch) else ""


def _smaller(problem: Problem, kind: str, name: str, without: Choice) -> Iterator[tuple[Spec, str]]:
    """Specs in which one statement says a little else, the nearest first, and how it says so."""
    spec = problem.spec
    platform, accelerator = spec.platform, spec.accelerator
    if kind == "driver":
        for driver in _drivers(problem):
            changed = accelerator._replace(driver=driver)
            yield spec._replace(accelerator=changed), f"`driver >={driver}`"
    elif kind == "python":
        for python in _pythons(platform.python):
            yield spec._replace(platform=platform._replace(python=python)), f"`python {python}`"
    elif kind == "glibc":
        torch = without.get(TORCH)
        if isinstance(torch, Torch) and torch.row.glibc:
            glibc = torch.row.glibc
            yield spec._replace(platform=platform._replace(glibc=glibc)), f"`glibc >={glibc}`"
    elif kind == "toolkit":
        toolkit = getattr(without[problem.first], "cuda", "")
        changed = accelerator._replace(toolkit=toolkit)
        yield spec._replace(accelerator=changed), f"`accelerator cuda {toolkit}`"
    elif kind == "package" and name != TORCH:
        item = package(spec, name)
        if item is not None and (item.specifier or item.index):
            free = item._replace(specifier="", index="")
            others = tuple(free if p is item else p for p in spec.packages)
            yield spec._replace(packages=others), f"`{name}` without a version or an index"


def _drivers(problem: Problem) -> list[str]:
    """Drivers that some candidate asks for, oldest first."""
    asked: set[str] = set()
    for candidate in problem.candidates[problem.first]:
        if isinstance(candidate, Torch):
            asked.add(fitting.needed_driver(candidate.row, problem.spec.accelerator.gpus))
        elif isinstance(candidate, Toolkit):
            asked.add(fitting.floor(candidate.cuda))
    return sorted(asked - {""}, key=lambda text: version(text) or ())


def _pythons(stated: str) -> list[str]:
    """Python releases that some torch has wheels for, the nearest to the stated one first."""
    minors = {
        minor
        for row in rows(TorchBuild)
        for minor in range(_minor(row.python_min), _minor(row.python_max) + 1)
    }
    at = _minor(stated)
    return [f"3.{m}" for m in sorted(minors - {at}, key=lambda m: (abs(m - at), -m))]


def _minor(python: str) -> int:
    parts = version(python) or (3, 0)
    return parts[1] if len(parts) > 1 else 0


def chosen(problem: Problem, choice: Choice) -> str:
    """A set in a few words: `torch 2.14.1+cu126 and xformers 0.0.35`."""
    first = choice[problem.first]
    if not isinstance(first, Torch):
        return f"CUDA {first.cuda}" if isinstance(first, Toolkit) else ""
    rest = [
        f"{c.package} {c.version(first)}"
        for c in choice.values()
        if isinstance(c, Companion) and c.row is not None
    ]
    return listed([f"torch {first.release}+{first.build}", *rest])
