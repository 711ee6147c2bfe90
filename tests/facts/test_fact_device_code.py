"""NVIDIA's rules on which GPU runs which code."""

from __future__ import annotations

import pytest

from envspec.facts.device_code import Sm, arch, binary_runs_on, parse_sm, torch_runs_on
from envspec.facts.lookup import torch_build


@pytest.mark.parametrize("text", ["9.0a", "90a", "sm_90a", "compute_90a"])
def test_spellings_of_an_sm(text: str) -> None:
    assert parse_sm(text) == Sm(9, 0, "a")


@pytest.mark.parametrize("text", ["", "9", "sm_", "sm90", "9.00", "90b", "9.0A", " 9.0", "9.0\n"])
def test_what_is_not_an_sm(text: str) -> None:
    assert parse_sm(text) is None
    assert arch(text) is None
    assert binary_runs_on(["9.0"], ["9.0"], text) is None


def test_three_digits_are_two_and_one() -> None:
    assert parse_sm("sm_120") == Sm(12, 0)
    assert parse_sm("103f") == Sm(10, 3, "f")


@pytest.mark.parametrize(
    ("sass", "ptx", "sm", "answer"),
    [
        (["9.0"], [], "12.0", False),
        (["8.6"], [], "8.9", True),
        (["8.9"], [], "8.6", False),
        (["8.0"], [], "9.0", False),
        (["sm_120"], [], "12.1", True),
        (["9.0a"], [], "9.0", True),
        (["10.0a"], [], "10.3", False),
        (["10.0f"], [], "10.3", True),
        (["10.3f"], [], "10.0", False),
        (["10.0f"], [], "12.0", False),
        ([], ["8.0"], "12.0", True),
        ([], ["12.0"], "9.0", False),
        ([], ["9.0a"], "10.0", False),
        ([], ["9.0a"], "9.0", True),
        ([], ["10.0f"], "10.3", True),
        ([], ["10.0f"], "12.0", False),
        ([], [], "8.0", False),
        (["7.0"], ["7.0"], "12.0", True),
        # What is not known is not answered.
        (["7.5"], None, "12.0", None),
        (["8.0"], None, "8.6", True),
        (["gfx90a"], [], "9.0", None),
        (["gfx90a", "9.0"], [], "9.0", True),
        # Tegra parts: exact code runs, anything else is unpromised.
        (["8.0"], [], "8.7", None),
        (["8.7"], [], "8.7", True),
        (["8.7"], [], "8.9", None),
        (["8.0"], ["8.0"], "8.7", True),
    ],
)
def test_binary_rules(sass: list[str], ptx: list[str] | None, sm: str, answer: bool | None) -> None:
    assert binary_runs_on(sass, ptx, sm) is answer


@pytest.mark.parametrize(
    ("release", "build", "sm", "answer"),
    [
        ("2.13.0", "cu126", "12.0", False),  # no Blackwell
        ("2.13.0", "cu126", "7.0", True),
        ("2.13.0", "cu130", "7.0", False),  # no Volta
        ("2.13.0", "cu130", "6.0", False),
        ("2.11.0", "cu128", "7.0", False),
        ("2.13.0", "cu130", "11.0", None),  # whether it has PTX is not known
        ("2.13.0", "cu130", "12.0", True),
        ("2.13.0", "cu130", "8.9", True),
        ("2.13.0", "cpu", "8.0", False),
        ("2.7.1", None, "12.0", False),  # the default wheel before 2.8
        ("2.7.1", "cu128", "12.0", True),
        ("2.7.1", "cu128", "13.0", True),  # through PTX
        ("2.15.0", None, "8.0", None),
    ],
)
def test_torch_builds_on_gpus(
    release: str, build: str | None, sm: str, answer: bool | None
) -> None:
    row = torch_build(release, build)
    assert row is not None
    assert torch_runs_on(row, sm) is answer


def test_toolkits_of_an_arch() -> None:
    volta, blackwell, hopper = arch("sm_70"), arch("12.0"), arch("9.0a")
    assert volta is not None
    assert blackwell is not None
    assert hopper is not None
    assert (volta.first_toolkit, volta.last_toolkit) == ("9.0", "12.9")
    assert (blackwell.first_toolkit, blackwell.last_toolkit) == ("12.8", None)
    assert hopper.first_toolkit == "12.0"
    assert arch("99.0") is None
    assert arch("8.0a") is None
