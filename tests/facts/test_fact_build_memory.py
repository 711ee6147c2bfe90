"""How many compile jobs fit: the numbers of W0341 and of `MAX_JOBS`."""

from __future__ import annotations

import pytest

from envspec.facts.build_memory import GIB, jobs_for, max_jobs, memory_per_job


def test_memory_of_a_job_grows_with_its_threads() -> None:
    assert memory_per_job("flash-attn") == 20 * GIB
    assert memory_per_job("Flash_Attn", 4) == 20 * GIB
    assert memory_per_job("flash-attn", 1) == 5 * GIB
    assert memory_per_job("flash-attn", 3) == 15 * GIB


def test_what_the_table_does_not_say_is_not_guessed() -> None:
    assert memory_per_job("mamba-ssm") is None
    assert jobs_for(64 * GIB, "mamba-ssm") is None
    assert jobs_for(64 * GIB, "no-such-extension") is None
    assert max_jobs("mamba-ssm", memory=64 * GIB) is None


@pytest.mark.parametrize(
    ("memory", "threads", "jobs"),
    [(64, None, 3), (80, None, 4), (80 - 1, None, 3), (16, None, 0), (16, 1, 3), (16, 2, 1)],
)
def test_jobs_that_fit(memory: int, threads: int | None, jobs: int) -> None:
    assert jobs_for(memory * GIB, "flash-attn", threads) == jobs


def test_max_jobs_is_the_stated_number_else_what_fits_and_at_least_one() -> None:
    assert max_jobs("flash-attn", memory=64 * GIB, jobs=8) == 8
    assert max_jobs("flash-attn", memory=64 * GIB) == 3
    assert max_jobs("flash-attn", memory=64 * GIB, threads=1) == 12
    assert max_jobs("flash-attn", memory=4 * GIB) == 1
    assert max_jobs("flash-attn") is None
    assert max_jobs("mamba-ssm", jobs=2) == 2
