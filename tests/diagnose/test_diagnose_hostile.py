"""Logs are hostile: endless, one endless line, full of escapes, made to make patterns slow."""

from __future__ import annotations

import re
import string
import time

import pytest
from failure_shapes import category, diagnosed

from envspec.diagnose import engine, log, mends
from envspec.diagnose.categories import CATEGORIES
from envspec.facts import failures, tables
from envspec.facts.failure_rows import RemovedName, Sign
from envspec.resources import page
from envspec.rules.shared import patterns

SIGNS = tables.rows(Sign)
BROKEN = b"ModuleNotFoundError: No module named 'einops'\n"


@pytest.mark.parametrize("sign", SIGNS, ids=lambda s: s.name)
def test_each_row_of_the_table_is_whole(sign: Sign) -> None:
    assert sign.category in CATEGORIES
    assert 1 <= sign.weight <= 4
    assert sign.at in {None, "needle"}
    assert sign.frame in {None, "library", "repository"}
    assert sign.mend is None or sign.mend in mends.NAMES
    assert sign.cause in {
        None,
        "environment",
        "repository",
        "asset",
        "hardware",
        "network",
        "harness",
    }
    for code in sign.rules or ():
        assert page(code).title
    if sign.pattern is None:
        assert sign.needles is None
        return
    assert sign.needles
    fields = {name for _, name, _, _ in string.Formatter().parse(sign.because) if name}
    assert fields <= {*re.compile(sign.pattern).groupindex, "before"}


@pytest.mark.parametrize("sign", [s for s in SIGNS if s.pattern], ids=lambda s: s.name)
def test_no_pattern_repeats_without_a_bound(sign: Sign) -> None:
    bare = re.sub(r"\\.|\[(?:\\.|[^\]])*\]", "x", sign.pattern or "")
    assert not re.search(r"[*+]|,\}", bare), bare
    assert patterns.read(sign.pattern or "").nested == ""


def test_a_pattern_that_repeats_without_a_bound_would_be_found() -> None:
    bare = re.sub(r"\\.|\[(?:\\.|[^\]])*\]", "x", r"a\+[x+]{1,3}.*b")
    assert re.search(r"[*+]|,\}", bare)


@pytest.mark.parametrize("sign", [s for s in SIGNS if s.pattern], ids=lambda s: s.name)
def test_each_pattern_is_quick_on_a_line_made_for_it(sign: Sign) -> None:
    pattern = re.compile(sign.pattern or "")
    for needle in sign.needles or ():
        for filler in ("a", " ", needle, "a.", "/a", "1", "(", "'"):
            line = (needle + filler * log.WIDEST)[: log.WIDEST]
            begun = time.perf_counter()
            pattern.match(line)
            assert time.perf_counter() - begun < 0.15, (needle, filler)


HOSTILE = {
    "one line": b"a" * (8 << 20),
    "no end of needles": b"No module named undefined symbol: _ZN3c10 version `GLIBC_2 " * 40_000,
    "brackets": b"[" * (2 << 20),
    "escapes": b"\x1b[" + b"0;" * (1 << 20),
    "blanks": b" " * (2 << 20),
    "short lines": b"E\n" * (1 << 19),
    "headers": b"Traceback (most recent call last):\n" * 40_000,
    "frames": b'  File "/a/b.py", line 1, in x\n' * 40_000,
    "bars": b"\r" * (1 << 20),
    "prefixes": b"ERROR: " * (1 << 17),
    "bytes": bytes(range(256)) * 4096,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_logs_take_no_time(name: str) -> None:
    begun = time.perf_counter()
    engine.diagnose(log.read("log", HOSTILE[name]))
    assert time.perf_counter() - begun < 12


def test_the_end_of_a_log_that_is_too_long_is_looked_at_and_its_lines_keep_their_numbers() -> None:
    data = b"line\n" * 600_000 + BROKEN
    found = engine.diagnose(log.read("log", data)).found
    assert found is not None
    assert found.evidence is not None
    assert found.evidence.line == 600_001
    middle = b"line\n" * 200_000 + BROKEN + b"line\n" * 400_000
    assert engine.diagnose(log.read("log", middle)).found is None
    assert log.read("log", middle).left_out > 100_000


def test_a_line_is_cut_and_escapes_are_not_kept() -> None:
    line = log.line(1, "\x1b[31mImportError\x1b[0m: " + "x" * 9000)
    assert line.exceptions == ("ImportError",)
    assert len(line.raw) <= log.WIDEST
    assert "\x1b" not in line.body


def test_conflicting_signs_of_one_strength_are_uncertain() -> None:
    sandbox = "bwrap: setting up uid map: Permission denied"
    outcome = diagnosed(f"{sandbox}\nnvcc fatal   : Unsupported gpu architecture 'compute_120'")
    assert outcome.found is None
    assert {c.category for c in outcome.candidates} == {"harness", "architecture"}


def raised(exception: str) -> str:
    return f'Traceback (most recent call last):\n  File "/w/a.py", line 1, in f\n{exception}\n'


def test_what_ended_the_program_beats_what_it_survived() -> None:
    caught = raised("ImportError: libGL.so.1: cannot open shared object file: No such file")
    ended = raised("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB")
    assert category(caught + "trying without it\n" + ended) == "memory"
    assert category(caught) == "undeclared"
    assert category(caught + "Successfully installed it\n") == ""
    optional = raised("ModuleNotFoundError: No module named 'einops'")
    full = raised("OSError: [Errno 28] No space left on device")
    assert category(optional + "trying without it\n" + full) == "harness"


def test_removed_names_are_found_through_their_parents() -> None:
    assert {row.name for row in tables.rows(RemovedName)} >= {"numpy.float", "torch._six"}
    row = failures.removed_name("torch._six.moves")
    assert row is not None
    assert (row.distribution, row.below) == ("torch", "2.0")
    assert failures.removed_name("torch") is None
    library = failures.system_library("libGL.so.1")
    assert library is not None
    assert library.package == "libgl1"
