"""Parse and check of a spec of 200 packages in a warm process, as editors and services do it."""

from __future__ import annotations

import time
from collections.abc import Iterator

from inputs import LOCKED, made
from measure import AT_MOST, Figure, Skipped, Times, interleaved

from envspec import rules
from envspec.language.parse import parse
from envspec.language.resolve import resolve
from envspec.pipeline.check import of_text
from envspec.source import SourceFile

NAME = "check_warm"
ROUNDS = 15
BATCH = 10
_CUDA = """\
accelerator cuda 12.8 {
  driver >=525.60.13
  gpus   sm_80 sm_90
}

extension flash-attn ==2.8.3 {
  needs  torch ninja packaging setuptools wheel
  env    FLASH_ATTENTION_FORCE_BUILD="TRUE"
  module flash_attn_2_cuda
}
"""
_TORCH = """\
packages {
  torch       ==2.9.1+cu128 from pytorch-cu128
  torchvision ==0.24.1+cu128 from pytorch-cu128
"""


def figures(rounds: int | None) -> Iterator[Figure | Skipped]:
    """Reading and judging, of a spec without a GPU and of one with torch and an extension."""
    plain = made(1, LOCKED).source.text
    cuda = plain.replace("accelerator none\n", _CUDA).replace("packages {\n", _TORCH)
    actions = {
        "parse": lambda: _batch(plain, "parse"),
        "plain": lambda: _batch(plain, "check"),
        "cuda": lambda: _batch(cuda, "check"),
        "all": lambda: _batch(cuda, "all"),
    }
    interleaved(actions, 1)
    times = interleaved(actions, rounds or ROUNDS)
    for key, what, target in (
        ("parse", "parse alone", None),
        ("plain", "parse and check, no GPU", 15.0),
        ("cuda", "parse and check, CUDA and an extension", 15.0),
        ("all", "the same by `envspec check`, which recovers and solves", None),
    ):
        wall, cpu = (1000 * seconds / BATCH for seconds in times[key])
        note = f"by processor time: {cpu:.1f} ms"
        name = f"{LOCKED} packages, warm: {what}"
        yield Figure(name, wall, None, "ms", AT_MOST, target, note)


def _batch(text: str, what: str) -> Times:
    wall, cpu = time.perf_counter(), time.process_time()
    for number in range(BATCH):
        # A text of its own each time, so that nothing remembered of the last one helps.
        source = SourceFile("spec.env", f"{text}# {number} {wall}\n")
        if what == "all":
            of_text(source)
            continue
        statements = parse(source)
        if what == "check":
            rules.check(resolve(statements, source), source)
    return Times(time.perf_counter() - wall, time.process_time() - cpu)
