"""Specs compiled per second in one process, each with 200 locked packages, none like another.

Pure: text in, texts out. Writing is measured apart, because it waits for the disk (`fsync`).
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from inputs import LOCKED, Made, made
from measure import AT_LEAST, Figure, Skipped, Times, interleaved

from envspec import rules
from envspec.emit.outputs import outputs
from envspec.emit.publish import publish
from envspec.language.parse import parse
from envspec.language.resolve import resolve
from envspec.lock import file as lock_file
from envspec.lock.inputs import difference
from envspec.lock.spec_inputs import resolution_inputs
from envspec.plan.lower import lower

NAME = "compile_throughput"
ROUNDS = 7
BATCH = 40
# Of 17 locked packages of examples/x-transformers, 6 stand in the spec.
TYPICAL = LOCKED * 6 // 17


def figures(rounds: int | None) -> Iterator[Figure | Skipped]:
    """With as many packages stated as specs state, with every package stated, and writing."""
    with tempfile.TemporaryDirectory(prefix="envspec-bench.") as name:
        yield from _measured(Path(name), rounds or ROUNDS)


def _measured(folder: Path, rounds: int) -> Iterator[Figure]:
    few = [made(number, TYPICAL) for number in range(BATCH)]
    all_stated = [made(number, LOCKED) for number in range(BATCH, 2 * BATCH)]

    def written(pair: Made) -> None:
        files = compiled(pair)
        publish(folder / "out" / pair.source.name, files, frozenset(files))

    def writing() -> Times:
        shutil.rmtree(folder / "out", ignore_errors=True)
        return _batch(written, few)

    actions = {
        "few": lambda: _batch(compiled, few),
        "all": lambda: _batch(compiled, all_stated),
        "written": writing,
    }
    interleaved(actions, 1)
    times = interleaved(actions, rounds)
    for key, what, target in (
        ("few", f"{TYPICAL} of {LOCKED} locked stated, not written", 300.0),
        ("all", f"all {LOCKED} stated, not written", None),
        ("written", f"{TYPICAL} of {LOCKED} stated, written", None),
    ):
        rate, cpu = (BATCH / seconds for seconds in times[key])
        note = f"by processor time: {cpu:.0f} / s"
        yield Figure(f"compile, one process: {what}", rate, None, "/ s", AT_LEAST, target, note)


def compiled(pair: Made) -> dict[str, str]:
    """Everything `envspec compile` does between reading its files and writing them.

    The text objects are new each time, so nothing that they remember is reused.
    """
    source = type(pair.source)(pair.source.name, pair.source.text)
    spec = resolve(parse(source), source)
    rules.check(spec, source)
    lock = lock_file.loads(pair.lock.text, pair.lock)
    assert not difference(lock.inputs, resolution_inputs(spec))
    plan = lower(spec, lock, {}, lock.nixpkgs, source)
    return outputs(plan, source.text, pair.lock.text)


def _batch(action: Callable[[Made], object], pairs: list[Made]) -> Times:
    wall, cpu = time.perf_counter(), time.process_time()
    for pair in pairs:
        action(pair)
    return Times(time.perf_counter() - wall, time.process_time() - cpu)
