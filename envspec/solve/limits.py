"""What each statement demands of the candidates, from the facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from envspec.facts import lookup
from envspec.facts.rows import JaxPlugin
from envspec.facts.versions import at_least
from envspec.model import DEFAULT_INDEX, Package, Spec
from envspec.solve import fitting
from envspec.solve.candidates import Tensorflow, Torch, toolkits
from envspec.solve.companions import with_first
from envspec.solve.fitting import Answer, both
from envspec.solve.natives import of_natives
from envspec.solve.problem import (
    TENSORFLOW,
    TOOLKIT,
    Limit,
    Problem,
    always,
    choices,
    limit,
)
from envspec.solve.specifiers import allows
from envspec.source import SourceFile
from envspec.stated import TORCH, build_of_index, exact, forward_compatible, package


def problem(spec: Spec, source: SourceFile) -> Problem:
    """The whole problem of a spec whose accelerator is CUDA."""
    drawn = choices(spec, source)
    limits, pairs = tuple(_limits(drawn)), tuple(with_first(drawn))
    used = {key for one in limits for key in one.keys} | {pair.key for pair in pairs}
    # A package that nothing is known of takes no part, and cannot be what conflicts.
    statements = tuple(s for s in drawn.statements if s.key in used)
    return drawn._replace(statements=statements, limits=limits, pairs=pairs)


def _limits(problem: Problem) -> Iterator[Limit]:
    spec = problem.spec
    yield from _of_torch(spec) if problem.first == TORCH else _of_toolkit(spec)
    yield from of_natives(spec, problem.first)
    yield from _of_jax(spec, problem.first)
    tensorflow = package(spec, TENSORFLOW)
    if tensorflow is not None:
        yield from _of_tensorflow(spec, tensorflow)


def _of_torch(spec: Spec) -> Iterator[Limit]:
    platform, accelerator, torch = spec.platform, spec.accelerator, package(spec, TORCH)
    assert torch is not None, "asked only where the spec has torch"
    yield limit(("python",), TORCH, lambda t: python_of(t, platform.python, torch.specifier))
    if platform.glibc:
        yield limit(("glibc",), TORCH, lambda t: _glibc(t, platform.glibc))
    image = lookup.distribution_of_image(platform.base)
    if image is not None:
        glibc = image.glibc
        yield limit(("base",), TORCH, lambda t: _glibc(t, glibc) if glibc else False)
    for word in ("cudnn", "nccl"):
        if asked := getattr(accelerator, word):
            yield limit((word,), TORCH, _starts(word, asked))
    if accelerator.toolkit:
        major = accelerator.toolkit.partition(".")[0]
        yield limit(("toolkit",), TORCH, lambda t: fitting.starts(t.cuda, major))
    yield limit((f"package {TORCH}",), TORCH, _stated_torch(spec, torch))
    if accelerator.driver and not forward_compatible(spec):
        driver = accelerator.driver
        yield limit(("driver",), TORCH, lambda t: fitting.new_enough(driver, fitting.floor(t.cuda)))
    for sm in accelerator.gpus:
        yield limit((f"gpu {sm}",), TORCH, lambda t, sm=sm: fitting.covers(t.row, sm))
        if accelerator.driver and not forward_compatible(spec):
            yield limit(("driver", f"gpu {sm}"), TORCH, _ptx(sm, accelerator.driver))
    triton = package(spec, "triton")
    if triton is not None and triton.specifier:
        asked_triton = triton.specifier
        yield limit(
            ("package triton",),
            TORCH,
            lambda t: allows(asked_triton, t.row.triton) if t.row.triton else None,
        )


def _of_toolkit(spec: Spec) -> Iterator[Limit]:
    """Where the spec has no torch, the toolkit is what is chosen."""
    accelerator = spec.accelerator
    if accelerator.toolkit:
        asked = accelerator.toolkit
        known = any(_same(asked, t.cuda) for t in toolkits())
        yield limit(("toolkit",), TOOLKIT, lambda t: _same(asked, t.cuda) if known else None)
    if accelerator.driver and not forward_compatible(spec):
        driver = accelerator.driver
        yield limit(
            ("driver",), TOOLKIT, lambda t: fitting.new_enough(driver, fitting.floor(t.cuda))
        )
    for sm in accelerator.gpus:
        yield limit((f"gpu {sm}",), TOOLKIT, lambda t, sm=sm: fitting.compiles_for(t.cuda, sm))


def _same(asked: str, cuda: str) -> bool:
    """Whether two texts name one toolkit: `12`, `12.8` and `12.8.1` are all of 12.8."""
    return bool(fitting.starts(asked, cuda) or fitting.starts(cuda, asked))


def jax_plugin(item: Package) -> JaxPlugin | None:
    """The CUDA plugin that the extras of `jax` ask for."""
    return next((row for e in item.extras if (row := lookup.jax_plugin_of(e))), None)


def _of_jax(spec: Spec, first: str) -> Iterator[Limit]:
    jax = package(spec, "jax")
    row = jax_plugin(jax) if jax else None
    if jax is None or row is None:
        return
    key, major = "package jax", row.cuda.partition(".")[0]
    yield limit(
        (key,), first, lambda c: both(fitting.starts(c.cuda, major), at_least(c.cuda, row.cuda))
    )
    if spec.accelerator.driver and not forward_compatible(spec):
        enough = fitting.new_enough(spec.accelerator.driver, row.driver)
        yield limit((key, "driver"), first, always(enough))
    for sm in spec.accelerator.gpus:
        yield limit((key, f"gpu {sm}"), first, always(fitting.sm_reaches(sm, row.sm_min)))
    if first == TORCH and not jax.specifier:
        # The bound is that of today's jax; an older one, which a specifier may ask for, had less.
        yield limit((key,), TORCH, lambda t: _between(t.row.cudnn, row))


def _between(cudnn: str | None, row: JaxPlugin) -> Answer:
    if cudnn is None:
        return None
    above = at_least(cudnn, row.cudnn_below)
    return both(at_least(cudnn, row.cudnn_min), None if above is None else not above)


def _of_tensorflow(spec: Spec, item: Package) -> Iterator[Limit]:
    python = spec.platform.python
    yield limit(
        ("python",),
        TENSORFLOW,
        lambda t: fitting.python_fits(python, t.row.python_min, t.row.python_max),
    )
    if item.specifier:
        wanted = item.specifier
        yield limit(
            (f"package {TENSORFLOW}",),
            TENSORFLOW,
            lambda t: any(allows(wanted, v) for v in _patches(t, wanted)),
        )


def _patches(candidate: Tensorflow, specifier: str) -> Iterator[str]:
    """Releases of a series; the tables have series only, and no series had ten patches."""
    wanted = exact(specifier)
    if wanted:
        yield from [wanted] if wanted.startswith(f"{candidate.row.release}.") else []
    else:
        yield from (f"{candidate.row.release}.{patch}" for patch in range(10))


def python_of(torch: Torch, python: str, specifier: str) -> Answer:
    """Whether torch has wheels for a Python. Experimental ones count for an exact pin alone."""
    row = torch.row
    if row.python_experimental and exact(specifier):
        return fitting.python_fits(python, row.python_min, row.python_experimental)
    return fitting.python_fits(python, row.python_min, row.python_max)


def _glibc(torch: Torch, found: str) -> Answer:
    return at_least(found, torch.row.glibc) if torch.row.glibc else None


def _starts(word: str, asked: str) -> Callable[[Torch], Answer]:
    return lambda t: fitting.starts(getattr(t.row, word), asked)


def _ptx(sm: str, driver: str) -> Callable[[Torch], Answer]:
    def holds(torch: Torch) -> Answer:
        if not fitting.by_ptx(torch.row, sm):
            return True
        return fitting.new_enough(driver, fitting.ptx_driver(torch.cuda))

    return holds


def _stated_torch(spec: Spec, item: Package) -> Callable[[Torch], Answer]:
    """The specifier and the index of torch. A pin without a local part, from no index in
    particular, is the build that the default index serves."""
    build, pinned = build_of_index(spec, item.index), exact(item.specifier)
    plain = bool(pinned) and "+" not in pinned and not item.index

    def holds(torch: Torch) -> Answer:
        if build and torch.build != build:
            return False
        fits = allows(item.specifier, f"{torch.release}+{torch.build}")
        if item.index == DEFAULT_INDEX or plain:
            return both(fits, torch.row.default, "+" not in item.specifier)
        return fits

    return holds
