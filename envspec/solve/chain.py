"""The chain of a solution, from driver to extension, and why newer releases were passed over."""

from __future__ import annotations

from collections.abc import Iterator

from envspec.facts import images, lookup
from envspec.model import Extension, Package
from envspec.solve import fitting, links
from envspec.solve.candidates import Companion, Tensorflow, Toolkit, Torch
from envspec.solve.limits import jax_plugin
from envspec.solve.problem import Problem
from envspec.solve.search import Choice
from envspec.solve.values import Link
from envspec.stated import forward_compatible, package
from envspec.toolchain import build_image, extension_facts, host_compilers
from envspec.wording import ticked

_MOST_PASSED = 4


def chain(problem: Problem, choice: Choice) -> tuple[Link, ...]:
    """Why a set fits, one fact a sentence."""
    first = choice[problem.first]
    found: list[Link] = []
    if isinstance(first, Torch):
        found.extend(_torch(problem, first))
        for candidate in choice.values():
            if isinstance(candidate, Companion) and candidate.row is not None:
                version = candidate.version(first)
                found.append(links.pairing(candidate.row, version, first.release))
    elif isinstance(first, Toolkit):
        found.extend(_toolkit(problem, first))
    found.extend(_frameworks(problem, choice))
    both: list[Package | Extension] = [*problem.spec.packages, *problem.spec.extensions]
    for item in both:
        found.extend(_native(problem, item, _cuda(first)))
    return tuple(found)


def _cuda(first: object) -> str:
    return first.cuda if isinstance(first, (Torch, Toolkit)) else ""


def _torch(problem: Problem, torch: Torch) -> Iterator[Link]:
    spec, row = problem.spec, torch.row
    accelerator = spec.accelerator
    yield links.driver(torch.cuda, accelerator.driver)
    if forward_compatible(spec):
        yield Link("the image brings a user-mode driver (cuda-compat): the floor does not bind")
    stated = accelerator.toolkit
    if stated and fitting.starts(stated, torch.cuda) is not True:
        yield Link(
            f"CUDA {stated} as stated; torch brings CUDA {torch.cuda}, and within a major both fit"
        )
    series = f" (known by its series, {row.release})" if row.release != torch.release else ""
    where = _where(problem, torch)
    said = f"torch {torch.release}+{torch.build}{series} is built for CUDA {torch.cuda}{where}"
    yield links.fact(said, row)
    yield from links.gpus(row, accelerator.gpus, accelerator.driver)
    yield links.python(row, torch.release, spec.platform.python)
    yield from links.glibc(row, torch.release, spec.platform.base, spec.platform.glibc)
    yield from links.libraries(row)


def _where(problem: Problem, torch: Torch) -> str:
    if torch.row.default:
        return " and is what the default index serves"
    served = lookup.torch_build(torch.release, None, problem.machine)
    return f"; the default index serves {served.build} instead" if served else ""


def _toolkit(problem: Problem, toolkit: Toolkit) -> Iterator[Link]:
    accelerator = problem.spec.accelerator
    yield links.driver(toolkit.cuda, accelerator.driver)
    yield links.fact(f"CUDA {toolkit.cuda} is the newest that fits", toolkit.row)
    for sm in accelerator.gpus:
        yield links.compiles(toolkit.cuda, sm)


def _frameworks(problem: Problem, choice: Choice) -> Iterator[Link]:
    jax = package(problem.spec, "jax")
    plugin = jax_plugin(jax) if jax else None
    if plugin is not None:
        yield links.fact(
            f"jax[{plugin.plugin}] takes CUDA {plugin.cuda} or newer of the same major and "
            f"driver {plugin.driver}",
            plugin,
        )
    for candidate in choice.values():
        if isinstance(candidate, Tensorflow):
            row = candidate.row
            brings = f" and brings CUDA {row.cuda}" if candidate.libraries else ""
            ends = f"{row.python_min} to {row.python_max}"
            yield links.fact(f"tensorflow {row.release} runs on Python {ends}{brings}", row)


def _native(problem: Problem, item: Package | Extension, cuda: str) -> Iterator[Link]:
    spec = problem.spec
    facts = extension_facts(item)
    if facts is not None:
        yield from links.native(facts, spec.accelerator.gpus, cuda)
    if not isinstance(item, Extension):
        return
    if facts is None:
        yield links.unknown(f"what {item.name} asks of GPUs and CUDA is not known")
    image = build_image(spec)[0]
    nvcc = images.nvcc_release(image)
    if not nvcc:
        yield links.unknown(
            f"{item.name} is compiled with nvcc of CUDA {cuda.partition('.')[0]}.x; which nvcc and "
            f"gcc `{image}` has is not known"
        )
        return
    compilers = host_compilers(spec, item)
    for compiler in compilers:
        yield links.compiler(nvcc, compiler)
    if not compilers:
        yield links.unknown(f"the gcc of `{image}` is not known")


def passed(problem: Problem, choice: Choice) -> tuple[Link, ...]:
    """Newer releases of torch that were not taken, the newest first, and what each lacks."""
    chosen = choice[problem.first]
    if not isinstance(chosen, Torch):
        return ()
    said: dict[str, Link] = {}
    for torch in problem.candidates[problem.first]:
        if isinstance(torch, Torch) and torch.parts > chosen.parts:
            name = f"{torch.parts[:2]} {torch.build}"
            if name not in said:
                said[name] = _lacks(problem, torch)
    return tuple(said.values())[:_MOST_PASSED]


def _lacks(problem: Problem, torch: Torch) -> Link:
    name = f"torch {torch.release}+{torch.build}"
    failing = [
        (limit, answer)
        for limit in problem.limits
        if limit.ident == problem.first and (answer := limit.holds(torch)) is not True
    ]
    if failing:
        # A reason of one statement says more than one of two, and a refusal more than a doubt.
        limit, answer = min(failing, key=lambda one: (one[1] is None, len(one[0].keys)))
        said = ticked(problem.statement(k).said for k in sorted(limit.keys))
        if answer is False:
            return links.fact(f"{name} does not go with {said}", torch.row)
        told = f"{name}: whether it goes with {said} is not known"
        return links.fact(told, torch.row)._replace(known=False)
    for pair in problem.pairs:
        fits = [pair.holds(torch, c) for c in problem.candidates[pair.ident]]
        if True not in fits:
            said = problem.statement(pair.key).said
            return links.fact(f"{name}: no known release goes with it for `{said}`", torch.row)
    return links.fact(
        f"{name}: a build for the stated toolkit, or a stable one, is taken first", torch.row
    )


def needed(problem: Problem, choice: Choice) -> str:
    """The oldest driver that a set runs on."""
    first, gpus = choice[problem.first], problem.spec.accelerator.gpus
    wanted = fitting.needed_driver(first.row, gpus) if isinstance(first, Torch) else ""
    if isinstance(first, Toolkit):
        wanted = fitting.floor(first.cuda)
    jax = package(problem.spec, "jax")
    plugin = jax_plugin(jax) if jax else None
    if plugin is not None and not fitting.new_enough(wanted, plugin.driver):
        wanted = plugin.driver
    return wanted
