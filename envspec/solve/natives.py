"""What native packages ask of GPUs, of the toolkit and of the compilers that build them."""

from __future__ import annotations

from collections.abc import Iterator

from envspec.facts import images, lookup
from envspec.facts.rows import Extension as Facts
from envspec.facts.versions import at_least
from envspec.model import Extension, Package, Spec
from envspec.solve import fitting
from envspec.solve.problem import Limit, always, limit
from envspec.toolchain import build_image, extension_facts, host_compilers


def of_natives(spec: Spec, first: str) -> Iterator[Limit]:
    """Native packages: what they ask of the GPUs, and of the toolkit that compiles them."""
    both: list[Package | Extension] = [*spec.packages, *spec.extensions]
    for item in both:
        kind = "package" if isinstance(item, Package) else "extension"
        key, facts = f"{kind} {item.name}", extension_facts(item)
        if facts is not None:
            yield from _of_native(spec, first, key, facts)
        if isinstance(item, Extension):
            yield from _of_compiling(spec, first, item, facts)


def _of_native(spec: Spec, first: str, key: str, facts: Facts) -> Iterator[Limit]:
    if facts.cuda_min:
        lowest = facts.cuda_min
        yield limit((key,), first, lambda c: at_least(c.cuda, lowest))
    for sm in spec.accelerator.gpus if facts.sm_min else ():
        reaches = fitting.sm_reaches(sm, facts.sm_min or "")
        yield limit((key, f"gpu {sm}"), first, always(reaches))
    image = lookup.distribution_of_image(spec.platform.base)
    if facts.glibc_min and image is not None:
        fits = at_least(image.glibc, facts.glibc_min) if image.glibc else False
        yield limit((key, "base"), first, always(fits))


def _of_compiling(
    spec: Spec, first: str, extension: Extension, facts: Facts | None
) -> Iterator[Limit]:
    """Nvcc and torch have to share a CUDA major, and nvcc has to know the GPUs and its compiler."""
    key, gpus = f"extension {extension.name}", spec.accelerator.gpus
    for sm in gpus:
        yield limit((key, f"gpu {sm}"), first, lambda c, sm=sm: fitting.compiles_for(c.cuda, sm))
    word = "devel" if spec.platform.devel else "base"
    of_image = images.nvcc_release(build_image(spec)[0])
    for stated, nvcc in ((word, of_image), ("toolkit", spec.accelerator.toolkit)):
        if not nvcc:
            continue
        for sm in gpus:
            yield limit((key, stated, f"gpu {sm}"), first, always(fitting.compiles_for(nvcc, sm)))
        if facts is not None and facts.cuda_min:
            yield limit((key, stated), first, always(at_least(nvcc, facts.cuda_min)))
    if of_image:
        major = of_image.partition(".")[0]
        yield limit((key, word), first, lambda c: fitting.starts(c.cuda, major))
        for compiler in host_compilers(spec, extension):
            accepted = lookup.compiler_accepted(of_image, compiler.kind, compiler.version)
            yield limit((key, word), first, always(accepted))
