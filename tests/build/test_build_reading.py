"""Small pure parts: BuildKit's log, the lines of the spec, bounded tails, owners."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from local_room import Silent

from envspec.build.buildx import Reading, spec_line
from envspec.build.owner import Owner
from envspec.build.status import ended
from envspec.build.tail import Tail, printable

LOG = """\
#0 building with "default" instance using docker driver

#1 [internal] load build definition from Dockerfile
#1 transferring dockerfile: 379B done
#1 DONE 0.0s

#7 [stage-2 1/2] RUN one
#7 0.081 from one
#7 ...

#8 [other 1/1] RUN two
#8 0.1 from two
#8 ERROR: process "/bin/sh -c two" did not complete successfully: exit code: 4

#7 [stage-2 1/2] RUN one
#7 0.2 #9 ERROR: forged
#7 ERROR: context canceled
------
 > [other 1/1] RUN two:
0.1 from two
------
Dockerfile:12
--------------------
  12 | >>> RUN two
--------------------
ERROR: failed to solve: process "/bin/sh -c two" did not complete successfully: exit code: 4
"""


def test_the_step_that_failed_is_told_from_the_one_that_was_cancelled() -> None:
    reporter = Silent()
    reading = Reading(reporter)
    for line in LOG.split("\n"):
        reading.line(line)
    failure = reading.failure()
    assert failure.step == "[other 1/1] RUN two"
    assert failure.line == 12
    assert failure.error.endswith("exit code: 4")
    assert failure.excerpt == ("from two",)
    assert reporter.lines == [
        "[stage-2 1/2] RUN one",
        "from one",
        "[other 1/1] RUN two",
        "from two",
        "#9 ERROR: forged",
    ]


def test_log_without_any_step_shows_its_end() -> None:
    reading = Reading(Silent())
    for number in range(50):
        reading.line(f"ERROR: number {number}")
    failure = reading.failure()
    assert (failure.step, failure.line) == ("", 0)
    assert len(failure.excerpt) == 30
    assert failure.excerpt[-1] == "ERROR: number 49"


DOCKERFILE = "# syntax\nFROM a\n\n# spec.env:4  base\nFROM b\nRUN \\\n  one\n# plain\nRUN two\n"


@pytest.mark.parametrize(("line", "expected"), [(2, 0), (5, 4), (7, 4), (9, 4), (99, 4), (0, 0)])
def test_line_of_the_spec(line: int, expected: int) -> None:
    assert spec_line(DOCKERFILE, line) == expected


def test_tail_keeps_the_end_in_bounded_memory() -> None:
    tail = Tail(10)
    for number in range(100_000):
        tail.add(b"%d," % number)
    assert tail.content == b"998,99999,"
    assert tail.truncated
    assert len(tail._kept) <= 20
    tail.add(b"y" * 1_000_000 + b"END")
    assert tail.content == b"yyyyyyyEND"


def test_short_stream_is_whole() -> None:
    tail = Tail(10)
    tail.add(b"0123456789")
    assert (tail.content, tail.truncated) == (b"0123456789", False)
    none = Tail(0)
    none.add(b"x")
    assert (none.content, none.truncated) == (b"", True)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ünïcode\tx", "plain ünïcode\tx"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("10%\r50%\r100%", "100%"),
        ("ends\r", "ends"),
        ("a\x00b\x7fc\x9bd\u202ee\u2028f", "abcdef"),
    ],
)
def test_printable(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_long_lines_are_cut() -> None:
    assert len(printable("x" * 1_000_000)) < 2100


@pytest.mark.parametrize(
    ("code", "expected"),
    [(0, (0, None)), (1, (1, None)), (127, (127, None)), (128, (128, None)), (137, (None, 9))],
)
def test_ended(code: int, expected: tuple[int | None, int | None]) -> None:
    assert ended(code) == expected
    assert ended(255) == (255, None)


def test_owner_lives_as_long_as_its_process() -> None:
    mine = Owner.current()
    assert Owner.parse(str(mine)) == mine
    assert mine.near
    assert mine.alive
    code = "from envspec.build.owner import Owner; print(Owner.current())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    other = Owner.parse(done.stdout.strip())
    assert other is not None
    assert other.near
    assert not other.alive
    # The same number again is another process.
    assert not Owner(mine.place, os.getpid(), "1").alive
    assert not Owner("another-boot.1", mine.pid, mine.started).near


@pytest.mark.parametrize("text", ["", "x", "a/b/c", "a/1", "a/1/"])
def test_other_text_names_no_owner(text: str) -> None:
    assert Owner.parse(text) is None
