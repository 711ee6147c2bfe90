"""The statements that conflict, and what would make them agree."""

from __future__ import annotations

from envspec.facts import images, lookup
from envspec.facts.device_code import arch, sm_name
from envspec.facts.rows import Distribution
from envspec.model import Spec
from envspec.solve import fitting
from envspec.solve.candidates import Candidate, Toolkit, Torch, toolkits, torches
from envspec.solve.problem import Problem
from envspec.solve.relaxing import relaxed
from envspec.solve.search import Search
from envspec.solve.specifiers import allows
from envspec.solve.values import Conflict, Demand
from envspec.stated import TORCH, package

COMPLETE = "x86_64"
"""The machine of which the tables hold every build; for others they lack some."""


def conflict(problem: Problem, strict: Search) -> Conflict:
    """Why a problem has no solution.

    Where what the facts do not tell might be a solution, the statements are those that keep the
    facts from telling, and ``known`` is False.
    """
    lenient = Search(problem, strict=False)
    known = lenient.find() is None
    search = lenient if known else strict
    keys = smallest(problem, search)
    if problem.machine != COMPLETE:
        known = False
    if keys == {f"package {TORCH}"}:
        known = known and not _untold(problem)
    demands = tuple(
        Demand(s, _demand(problem, search, s.key)) for s in problem.statements if s.key in keys
    )
    in_order = tuple(sorted(demands, key=lambda demand: demand.statement.span))
    return Conflict(in_order, tuple(relaxed(problem, strict, in_order)), known)


def smallest(problem: Problem, search: Search) -> frozenset[str]:
    """Statements that cannot be met together, while any of them can be left out for it.

    Each statement is taken away in turn, and stays away where the rest still conflicts. Those one
    would rather do without go first, so what stays are the ones that a user can change.
    """
    keys = problem.keys
    for statement in problem.statements:
        fewer = keys - {statement.key}
        if search.find(fewer) is None:
            keys = fewer
    return keys


def _untold(problem: Problem) -> bool:
    """Whether the tables hold no release at all that the specifier of torch allows."""
    item = package(problem.spec, TORCH)
    if item is None or "+cpu" in item.specifier:
        return False
    plain = item.specifier.partition("+")[0] if "," not in item.specifier else item.specifier
    return not any(
        allows(plain, c.release) for c in problem.candidates[TORCH] if isinstance(c, Torch)
    )


# --- what a statement demands -------------------------------------------------------------


def _demand(problem: Problem, search: Search, key: str) -> str:
    kind, _, name = key.partition(" ")
    said = _SAYINGS[kind](problem.spec, name) if kind in _SAYINGS else ""
    left = summary(search.left(frozenset({key})))
    return f"{said}; leaves {left}" if said else f"leaves {left}"


def summary(found: list[Candidate]) -> str:
    """Candidates in a few words: releases from which to which, in which builds."""
    builds = sorted((c for c in found if isinstance(c, Torch)), key=lambda t: t.parts)
    toolkits = sorted((c for c in found if isinstance(c, Toolkit)), key=lambda t: t.cuda_parts)
    if builds:
        span = _span(builds[0].release, builds[-1].release)
        return f"torch {span} in {_builds({t.build for t in builds})}"
    if toolkits:
        return f"CUDA {_span(toolkits[0].cuda, toolkits[-1].cuda)}"
    return "nothing that the facts know"


def _builds(found: set[str]) -> str:
    """Builds by name; a run of more than two by its first and last."""
    every = sorted({c.build for c in torches()}, key=lambda b: int(b[2:]))
    places = sorted(every.index(build) for build in found)
    if len(places) > 2 and places[-1] - places[0] == len(places) - 1:
        return f"{every[places[0]]} to {every[places[-1]]}"
    return ", ".join(every[place] for place in places)


def _span(first: str, last: str) -> str:
    return first if first == last else f"{first} to {last}"


def _of_driver(spec: Spec, _: str) -> str:
    driver = spec.accelerator.driver
    majors = sorted({t.cuda_parts[0] for t in torches()} | {t.cuda_parts[0] for t in toolkits()})
    # 11.0 apart, a floor holds for a whole major.
    floors = {major: fitting.floor(f"{major}.1") for major in majors}
    runs = [major for major, floor in floors.items() if fitting.new_enough(driver, floor)]
    beyond = next((f"CUDA {m} asks for {f}" for m, f in floors.items() if m not in runs), "")
    return ": ".join(filter(None, [f"runs CUDA {runs[-1]}.x" if runs else "", beyond]))


def _of_gpu(_: Spec, name: str) -> str:
    row = arch(name)
    if row is None:
        return "no architecture that the facts know"
    last = f", which nvcc knows up to CUDA {row.last_toolkit}" if row.last_toolkit else ""
    first = f", which nvcc knows from CUDA {row.first_toolkit} on" if row.first_toolkit else ""
    return f"{row.generation}{last or first}"


def _of_base(spec: Spec, _: str) -> str:
    return image_libc(lookup.distribution_of_image(spec.platform.base))


def image_libc(row: Distribution | None) -> str:
    """The C library of an image's distribution, in words."""
    if row is None:
        return "its C library is not known"
    if row.glibc is None:
        return f"{row.shown} has {row.libc} and no glibc, and torch has no wheels for it"
    return f"glibc {row.glibc}"


def _of_native(_: Spec, name: str) -> str:
    facts = lookup.extension(name)
    if facts is None:
        return ""
    parts = [
        f"runs on {sm_name(facts.sm_min)} and newer" if facts.sm_min else "",
        f"takes CUDA {facts.cuda_min} or newer" if facts.cuda_min else "",
    ]
    return ", ".join(filter(None, parts))


def _of_devel(spec: Spec, _: str) -> str:
    nvcc = images.nvcc_release(spec.platform.devel)
    return f"compiles with nvcc of CUDA {nvcc}" if nvcc else ""


_SAYINGS = {
    "driver": _of_driver,
    "gpu": _of_gpu,
    "base": _of_base,
    "extension": _of_native,
    "package": _of_native,
    "devel": _of_devel,
}
