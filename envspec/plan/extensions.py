"""The variables under which an extension is compiled. Pure.

The build sees no GPU and no network, on every engine alike, and two builds are to give the same
bytes; so nothing here comes from the machine that builds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from envspec.facts import lookup
from envspec.facts.build_memory import GIB, max_jobs
from envspec.facts.device_code import Sm, parse_sm
from envspec.facts.rows import Extension as Facts
from envspec.facts.versions import older
from envspec.model import Extension, Spec
from envspec.plan.model import EPOCH
from envspec.stated import environment
from envspec.toolchain import ARCH_LIST, extension_facts, nvcc

MEMORY = 8 * GIB
"""What a build may take where the spec states no memory: the language's default."""

MOST_JOBS = 4
JOB_MEMORY = 2 * GIB
"""Where the facts do not say what one compile job of an extension takes: what a file that includes
the headers of torch is reckoned with, and how many are compiled at once at most."""

_CUDA_HOME = "/usr/local/cuda"
"""Where the images that have nvcc keep the toolkit; packages keep theirs beside it."""

_APPENDED = "NVCC_APPEND_FLAGS"
_SAME_NAMES = "--objdir-as-tempdir"
"""nvcc puts the name of an intermediate file into each object, and that has the number of its
process; beside the object it has the object's name. nvcc knows the option from 11.2 on."""
_SAME_NAMES_SINCE = "11.2"

_FIXED = {"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "CUDA_VISIBLE_DEVICES": ""}


def build_environment(
    extension: Extension, spec: Spec, version: str = "", epoch: int = EPOCH
) -> tuple[tuple[str, str], ...]:
    """The variables of a build, sorted by name: what follows from the spec and the facts, under it
    the spec's own ``env``, and the extension's over both.

    ``version`` is the locked one, which tells the row of the facts where the spec leaves it open.

    - ``MAX_JOBS`` always: ``jobs`` of the spec, else as many as ``memory`` (8 GiB unless stated) is
      enough for by the facts, else one for each 2 GiB of it, 4 at most; one at least.
    - The list of architectures in the extension's own variable and notation, from ``gpus``.
    - Its force flags, unless the spec sets them, or one that does as well or that forbids the
      CUDA build. Without an accelerator ``FORCE_CUDA`` is 0.
    - ``CUDA_HOME`` where the image or a package of the distribution tells it.
    - ``NVCC_APPEND_FLAGS`` ends in what makes nvcc give the same bytes twice; what the spec puts
      there comes first.
    """
    written = environment(spec, extension)
    facts = _facts(extension, version)
    values = {**_FIXED, "SOURCE_DATE_EPOCH": str(epoch)}
    values["MAX_JOBS"] = str(_jobs(extension, spec, facts, written))
    if spec.accelerator.kind == "cuda":
        values.update(_architectures(spec.accelerator.gpus, facts))
        values.update(_cuda_home(spec))
        if facts is not None and facts.nvcc_threads:
            values["NVCC_THREADS"] = str(facts.nvcc_threads)
    else:
        values["FORCE_CUDA"] = "0"
    if facts is not None:
        values.update(_forced(facts, written, cuda=spec.accelerator.kind == "cuda"))
    values.update(written)
    if spec.accelerator.kind == "cuda":
        values.update(_same_names(spec, values.get(_APPENDED, "")))
    return tuple(sorted(values.items()))


def _facts(extension: Extension, version: str) -> Facts | None:
    if version and extension.git is None:
        return lookup.extension(extension.name, version.partition("+")[0])
    return extension_facts(extension)


def _jobs(extension: Extension, spec: Spec, facts: Facts | None, written: dict[str, str]) -> int:
    """How many files are compiled at once."""
    memory = spec.resources.memory or MEMORY
    stated = written.get("NVCC_THREADS", "")
    threads = int(stated) if stated.isascii() and stated.isdigit() and int(stated) else None
    if facts is not None or spec.resources.jobs:
        known = max_jobs(extension.name, memory=memory, jobs=spec.resources.jobs, threads=threads)
        if known is not None:
            return known
    return max(1, min(MOST_JOBS, memory // JOB_MEMORY))


def _architectures(gpus: Iterable[str], facts: Facts | None) -> dict[str, str]:
    """The list for an extension that takes one; an unknown one takes torch's."""
    read = sorted({sm for gpu in gpus if (sm := parse_sm(gpu))})
    variable = ARCH_LIST if facts is None else facts.arch_variable
    if not read or not variable:
        return {}
    names = map(_NOTATIONS.get(variable, _as_torch), read)
    return {variable: ";".join(dict.fromkeys(names))}


def _as_torch(sm: Sm) -> str:
    return f"{sm.major}.{sm.minor}{sm.suffix}"


def _as_flash_attention(sm: Sm) -> str:
    """Its setup.py knows the first chip of each major alone, whose code runs on the others."""
    return f"{sm.major}0"


_NOTATIONS: dict[str, Callable[[Sm], str]] = {"FLASH_ATTN_CUDA_ARCHS": _as_flash_attention}


def _cuda_home(spec: Spec) -> dict[str, str]:
    found = nvcc(spec)
    if found is None:
        return {}
    if found.image:
        return {"CUDA_HOME": _CUDA_HOME}
    if any(package.span == found.span for package in spec.system):
        return {"CUDA_HOME": f"{_CUDA_HOME}-{found.release}"}
    return {}


def _same_names(spec: Spec, flags: str) -> dict[str, str]:
    found = nvcc(spec)
    if found is not None and older(found.release, _SAME_NAMES_SINCE):
        return {}
    if {_SAME_NAMES, "-objtemp"} & set(flags.split()):
        return {}
    return {_APPENDED: f"{flags} {_SAME_NAMES}".lstrip()}


def _forced(facts: Facts, written: dict[str, str], *, cuda: bool) -> dict[str, str]:
    """Flags without which the build is another one. Only the one against a download matters to a
    build for the CPU."""
    if not cuda and facts.force_reason != "wheel":
        return {}
    settled = (*_pairs(facts.force_instead), *_pairs(facts.skip))
    if any(written.get(name) == value for name, value in settled):
        return {}
    return dict(_pairs(facts.force))


def _pairs(settings: tuple[str, ...] | None) -> tuple[tuple[str, str], ...]:
    parts = (text.partition("=") for text in settings or ())
    return tuple((name, value) for name, _, value in parts)
