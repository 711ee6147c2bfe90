"""W0341: compile jobs that need more memory than `resources` gives.

A job that runs out of memory is killed, and nvcc then says `Killed` and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from envspec.diagnostics import WARNING, Diagnostic, Fix, Label
from envspec.facts.build_memory import GIB, jobs_for, memory_per_job
from envspec.model import Extension, Variable
from envspec.rules.shared.places import line_of, value_of
from envspec.rules.view import View
from envspec.source import Span

CODE = "W0341"
_COUNT = re.compile(r"[1-9]\d{0,3}", re.ASCII)


def check(view: View) -> Iterator[Diagnostic]:
    """One finding an extension whose jobs are stated and do not fit."""
    memory = view.spec.resources.memory
    for extension in view.spec.extensions if memory else ():
        threads = _variable(extension, "NVCC_THREADS")
        each = memory_per_job(extension.name, _count(threads))
        stated = _variable(extension, "MAX_JOBS")
        jobs = _count(stated) if stated else view.spec.resources.jobs
        if each and jobs and jobs * each > memory:
            yield _finding(view, extension, jobs, each, stated, threads)


def _finding(
    view: View,
    extension: Extension,
    jobs: int,
    each: int,
    stated: Variable | None,
    threads: Variable | None,
) -> Diagnostic:
    resources, source = view.spec.resources, view.source
    memory = resources.memory
    fitting = jobs_for(memory, extension.name, _count(threads)) or 0
    number: Span | None
    if stated:
        at, number, written = stated.span, stated.span, f'MAX_JOBS="{fitting}"'
    else:
        at = line_of(source, resources.span, "jobs")
        number = value_of(source, resources.span, "jobs")
        fitting = min(fitting, *_others(view))
        written = f"jobs {fitting}"
    labels = [Label(at, "jobs at once"), Label(line_of(source, resources.span, "memory"), "memory")]
    if threads:
        labels.append(Label(threads.span, "nvcc threads of a job"))
    per_thread = memory_per_job(extension.name, 1) or 0
    one = shown(each)
    if per_thread != each:
        count = each // per_thread
        one = f"{shown(per_thread)} for each of {count} nvcc threads = {one}"
    fix = None
    if fitting and number:
        replacement = written if stated else str(fitting)
        fix = Fix.replace(number, replacement, f"write `{written}`")
    hint = f"write `{written}`: {fitting} × {shown(each)} = {shown(fitting * each)} fits"
    if not fitting:
        hint = f"not even one job fits: write `memory {-(-each // GIB)}GiB`"
        if per_thread <= memory < each:
            hint += f', or `NVCC_THREADS="{memory // per_thread}"` and one job'
    return Diagnostic(
        CODE,
        f"{_jobs(jobs)} of `{extension.name}`: {shown(jobs * each)}, and `resources` gives "
        f"{shown(memory)}",
        source,
        tuple(labels),
        cause=f"one job takes {one}; {jobs} × {shown(each)} = {shown(jobs * each)} > "
        f"{shown(memory)}, and a compiler that gets no more memory is killed without a message",
        hint=hint,
        fix=fix,
        severity=WARNING,
    )


def shown(size: int) -> str:
    """Bytes as GiB, with one decimal where they are not whole."""
    whole, rest = divmod(size, GIB)
    return f"{size / GIB:.1f} GiB" if rest else f"{whole} GiB"


def _others(view: View) -> Iterator[int]:
    """Jobs that fit for each extension that `jobs` decides for: the number has to suit all."""
    yield view.spec.resources.jobs
    for extension in view.spec.extensions:
        if _variable(extension, "MAX_JOBS") is None:
            threads = _count(_variable(extension, "NVCC_THREADS"))
            fitting = jobs_for(view.spec.resources.memory, extension.name, threads)
            if fitting:
                yield fitting


def _variable(extension: Extension, name: str) -> Variable | None:
    return next((v for v in extension.environment if v.name == name), None)


def _count(variable: Variable | None) -> int | None:
    return int(variable.value) if variable and _COUNT.fullmatch(variable.value) else None


def _jobs(number: int) -> str:
    return f"{number} compile job{'' if number == 1 else 's'}"
