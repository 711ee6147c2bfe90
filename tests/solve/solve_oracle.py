"""The same question answered by trying every build, straight over the rows of the tables.

Shares nothing with the solver but the tables: own version arithmetic, own rules for device code.
It knows what the tests ask for: drivers, plain GPUs, Pythons, a toolkit, a torch specifier,
xformers, torchvision and torchaudio without versions, and extensions without a devel image.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from packaging.specifiers import SpecifierSet
from solve_models import Case

from envspec.facts.rows import Arch, DriverFloor, Extension, ToolkitDriver, TorchBuild, TorchPairing
from envspec.facts.tables import rows

Numbers = tuple[int, ...]


@cache
def numbers(text: str) -> Numbers:
    return tuple(int(part) for part in text.split("."))


class Build(NamedTuple):
    release: str
    row: TorchBuild


@cache
def builds() -> tuple[Build, ...]:
    """Every release of every CUDA build, with its own row or that of its series."""
    gpu = [r for r in rows(TorchBuild) if r.cuda and r.machine == "x86_64"]
    by_key = {(r.release, r.build): r for r in gpu}
    named = [r.release for r in rows(TorchBuild)] + [r.torch for r in rows(TorchPairing)]
    found = []
    for series, build in dict.fromkeys((".".join(r.release.split(".")[:2]), r.build) for r in gpu):
        whole = {n for n in named if len(n.split(".")) == 3 and n.startswith(series + ".")}
        for release in sorted(whole | {series + ".0"}):
            row = by_key.get((release, build)) or by_key.get((series, build))
            if row:
                found.append(Build(release, row))
    return tuple(found)


def rank(build: Build, toolkit: str) -> tuple[object, ...]:
    """The smaller the better: the order that `envspec.solve.solve` promises."""
    row = build.row
    return (
        bool(toolkit) and numbers(row.cuda or "")[:2] != numbers(toolkit)[:2],
        row.experimental and not row.default,
        [-n for n in numbers(build.release)],
        not row.default,
        [-n for n in numbers(row.cuda or "")],
    )


def best(case: Case, *, strict: bool = True) -> tuple[str, str] | None:
    """Release and build of the best set; without ``strict``, also what may fit."""
    wanted = {True} if strict else {True, None}
    found = [b for b in builds() if verdict(case, b) in wanted]
    if not found:
        return None
    top = min(found, key=lambda b: rank(b, case.toolkit))
    return top.release, top.row.build


def verdict(case: Case, build: Build) -> bool | None:
    """True where every condition is known to hold, False where one is known not to."""
    answers = list(_answers(case, build))
    return False if False in answers else None if None in answers else True


def _answers(case: Case, build: Build) -> Iterator[bool | None]:
    row = build.row
    cuda = numbers(row.cuda or "")
    if case.driver:
        yield not _older(case.driver, _floor(cuda))
    for gpu in case.gpus:
        sm = (int(gpu[3:-1]), int(gpu[-1]))
        yield _covers(row, sm)
        if case.driver and _by_ptx(row, sm):
            yield not _older(case.driver, _toolkit_driver(cuda))
    if case.python:
        at = numbers(case.python)
        last = row.python_experimental if "==" in (case.torch or "") else None
        yield numbers(row.python_min) <= at <= numbers(last or row.python_max)
    if case.toolkit:
        yield numbers(case.toolkit)[0] == cuda[0]
    if case.torch:
        yield _allowed(case.torch, f"{build.release}+{row.build}")
    for name in case.packages:
        yield _paired(name, build.release)
    for name in case.extensions:
        facts = _facts(name)
        if facts and facts.cuda_min:
            yield cuda >= numbers(facts.cuda_min)
            if case.toolkit:
                yield numbers(case.toolkit) >= numbers(facts.cuda_min)
        for gpu in case.gpus:
            sm = (int(gpu[3:-1]), int(gpu[-1]))
            if facts and facts.sm_min:
                yield sm >= numbers(facts.sm_min)
            yield _compiled(sm, cuda)
            if case.toolkit:
                yield _compiled(sm, numbers(case.toolkit))


@cache
def _facts(name: str) -> Extension | None:
    return next((r for r in rows(Extension) if r.name == name), None)


@cache
def _allowed(specifier: str, version: str) -> bool:
    return SpecifierSet(specifier).contains(version)


@cache
def _older(found: str, wanted: str) -> bool:
    a, b = numbers(found), numbers(wanted)
    shared = min(len(a), len(b))
    return a[:shared] < b[:shared]


@cache
def _floor(cuda: Numbers) -> str:
    table = {r.cuda: r.linux for r in rows(DriverFloor)}
    return table.get(".".join(map(str, cuda[:2]))) or table[str(cuda[0])]


@cache
def _toolkit_driver(cuda: Numbers) -> str:
    table = {r.toolkit: r.linux for r in rows(ToolkitDriver)}
    return table[".".join(map(str, (*cuda, 0)[:3]))]


@cache
def _by_ptx(row: TorchBuild, sm: Numbers) -> bool:
    native = any(_native(numbers(a), sm) for a in row.architectures or ())
    return not native and any(numbers(p) <= sm for p in row.ptx or ())


def _native(code: Numbers, sm: Numbers) -> bool:
    return code[0] == sm[0] and code[1] <= sm[1]


@cache
def _covers(row: TorchBuild, sm: Numbers) -> bool | None:
    if row.architectures is None:
        return None if _compiled(sm, numbers(row.cuda or "")) and sm >= _oldest(row) else False
    if any(_native(numbers(a), sm) for a in row.architectures):
        return True
    if row.ptx is None:
        return None if any(numbers(a) <= sm for a in row.architectures) else False
    return any(numbers(p) <= sm for p in row.ptx)


@cache
def _oldest(row: TorchBuild) -> Numbers:
    """The oldest architecture of the same build one release earlier, as far as that was read."""
    series = numbers(row.release)[:2]
    known = [
        r
        for r in rows(TorchBuild)
        if r.build == row.build
        and r.machine == row.machine
        and r.architectures
        and numbers(r.release)[:2] < series
    ]
    if not known:
        return (0, 0)
    newest = max(known, key=lambda r: numbers(r.release))
    return min(numbers(a) for a in newest.architectures or ())


@cache
def _compiled(sm: Numbers, cuda: Numbers) -> bool:
    name = f"{sm[0]}.{sm[1]}"
    row = next(r for r in rows(Arch) if r.sm == name)
    since = row.first_toolkit is None or cuda >= numbers(row.first_toolkit)
    return since and (row.last_toolkit is None or cuda <= numbers(row.last_toolkit))


@cache
def _paired(package: str, release: str) -> bool | None:
    found = [r for r in rows(TorchPairing) if r.package == package]
    at = numbers(release)
    for row in found:
        torch = numbers(row.torch)
        if row.relation == "at_least" and at >= torch:
            return True
        if row.relation == "series" and at[: len(torch)] == torch:
            return True
        if row.relation == "exact" and at == torch:
            return True
    # The tables hold some releases of xformers and vllm only.
    return None if package in {"xformers", "vllm"} else False
