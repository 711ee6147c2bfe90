"""Only one well-formed line of the right probe with the right nonce is a result."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envspec.build.protocol import Completed
from envspec.verify.results import read

NONCE = "4f" * 16


def line(**changes: object) -> bytes:
    data = {"envspec_result": 1, "probe": "c1", "nonce": NONCE, "observed": {"exit_code": 0}}
    return b"ENVSPEC-RESULT " + json.dumps({**data, **changes}).encode() + b"\n"


def completed(stdout: bytes, **changes: object) -> Completed:
    whole = Completed(0, None, False, False, stdout, b"", False, 1.5)
    return whole._replace(**changes)  # type: ignore[arg-type]


def test_a_result_is_read() -> None:
    seen = read(completed(b"noise\n" + line()), "c1", NONCE)
    assert seen.usable
    assert seen.observed == {"exit_code": 0}


@pytest.mark.parametrize(
    ("stdout", "changes", "said"),
    [
        (b"", {}, "no result"),
        (line() + line(), {}, "2 result lines"),
        (b" " + line(), {}, "no result"),
        (b"ENVSPEC-RESULT {\n", {}, "not JSON"),
        (b"ENVSPEC-RESULT []\n", {}, "unknown shape"),
        (line(envspec_result=2), {}, "unknown shape"),
        (line(nonce="00"), {}, "forged"),
        (line(nonce=None), {}, "forged"),
        (line(probe="c0_live"), {}, "forged"),
        (line(observed=None), {}, "no observation"),
        (line(observed=[1]), {}, "no observation"),
        (line(), {"exit_code": 70}, "broke"),
        (line(), {"exit_code": 1}, "broke"),
        (line(), {"timed_out": True, "exit_code": None}, "killed after"),
        (line(), {"signal": 9, "exit_code": None}, "signal 9"),
        (line(), {"out_of_memory": True}, "memory"),
        (b"ENVSPEC-RESULT " + b"[" * 200_000 + b"\n", {}, "not JSON"),
    ],
)
def test_everything_else_is_an_error(stdout: bytes, changes: dict[str, object], said: str) -> None:
    seen = read(completed(stdout, **changes), "c1", NONCE)
    assert not seen.usable
    assert seen.observed == {}
    assert said in seen.error


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=300), st.integers(0, 400))
def test_no_output_without_the_nonce_is_usable(noise: bytes, cut: int) -> None:
    """Random, truncated and forged outputs are never a result."""
    forged = line(nonce="11" * 16)
    for stdout in (noise, noise + b"\n" + forged, line()[: min(cut, len(line()) - 2)]):
        assert not read(completed(stdout), "c1", NONCE).usable
