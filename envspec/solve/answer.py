"""From a spec to its solution, or to the conflict in it."""

from __future__ import annotations

from envspec.diagnostics import Diagnostic
from envspec.model import Spec
from envspec.solve import findings
from envspec.solve.candidates import Toolkit, Torch
from envspec.solve.chain import chain, needed, passed
from envspec.solve.conflict import conflict
from envspec.solve.filling import fix, pins
from envspec.solve.limits import problem as problem_of
from envspec.solve.open import left_open
from envspec.solve.problem import Problem
from envspec.solve.search import Choice, Search
from envspec.solve.values import Conflict, Demand, Solution, Statement
from envspec.source import SourceFile
from envspec.stated import home

MOST = 64
"""GPUs and extensions that are looked at. No spec has more, and time grows with their product."""


def answer(spec: Spec, source: SourceFile) -> Solution | Conflict:
    """What `envspec.solve.solve` promises."""
    if len(spec.accelerator.gpus) > MOST or len(spec.extensions) > MOST:
        return _too_many(spec)
    problem = problem_of(spec, source)
    search = Search(problem)
    choice = search.find()
    return conflict(problem, search) if choice is None else _solution(problem, choice)


def _too_many(spec: Spec) -> Conflict:
    span = spec.accelerator.gpus_span if spec.accelerator.gpus_span.end else home(spec)
    said = f"more than {MOST} GPUs or extensions"
    statement = Statement("gpus", said, span)
    return Conflict((Demand(statement, "more than are looked at"),), (), known=False)


def finding(spec: Spec, source: SourceFile) -> Diagnostic:
    """The finding about a spec that leaves something open."""
    found = answer(spec, source)
    if isinstance(found, Conflict):
        return findings.contradiction(spec, source, found)
    return findings.unsettled(spec, source, found)


def _solution(problem: Problem, choice: Choice) -> Solution:
    spec, first = problem.spec, choice[problem.first]
    assert isinstance(first, (Torch, Toolkit)), "one of them is chosen first"
    torch = first if isinstance(first, Torch) else None
    toolkit = spec.accelerator.toolkit or first.cuda
    driver = needed(problem, choice)
    settled = pins(problem, choice)
    return Solution(
        toolkit=toolkit,
        driver=driver,
        version=torch.release if torch else "",
        build=torch.build if torch else "",
        pins=settled,
        cudnn=(torch.row.cudnn or "") if torch else "",
        nccl=(torch.row.nccl or "") if torch else "",
        open=left_open(spec),
        chain=chain(problem, choice),
        passed=passed(problem, choice),
        fix=fix(spec, problem.source, toolkit, driver, settled),
    )
