"""The spec as a problem: statements, what there is to choose from, and what has to hold.

Everything that the spec states is a statement that can be taken away, so the same problem
answers which statements conflict. Its platform and that it has torch at all are given.
Taking a statement away never adds a condition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from envspec.facts.builds import COMPANIONS
from envspec.machines import MACHINES
from envspec.model import Package, Spec
from envspec.placing import within
from envspec.solve import candidates as known
from envspec.solve import fitting
from envspec.solve.candidates import Candidate, Torch
from envspec.solve.fitting import Answer
from envspec.solve.values import Statement
from envspec.source import SourceFile
from envspec.stated import TORCH, exact, package

TOOLKIT, TENSORFLOW = "toolkit", "tensorflow"
INCOMPLETE = ("xformers", "vllm")
"""Companions of which the tables know some releases only."""


class Limit(NamedTuple):
    """A condition on one candidate of ``ident``, as long as all of ``keys`` are stated."""

    keys: frozenset[str]
    ident: str
    holds: Callable[[Any], Answer]


class Pair(NamedTuple):
    """A condition on the first choice (torch, else the toolkit) and a candidate of ``ident``."""

    key: str
    ident: str
    holds: Callable[[Any, Any], Answer]


class Problem(NamedTuple):
    """``first`` is what is chosen first. ``owners`` maps the rest to the statement that asks for
    it. Candidates stand in the order of preference."""

    spec: Spec
    source: SourceFile
    first: str
    statements: tuple[Statement, ...]
    candidates: dict[str, tuple[Candidate, ...]]
    owners: dict[str, str]
    limits: tuple[Limit, ...]
    pairs: tuple[Pair, ...]

    @property
    def machine(self) -> str:
        """The processor, as the tables name it."""
        return MACHINES.get(self.spec.platform.os_arch, "")

    @property
    def keys(self) -> frozenset[str]:
        """Every statement."""
        return frozenset(s.key for s in self.statements)

    def statement(self, key: str) -> Statement:
        """The statement of a key."""
        return next(s for s in self.statements if s.key == key)


def limit(keys: tuple[str, ...], ident: str, holds: Callable[..., Answer]) -> Limit:
    """A condition that holds while some statements do."""
    return Limit(frozenset(keys), ident, holds)


def always(answer: Answer) -> Callable[[object], Answer]:
    """A condition on the statements alone."""
    return lambda _: answer


def in_order(builds: Iterable[Torch], toolkit: str) -> tuple[Torch, ...]:
    """Best first: a build of the stated toolkit's X.Y, a stable build, the newest release, the
    build that the default index serves, the newest CUDA."""

    def rank(torch: Torch) -> tuple[Any, ...]:
        elsewhere = bool(toolkit) and fitting.starts(toolkit, torch.cuda) is not True
        newest = tuple(-n for n in torch.parts)
        cuda = tuple(-n for n in torch.cuda_parts)
        return elsewhere, torch.experimental, newest, not torch.row.default, cuda

    return tuple(sorted(builds, key=rank))


def choices(spec: Spec, source: SourceFile) -> Problem:
    """The problem of a spec whose accelerator is CUDA, without its conditions."""
    torch = package(spec, TORCH)
    found: dict[str, tuple[Candidate, ...]] = {}
    owners: dict[str, str] = {}
    if torch is not None:
        stated = exact(torch.specifier).partition("+")[0]
        machine = MACHINES.get(spec.platform.os_arch, "")
        builds = (t for t in known.torches(stated) if t.row.machine == machine)
        found[TORCH] = in_order(builds, spec.accelerator.toolkit)
        for name in COMPANIONS:
            if package(spec, name):
                found[name] = (*known.companions(name), known.Companion(name, None))
                owners[name] = f"package {name}"
    else:
        found[TOOLKIT] = known.toolkits()
    tensorflow = package(spec, TENSORFLOW)
    if tensorflow is not None:
        found[TENSORFLOW] = known.tensorflows("and-cuda" in tensorflow.extras)
        owners[TENSORFLOW] = f"package {TENSORFLOW}"
    first = TORCH if torch else TOOLKIT
    return Problem(spec, source, first, _statements(spec, source), found, owners, (), ())


def _statements(spec: Spec, source: SourceFile) -> tuple[Statement, ...]:
    """What is stated, in the order in which one would rather do without it."""
    platform, accelerator = spec.platform, spec.accelerator
    found = []
    if platform.glibc:
        span = platform.glibc_span if platform.glibc_span.end else platform.span
        found.append(Statement("glibc", f"glibc >={platform.glibc}", span))
    found.append(Statement("base", f'base "{platform.base}"', platform.base_span))
    if platform.devel:
        found.append(Statement("devel", f'devel "{platform.devel}"', platform.devel_span))
    for word in ("nccl", "cudnn"):
        value: str = getattr(accelerator, word)
        span = getattr(accelerator, f"{word}_span")
        if value:
            found.append(Statement(word, f"{word} {value}", span if span.end else accelerator.span))
    found.extend(
        Statement(f"package {p.name}", _written(p), p.span)
        for p in spec.packages
        if p.name != TORCH
    )
    found.append(Statement("python", f"python {platform.python}", platform.python_span))
    found.extend(
        Statement(f"extension {e.name}", f"extension {e.name} {e.specifier}".rstrip(), e.span)
        for e in spec.extensions
    )
    torch = package(spec, TORCH)
    if torch is not None and (torch.specifier or torch.index):
        found.append(Statement(f"package {TORCH}", _written(torch), torch.span))
    if accelerator.toolkit:
        found.append(
            Statement(
                "toolkit", f"accelerator cuda {accelerator.toolkit}", accelerator.toolkit_span
            )
        )
    for sm in dict.fromkeys(accelerator.gpus):
        at = within(source, accelerator.gpus_span, sm) or accelerator.gpus_span
        found.append(Statement(f"gpu {sm}", f"gpus {sm}", at))
    if accelerator.driver:
        found.append(Statement("driver", f"driver >={accelerator.driver}", accelerator.driver_span))
    return tuple(found)


def _written(item: Package) -> str:
    extras = f"[{','.join(item.extras)}]" if item.extras else ""
    origin = f" from {item.index}" if item.index else ""
    return f"{item.name}{extras} {item.specifier}".rstrip() + origin
