"""C3 and C4: the failing stage and the failing rank are named, whatever happens to them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from probe_host import Probe

STAGES = ("import", "context", "matmul", "backward")


@pytest.fixture
def fake(tmp_path: Path) -> tuple[str, Path]:
    """An interpreter whose ``torch`` is written by the test."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path)], check=True)
    site = next(tmp_path.glob("lib/python*/site-packages"))
    return str(tmp_path / "bin" / "python"), site


def test_neither_framework(probe: Probe, fake: tuple[str, Path]) -> None:
    observed = probe("c3_kernel", python=fake[0])
    assert observed["ok"] is False
    assert observed["stages"]["import"]["error"]["type"] == "NoFramework"
    assert observed["stages"]["backward"]["error"]["type"] == "NotReached"


@pytest.mark.parametrize(
    ("text", "stage", "error"),
    [
        ("raise ImportError('libcudart.so.12')", "import", "ImportError"),
        ("import os; os._exit(0)", "import", "Exit"),
        ("import ctypes; ctypes.string_at(0)", "import", "Crash"),
        ("__version__ = '1'\nimport os\nclass cuda:\n  init = os.abort", "context", "Crash"),
        ("__version__ = '1'\nclass cuda:\n  def init(): exit()", "context", "SystemExit"),
        ("__version__ = '1'\nimport time\nclass cuda:\n  def init(): time.sleep(99)", "context",
         "Timeout"),
    ],
)  # fmt: skip
def test_the_failing_stage_bears_the_blame(
    probe: Probe, fake: tuple[str, Path], text: str, stage: str, error: str
) -> None:
    (fake[1] / "torch.py").write_text(text)
    stages = probe("c3_kernel", python=fake[0], seconds=5)["stages"]
    assert stages[stage]["error"]["type"] == error
    after = STAGES[STAGES.index(stage) + 1 :]
    assert [stages[s]["error"]["type"] for s in after] == ["NotReached"] * len(after)
    assert all(stages[s]["ok"] for s in STAGES[: STAGES.index(stage)])


def test_kernels_of_a_real_torch(probe: Probe, torch_python: str) -> None:
    observed = probe("c3_kernel", python=torch_python, device="cpu", seconds=100)
    assert observed["ok"] is True, observed["stages"]
    assert observed["framework"] == "torch"
    assert observed["device_name"] == "cpu"
    assert 0 < observed["stages"]["matmul"]["difference"] < 1e-3


def test_a_device_that_is_not_there_fails_in_context(probe: Probe, torch_python: str) -> None:
    environment = {"CUDA_VISIBLE_DEVICES": ""}
    observed = probe("c3_kernel", python=torch_python, environment=environment, seconds=100)
    assert observed["stages"]["import"]["ok"] is True
    assert observed["stages"]["context"]["ok"] is False
    assert observed["stages"]["matmul"]["error"]["type"] == "NotReached"


def test_an_all_reduce_over_gloo(probe: Probe, torch_python: str) -> None:
    config = {"python": torch_python, "backend": "gloo", "processes": 3, "seconds": 100}
    observed = probe("c4_collective", **config)
    assert observed["ok"] is True, observed["ranks"]
    assert [r["value"] for r in observed["ranks"]] == [6.0, 6.0, 6.0]
    assert observed["hung"] == []


def test_nccl_without_gpus_fails_and_does_not_hang(probe: Probe, torch_python: str) -> None:
    environment = {"CUDA_VISIBLE_DEVICES": ""}
    config = {"python": torch_python, "backend": "nccl", "environment": environment}
    observed = probe("c4_collective", **config, seconds=100)
    assert observed["ok"] is False
    assert [r["stage"] for r in observed["ranks"]] == ["device", "device"]


def test_a_rank_that_hangs_is_named(probe: Probe, fake: tuple[str, Path]) -> None:
    text = "import sys, time\n__version__ = '1'\nif sys.argv[2] == '1': time.sleep(600)\n"
    (fake[1] / "torch.py").write_text(text + "raise SystemExit(3) if 0 else OSError('dead')")
    observed = probe("c4_collective", python=fake[0], backend="gloo", seconds=3)
    assert observed["ranks"][0]["error"] == {"type": "OSError", "message": "dead"}
    assert observed["hung"] == [1]
    assert "in stage import" in observed["ranks"][1]["error"]["message"]


def test_ranks_that_wait_for_a_dead_one_are_let_go(probe: Probe, fake: tuple[str, Path]) -> None:
    text = "import os, sys, time\nif sys.argv[2] == '0': os._exit(7)\ntime.sleep(600)\n"
    (fake[1] / "torch.py").write_text(text)
    observed = probe("c4_collective", python=fake[0], backend="gloo", processes=3, seconds=500)
    kinds = [r["error"]["type"] for r in observed["ranks"]]
    assert kinds == ["Exit", "Stopped", "Stopped"]


@pytest.mark.parametrize(
    "change", [{"backend": "mpi"}, {"processes": 0}, {"processes": 1000}, {"backend": 3}]
)
def test_a_configuration_that_makes_no_sense(probe: Probe, change: dict[str, object]) -> None:
    config = {"python": sys.executable, "backend": "gloo", **change}
    assert probe("c4_collective", raw=True, **config)["error"]["type"] == "BadConfig"
