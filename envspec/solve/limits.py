"""What each statement demands of the candidates, from the facts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from envspec.facts import lookup
from envspec.facts.rows import Extension as ExtensionFacts
from envspec.facts.rows import JaxPlugin
from envspec.facts.versions import at_least, version, within
from envspec.model import Extension, Package, Spec
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
from envspec.solve.open import COMPANIONS, TORCH, exact, package
from envspec.solve.problem import (
    INCOMPLETE,
    TENSORFLOW,
    TOOLKIT,
    Limit,
    Pair,
    Problem,
    choices,
    index_build,
    natives,
)
from envspec.solve.specifiers import allows
from envspec.source import SourceFile

_COMPILER = re.compile(r"(?:gcc|g\+\+)-(\d+)")


def problem(spec: Spec, source: SourceFile) -> Problem:
    """The whole problem of a spec whose accelerator is CUDA."""
    drawn = choices(spec, source)
    return drawn._replace(limits=tuple(_limits(drawn)), pairs=tuple(_pairs(drawn)))


def _limits(problem: Problem) -> Iterator[Limit]:
    spec = problem.spec
    yield from _of_torch(spec) if problem.first == TORCH else _of_toolkit(spec)
    yield from _of_natives(spec, problem.first)
    yield from _of_jax(spec, problem.first)
    tensorflow = package(spec, TENSORFLOW)
    if tensorflow is not None:
        yield from _of_tensorflow(spec, tensorflow)


def _limit(keys: tuple[str, ...], ident: str, holds: Callable[..., Answer]) -> Limit:
    return Limit(frozenset(keys), ident, holds)


def _of_torch(spec: Spec) -> Iterator[Limit]:
    platform, accelerator, torch = spec.platform, spec.accelerator, package(spec, TORCH)
    assert torch is not None, "asked only where the spec has torch"
    yield _limit(("python",), TORCH, lambda t: python_of(t, platform.python, torch.specifier))
    if platform.glibc:
        yield _limit(("glibc",), TORCH, lambda t: _glibc(t, platform.glibc))
    image = lookup.distribution_of_image(platform.base)
    if image is not None:
        glibc = image.glibc
        yield _limit(("base",), TORCH, lambda t: _glibc(t, glibc) if glibc else False)
    for word in ("cudnn", "nccl"):
        if asked := getattr(accelerator, word):
            yield _limit((word,), TORCH, _starts(word, asked))
    if accelerator.toolkit:
        major = accelerator.toolkit.partition(".")[0]
        yield _limit(("toolkit",), TORCH, lambda t: fitting.starts(t.cuda, major))
    yield _limit((f"package {TORCH}",), TORCH, _stated_torch(spec, torch))
    if accelerator.driver and not forward_compatible(spec):
        driver = accelerator.driver
        yield _limit(
            ("driver",), TORCH, lambda t: fitting.new_enough(driver, fitting.floor(t.cuda))
        )
    for sm in accelerator.gpus:
        yield _limit((f"gpu {sm}",), TORCH, lambda t, sm=sm: fitting.covers(t.row, sm))
        if accelerator.driver and not forward_compatible(spec):
            yield _limit(("driver", f"gpu {sm}"), TORCH, _ptx(sm, accelerator.driver))
    triton = package(spec, "triton")
    if triton is not None and triton.specifier:
        asked_triton = triton.specifier
        yield _limit(
            ("package triton",),
            TORCH,
            lambda t: allows(asked_triton, t.row.triton) if t.row.triton else None,
        )


def _of_toolkit(spec: Spec) -> Iterator[Limit]:
    """Where the spec has no torch, the toolkit is what is chosen."""
    accelerator = spec.accelerator
    if accelerator.toolkit:
        asked = accelerator.toolkit
        yield _limit(("toolkit",), TOOLKIT, lambda t: fitting.starts(asked, t.cuda))
    if accelerator.driver and not forward_compatible(spec):
        driver = accelerator.driver
        yield _limit(
            ("driver",), TOOLKIT, lambda t: fitting.new_enough(driver, fitting.floor(t.cuda))
        )
    for sm in accelerator.gpus:
        yield _limit((f"gpu {sm}",), TOOLKIT, lambda t, sm=sm: fitting.compiles_for(t.cuda, sm))


def _of_natives(spec: Spec, first: str) -> Iterator[Limit]:
    """Native packages: what they ask of the GPUs, and of the toolkit that compiles them."""
    for item in natives(spec):
        kind = "package" if isinstance(item, Package) else "extension"
        key, facts = f"{kind} {item.name}", native_facts(item)
        if facts is not None:
            yield from _of_native(spec, first, key, facts)
        if isinstance(item, Extension):
            yield from _of_compiling(spec, first, key, facts)


def _of_native(spec: Spec, first: str, key: str, facts: ExtensionFacts) -> Iterator[Limit]:
    if facts.cuda_min:
        lowest = facts.cuda_min
        yield _limit((key,), first, lambda c: at_least(c.cuda, lowest))
    for sm in spec.accelerator.gpus if facts.sm_min else ():
        reaches = fitting.sm_reaches(sm, facts.sm_min or "")
        yield _limit((key, f"gpu {sm}"), first, _always(reaches))
    image = lookup.distribution_of_image(spec.platform.base)
    if facts.glibc_min and image is not None:
        fits = at_least(image.glibc, facts.glibc_min) if image.glibc else False
        yield _limit((key, "base"), first, _always(fits))


def _of_compiling(
    spec: Spec, first: str, key: str, facts: ExtensionFacts | None
) -> Iterator[Limit]:
    """Nvcc and torch have to share a CUDA major, and nvcc has to know the GPUs and its compiler."""
    platform, gpus = spec.platform, spec.accelerator.gpus
    for sm in gpus:
        yield _limit((key, f"gpu {sm}"), first, lambda c, sm=sm: fitting.compiles_for(c.cuda, sm))
    word, image = ("devel", platform.devel) if platform.devel else ("base", platform.base)
    for stated, nvcc in ((word, fitting.nvcc_of(image)), ("toolkit", spec.accelerator.toolkit)):
        if not nvcc:
            continue
        for sm in gpus:
            yield _limit((key, stated, f"gpu {sm}"), first, _always(fitting.compiles_for(nvcc, sm)))
        if facts is not None and facts.cuda_min:
            yield _limit((key, stated), first, _always(at_least(nvcc, facts.cuda_min)))
    nvcc = fitting.nvcc_of(image)
    if nvcc:
        major = nvcc.partition(".")[0]
        yield _limit((key, word), first, lambda c: fitting.starts(c.cuda, major))
        compiler = host_compiler(spec, image)
        if compiler:
            accepted = lookup.compiler_accepted(nvcc, "gcc", compiler)
            yield _limit((key, word), first, _always(accepted))


def native_facts(item: Package | Extension) -> ExtensionFacts | None:
    """What is known of a native package, unless its version is one that the facts are not of."""
    row = lookup.extension(item.name)
    asked = exact(item.specifier).partition("+")[0]
    if row is None or not asked or version(asked) is None or not (row.since or row.until):
        return row
    return row if within(asked, row.since or "0", row.until) else None


def forward_compatible(spec: Spec) -> bool:
    """Whether the image brings a user-mode driver of its own, so that the stated one does not
    bind."""
    if any(item.name.startswith("cuda-compat") for item in spec.system):
        return True
    reasoned = any(word == "driver" for word, _ in spec.accelerator.because)
    return reasoned and "nvidia/cuda" in spec.platform.base


def host_compiler(spec: Spec, image: str) -> str:
    """The gcc that compiles: one that the spec installs for building, else that of the image."""
    for item in spec.system:
        match = _COMPILER.fullmatch(item.name)
        if match and item.stage == "build":
            return match[1]
    distribution = lookup.distribution_of_image(image)
    return distribution.gcc or "" if distribution else ""


def jax_plugin(item: Package) -> JaxPlugin | None:
    """The CUDA plugin that the extras of `jax` ask for."""
    return next((row for e in item.extras if (row := lookup.jax_plugin_of(e))), None)


def _of_jax(spec: Spec, first: str) -> Iterator[Limit]:
    jax = package(spec, "jax")
    row = jax_plugin(jax) if jax else None
    if jax is None or row is None:
        return
    key, major = "package jax", row.cuda.partition(".")[0]
    yield _limit(
        (key,), first, lambda c: both(fitting.starts(c.cuda, major), at_least(c.cuda, row.cuda))
    )
    if spec.accelerator.driver and not forward_compatible(spec):
        enough = fitting.new_enough(spec.accelerator.driver, row.driver)
        yield _limit((key, "driver"), first, _always(enough))
    for sm in spec.accelerator.gpus:
        yield _limit((key, f"gpu {sm}"), first, _always(fitting.sm_reaches(sm, row.sm_min)))
    if first == TORCH and not jax.specifier:
        # The bound is that of today's jax; an older one, which a specifier may ask for, had less.
        yield _limit((key,), TORCH, lambda t: _between(t.row.cudnn, row))


def _between(cudnn: str | None, row: JaxPlugin) -> Answer:
    if cudnn is None:
        return None
    above = at_least(cudnn, row.cudnn_below)
    return both(at_least(cudnn, row.cudnn_min), None if above is None else not above)


def _of_tensorflow(spec: Spec, item: Package) -> Iterator[Limit]:
    python = spec.platform.python
    yield _limit(
        ("python",),
        TENSORFLOW,
        lambda t: fitting.python_fits(python, t.row.python_min, t.row.python_max),
    )
    if item.specifier:
        wanted = item.specifier
        yield _limit(
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


def _always(answer: Answer) -> Callable[[object], Answer]:
    return lambda _: answer


def _ptx(sm: str, driver: str) -> Callable[[Torch], Answer]:
    def holds(torch: Torch) -> Answer:
        if not fitting.by_ptx(torch.row, sm):
            return True
        return fitting.new_enough(driver, fitting.ptx_driver(torch.cuda))

    return holds


def _stated_torch(spec: Spec, item: Package) -> Callable[[Torch], Answer]:
    """The specifier and the index of torch. A pin without a local part, from no index in
    particular, is the build that the default index serves."""
    build, pinned = index_build(spec, item), exact(item.specifier)
    plain = bool(pinned) and "+" not in pinned and not item.index

    def holds(torch: Torch) -> Answer:
        if build and torch.build != build:
            return False
        fits = allows(item.specifier, f"{torch.release}+{torch.build}")
        if item.index == "pypi" or plain:
            return both(fits, torch.row.default, "+" not in item.specifier)
        return fits

    return holds


def _pairs(problem: Problem) -> Iterator[Pair]:
    spec = problem.spec
    for name in COMPANIONS if problem.first == TORCH else ():
        item = package(spec, name)
        if item is not None:
            yield Pair(f"package {name}", name, _companion(spec, item))
    tensorflow = package(spec, TENSORFLOW)
    if tensorflow is not None:
        yield Pair(f"package {TENSORFLOW}", TENSORFLOW, _with_tensorflow)


def _companion(spec: Spec, item: Package) -> Callable[[Torch, Companion], Answer]:
    build = index_build(spec, item)
    # A release that the tables lack may fit: where they hold some releases only, or none asked for.
    lacking = item.name in INCOMPLETE or not _known(_torches_of(spec), item)

    def holds(torch: Torch, companion: Companion) -> Answer:
        if build and torch.build != build:
            return False
        if item.name == "vllm" and not torch.row.default and not item.index:
            return False  # its wheel is built for the CUDA of torch's default build
        if companion.row is None:
            return None if lacking else False
        paired = pairs(companion, torch)
        return both(paired, allows(item.specifier, companion.version(torch)) if paired else False)

    return holds


def _torches_of(spec: Spec) -> tuple[Torch, ...]:
    """The torch builds that a spec chooses from."""
    torch = package(spec, TORCH)
    return torches(exact(torch.specifier).partition("+")[0] if torch else "")


def _known(builds: tuple[Torch, ...], item: Package) -> bool:
    """Whether the tables pair any release that a specifier allows with some torch."""
    if not item.specifier:
        return True
    return any(
        allows(item.specifier, companion.version(torch))
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
