"""Native packages: wheel or source build, ABI, flags, compilers, memory."""

from __future__ import annotations

from collections.abc import Iterator

from envspec import toolchain
from envspec.explain.asked import SPEC
from envspec.explain.frameworks import abi
from envspec.facts import lookup
from envspec.facts.build_memory import GIB, max_jobs, memory_per_job
from envspec.facts.rows import Extension as Facts
from envspec.model import Extension
from envspec.rules.shared import compiling
from envspec.rules.view import View
from envspec.solve import fitting, links
from envspec.solve.values import Link
from envspec.wording import listed


def native(view: View, name: str, version: str, extension: Extension | None) -> Iterator[Link]:
    """What a native package takes, and how it is built where the spec builds it."""
    facts = compiling.facts(view, name)
    if facts is None:
        yield links.unknown(f"what {name} asks of GPUs, CUDA and compilers is not known")
    else:
        yield from links.native(facts, view.spec.accelerator.gpus, view.toolkit)
        if facts.tool_at_run:
            yield links.fact(f"{name} needs {facts.tool_at_run} at run time as well", facts)
    if extension is not None:
        yield from _built(view, extension, version, facts)
    elif facts is not None and facts.distribution != "wheel" and name not in view.locked:
        offers = "its source alone" if facts.distribution == "sdist" else "nothing of that name"
        yield links.fact(f"the default index has {offers}: an `extension` builds it", facts)


def _built(view: View, extension: Extension, version: str, facts: Facts | None) -> Iterator[Link]:
    yield Link("it is compiled against the locked torch in a stage of its own, and only its wheel "
               "is kept")  # fmt: skip
    yield from _wheel(view, extension.name, version)
    row, torch = view.torch_build, view.torch
    if row is not None and torch is not None:
        yield abi(row, f"torch {torch.public}")
    yield from _toolchain(view, extension)
    if facts is not None:
        yield from _flags(view, extension, facts)
    yield _memory(view, extension.name, facts)


def _wheel(view: View, name: str, version: str) -> Iterator[Link]:
    public = version.partition("+")[0]
    wheels = lookup.extension_wheels(name, public or None)
    row = view.torch_build
    if row is None:
        yield links.unknown("whether a prebuilt wheel would fit is not known: torch is not")
        return
    python = view.spec.platform.python
    fitted = next((w for w in wheels if lookup.wheel_fits(w, row, python) is not False), None)
    torch = view.torch.public if view.torch else ""
    if fitted is not None:
        sure = lookup.wheel_fits(fitted, row, python)
        may = "would fit" if sure else "may fit, and the facts do not tell all of it"
        said = f"a prebuilt wheel of {fitted.version} for torch {fitted.torch} and {fitted.build}"
        yield links.fact(f"{said} {may}", fitted)
    elif wheels:
        said = f"no prebuilt wheel of {name} {public}".rstrip()
        yield links.fact(f"{said} is for torch {torch}+{row.build}: it has to be built", wheels[0])
    else:
        yield links.unknown(f"no prebuilt wheel of {name} {public}".rstrip() + " is known")


def _toolchain(view: View, extension: Extension) -> Iterator[Link]:
    image = toolchain.build_image(view.spec)[0]
    nvcc = toolchain.nvcc(view.spec)
    if nvcc is None:
        yield links.unknown(f"which nvcc `{image}` has is not known")
        return
    cuda, said = view.torch_cuda, f"nvcc is {nvcc.release} ({nvcc.said})"
    if cuda:
        same = fitting.starts(cuda, nvcc.release.partition(".")[0])
        said += f", {'the major of' if same else 'another major than'} torch's {cuda}"
    yield Link(said, SPEC)
    compilers = toolchain.host_compilers(view.spec, extension)
    for compiler in compilers:
        yield links.compiler(nvcc.release, compiler)
    if not compilers:
        yield links.unknown(f"which gcc `{image}` has is not known")


def _flags(view: View, extension: Extension, facts: Facts) -> Iterator[Link]:
    """Settings without which the build is another one, and whether they are stated."""
    variables = (*view.spec.environment, *extension.environment)
    stated = {v.name: v.value for v in variables}
    for setting in facts.force or ():
        name, _, value = setting.partition("=")
        how = "the spec states it" if stated.get(name) else "the spec does not state it"
        yield links.fact(f"its build asks for {name}={value}, and {how}", facts)
    if facts.arch_variable:
        value = stated.get(facts.arch_variable, "")
        gpus = view.spec.accelerator.gpus if view.cuda else ()
        said = f"the spec states {value}" if value else "the spec does not state it"
        if gpus and not value:
            said = f"it is set for the GPUs that the spec names, {listed(gpus)}"
        yield links.fact(f"{facts.arch_variable} says which GPUs it compiles for; {said}", facts)


def _memory(view: View, name: str, facts: Facts | None) -> Link:
    each = memory_per_job(name)
    resources = view.spec.resources
    if each is None:
        return links.unknown(f"how much memory compiling {name} takes is not known")
    jobs = max_jobs(name, memory=resources.memory, jobs=resources.jobs)
    have = f"{resources.memory / GIB:g} GiB" if resources.memory else ""
    said = (
        f"; {have or 'the spec'} allows {jobs} at once" if jobs else "; the spec states no memory"
    )
    return links.fact(f"compiling takes {each // GIB} GiB a job{said}", facts)
