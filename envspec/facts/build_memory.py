"""How much memory compiling an extension takes, and how many jobs fit into it. Pure.

``MAX_JOBS`` of an extension follows from here: what compile writes and what W0341 checks are the
same numbers.
"""

from __future__ import annotations

from envspec.facts import lookup

GIB = 1 << 30


def memory_per_job(extension: str, threads: int | None = None) -> int | None:
    """Bytes that one compile job takes, None where the table does not say.

    The table states it at the extension's default number of nvcc threads; ``threads`` is
    ``NVCC_THREADS`` where the build sets it, and memory grows with it in proportion.
    """
    row = lookup.extension(extension)
    if row is None or row.ram_per_job_gb is None:
        return None
    whole = row.ram_per_job_gb * GIB
    if threads is None or row.nvcc_threads is None:
        return whole
    return whole * threads // row.nvcc_threads


def jobs_for(memory: int, extension: str, threads: int | None = None) -> int | None:
    """Compile jobs that fit into ``memory`` bytes at once; 0 where not even one does, None where
    the table does not say what a job takes."""
    each = memory_per_job(extension, threads)
    return memory // each if each else None


def max_jobs(
    extension: str, *, memory: int = 0, jobs: int = 0, threads: int | None = None
) -> int | None:
    """The ``MAX_JOBS`` to build an extension with: ``jobs`` where the spec states it, else as many
    as its ``memory`` (bytes) is enough for, at least one. None where neither says anything."""
    if jobs:
        return jobs
    fitting = jobs_for(memory, extension, threads) if memory else None
    return None if fitting is None else max(1, fitting)
