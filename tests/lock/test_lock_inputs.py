"""A stale lock says what changed, in sentences."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from envspec.lock.inputs import difference


def test_changed_added_removed() -> None:
    lock = (("python", "3.11"), ("package torch", "==2.12.0"), ("package loguru", ""))
    spec = (
        ("python", "3.11"),
        ("package torch", "==2.13.0"),
        ("package einx", ">=0.3"),
        ("package tqdm", ""),
    )
    assert difference(lock, spec) == (
        "package torch: lock has ==2.12.0, the spec says ==2.13.0",
        "package einx: the spec has it (>=0.3), the lock does not",
        "package tqdm: the spec has it, the lock does not",
        "package loguru: the lock has it, the spec no longer does",
    )


def test_a_dropped_condition_is_named() -> None:
    assert difference((("package a", ">=1"),), (("package a", ""),)) == (
        "package a: lock has >=1, the spec says no condition",
    )


pairs = st.lists(
    st.tuples(st.sampled_from(["python", "base", "package a"]), st.sampled_from(["", "1", "2"]))
)


@settings(deadline=None)
@given(pairs.map(tuple), st.randoms())
def test_order_means_nothing(inputs: tuple[tuple[str, str], ...], random: object) -> None:
    shuffled = list(inputs)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert difference(inputs, tuple(shuffled)) == ()


@settings(deadline=None)
@given(pairs.map(tuple), pairs.map(tuple))
def test_every_difference_is_said(
    lock: tuple[tuple[str, str], ...], spec: tuple[tuple[str, str], ...]
) -> None:
    assert (difference(lock, spec) == ()) == (sorted(lock) == sorted(spec))
