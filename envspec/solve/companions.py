"""Which companions and frameworks go with a torch build, or with a toolkit."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from envspec.facts.builds import COMPANIONS, is_build
from envspec.model import Package, Spec
from envspec.solve import fitting
from envspec.solve.candidates import (
    Companion,
    Tensorflow,
    Toolkit,
    Torch,
    companions,
    pairs,
    torches,
)
from envspec.solve.fitting import Answer, both
from envspec.solve.problem import INCOMPLETE, TENSORFLOW, Pair, Problem
from envspec.solve.specifiers import allows
from envspec.stated import TORCH, build_of_index, exact, package


def with_first(problem: Problem) -> Iterator[Pair]:
    """The conditions on torch, or on the toolkit, together with another choice."""
    spec = problem.spec
    for name in COMPANIONS if problem.first == TORCH else ():
        item = package(spec, name)
        if item is not None:
            yield Pair(f"package {name}", name, _companion(spec, item))
    tensorflow = package(spec, TENSORFLOW)
    if tensorflow is not None:
        yield Pair(f"package {TENSORFLOW}", TENSORFLOW, _with_tensorflow)


def _companion(spec: Spec, item: Package) -> Callable[[Torch, Companion], Answer]:
    specifier, local = _public(item.specifier)
    build = build_of_index(spec, item.index)
    # A release that the tables lack may fit: where they hold some releases only, or none asked for.
    lacking = item.name in INCOMPLETE or not _known(torches_of(spec), item)

    def holds(torch: Torch, companion: Companion) -> Answer:
        if (build and torch.build != build) or (local and torch.build != local):
            return False
        if item.name == "vllm" and not torch.row.default and not item.index:
            return False  # its wheel is built for the CUDA of torch's default build
        if companion.row is None:
            return None if lacking else False
        paired = pairs(companion, torch)
        return both(paired, allows(specifier, companion.version(torch)) if paired else False)

    return holds


def _public(specifier: str) -> tuple[str, str]:
    """A pin without the build that its local part names (``==0.19.1+cu121``), and that build: the
    tables pair releases, and each is published in the builds of its torch. Others as they are."""
    public, _, local = exact(specifier).partition("+")
    return (f"=={public}", local) if is_build(local) else (specifier, "")


def torches_of(spec: Spec) -> tuple[Torch, ...]:
    """The torch builds that a spec chooses from."""
    torch = package(spec, TORCH)
    return torches(exact(torch.specifier).partition("+")[0] if torch else "")


def _known(builds: tuple[Torch, ...], item: Package) -> bool:
    """Whether the tables pair any release that a specifier allows with some torch."""
    specifier, _ = _public(item.specifier)
    if not specifier:
        return True
    return any(
        allows(specifier, companion.version(torch))
        for companion in companions(item.name)
        for torch in builds
        if pairs(companion, torch)
    )


def _with_tensorflow(choice: Torch | Toolkit, candidate: Tensorflow) -> Answer:
    """TensorFlow with libraries of its own: the same CUDA major, or, where it pins them exactly,
    the same release."""
    if not candidate.libraries:
        return True
    if candidate.row.pins == "exact" and isinstance(choice, Torch):
        return fitting.starts(choice.cuda, candidate.row.cuda)
    return fitting.starts(choice.cuda, candidate.row.cuda.partition(".")[0])
