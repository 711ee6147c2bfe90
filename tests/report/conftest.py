"""Reports that several modules look at; nobody changes them."""

from __future__ import annotations

from pathlib import Path

import pytest
from report_room import ENTRY, GOOD, IDENTITY, TORCH, Made, ended, make

from envspec.build.protocol import Difference, Rebuilt


@pytest.fixture(scope="session")
def good(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Everything passed."""
    return make(tmp_path_factory.mktemp("good"))


@pytest.fixture(scope="session")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A rung failed, two are blocked, a claim is a lie, two builds differ."""
    broken = {**GOOD, "identity": {**IDENTITY, "torch": TORCH}, "c1_entry": ended(3)}
    rebuilt = Rebuilt(
        ("sha256:" + "1" * 64, "sha256:" + "2" * 64),
        (Difference("lib/made.py", "content", 22), Difference("lib/more.py", "time", 0)),
        3.25,
    )
    return make(tmp_path_factory.mktemp("bad"), broken, example="vision-mamba", rebuilt=rebuilt)


@pytest.fixture(scope="session")
def reports(good: Made, bad: Made, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Made]:
    """Reports of every kind, by name."""

    def room(name: str) -> Path:
        return tmp_path_factory.mktemp(name)

    torch = {**GOOD, "identity": {**IDENTITY, "torch": TORCH}}
    return {
        "good": good,
        "bad": bad,
        "torch": make(room("torch"), torch, example="x-transformers", immutable=True),
        "liar": make(room("liar"), {**GOOD, "c1_entry": {**ENTRY, "exit_code": 1}}),
        "slow": make(room("slow"), {**GOOD, "identity": ended(0, timed_out=True)}),
        "silent": make(room("silent"), {**GOOD, "c0_static": ended(0)}),
        "gpus": make(
            room("gpus"),
            {**torch, "c3_kernel": ended(1), "c4_collective": ended(1)},
            example="vision-mamba",
            gpus=2,
        ),
    }
