"""Twelve specs that lie and twelve that do not, each built and verified in the real engine.

12 of 12 lies must be caught with the right class, 0 of 12 honest specs accused.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from honesty.variants import Variant, verify, write

pytestmark = pytest.mark.engine

BROKEN = "import x_transformers\nx_transformers.TransformerWrapper(no_such_option=1)\n"
SLOW = "import time\ntime.sleep(600)\n"
ONLINE = """
import urllib.request
urllib.request.urlopen("http://198.51.100.1/model.bin", timeout=5)
"""
WANDB = {"x_transformers/logging.py": "import wandb\n"}
YAML = {"x_transformers/config.py": "import yaml\n"}


class Lie(NamedTuple):
    """A variant, the claim that is not so, and the class it must be caught with."""

    variant: Variant
    claim: str
    verdict: str


LIES = {
    "wrong torch release": Lie(Variant({"torch_version": "2.12.0"}), "torch_version", "mismatch"),
    "another build of torch": Lie(
        Variant({"torch_version": "2.13.0+cu130"}), "torch_version", "mismatch"
    ),
    "another Python": Lie(Variant({"python_version": "3.12"}), "python_version", "mismatch"),
    "a path that does not exist": Lie(
        Variant({"python_path": '"/opt/venv/bin/python"'}), "python_path", "mismatch"
    ),
    "the system's Python": Lie(
        Variant({"python_path": '"/usr/bin/python3"'}), "python_path", "mismatch"
    ),
    "CUDA over a CPU build": Lie(
        Variant({"cuda_available": "true"}), "cuda_available", "overclaim"
    ),
    "two GPUs over a CPU build": Lie(Variant({"gpu_count": "2"}), "gpu_count", "overclaim"),
    "a kernel without an accelerator": Lie(Variant({"c3": "pass"}), "c3", "overclaim"),
    "C1 with a broken entry": Lie(Variant({"c1": "pass"}, script=BROKEN), "c1", "overclaim"),
    "C1 with an entry that never ends": Lie(
        Variant({"c1": "pass"}, script=SLOW, timeout="4s"), "c1", "overclaim"
    ),
    "nothing missing, and something is": Lie(
        Variant({"c0_missing": "0"}, added=WANDB), "c0_missing", "overclaim"
    ),
    "C0 with only a stub of a package": Lie(Variant({"c0": "pass"}, added=YAML), "c0", "overclaim"),
}

HONEST = {
    "everything true": Variant(
        {
            "python_path": '"/opt/env/bin/python"',
            "python_version": "3.11",
            "torch_version": "2.13.0+cpu",
            "cuda_available": "false",
            "gpu_count": "0",
            "c0_missing": "0",
            "c0": "pass",
            "c1": "pass",
            "c2": "pass",
        }
    ),
    "nothing stated": Variant({}),
    "an import that is declared optional": Variant(
        {"c0": "pass", "c0_missing": "0"}, added=WANDB, optional=("wandb",)
    ),
    "a release without its build": Variant({"torch_version": "2.13.0"}),
    "another name of the interpreter": Variant({"python_path": '"/opt/env/bin/python3"'}),
    "an honest failure": Variant({"c1": "fail"}, script=BROKEN),
    "a failure that is not stated": Variant({"c0": "pass"}, script=BROKEN),
    "an honest time-out": Variant({"c1": "fail"}, script=SLOW, timeout="4s"),
    "an honest missing import": Variant({"c0_missing": "1", "c0": "fail"}, added=WANDB),
    "an honest stub": Variant({"c0_missing": "1", "c0": "fail"}, added=YAML),
    "too modest": Variant({"c1": "fail"}),
    "an entry that needs the network": Variant({"c1": "pass"}, script=ONLINE),
}

# What the honest ones end with, where that is not a pass: (exit code, verdicts of claims).
ENDINGS: dict[str, tuple[int, dict[str, str]]] = {
    "an honest failure": (1, {"c1": "confirmed"}),
    "a failure that is not stated": (1, {"c0": "confirmed", "c1": "unstated"}),
    "an honest time-out": (1, {"c1": "confirmed"}),
    "an honest missing import": (1, {"c0_missing": "confirmed", "c0": "confirmed"}),
    "an honest stub": (1, {"c0_missing": "confirmed", "c0": "confirmed"}),
    "too modest": (0, {"c1": "underclaim"}),
    "an entry that needs the network": (1, {"c1": "inconclusive"}),
}


@pytest.mark.parametrize("name", LIES)
def test_a_lie_is_caught(name: str, tmp_path: Path, sdist: Path, engine_host: str) -> None:
    lie = LIES[name]
    code, report, _ = verify(write(lie.variant, tmp_path, sdist), "docker")
    claim = next(c for c in report["claims"] if c["name"] == lie.claim)
    assert claim["verdict"] == lie.verdict, claim
    assert code == 1
    assert report["scores"]["overclaims"] + report["scores"]["mismatches"] == 1
    assert report["verdict"] == "fail"


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_spec_is_not_accused(
    name: str, tmp_path: Path, sdist: Path, engine_host: str
) -> None:
    variant = HONEST[name]
    code, report, _ = verify(write(variant, tmp_path, sdist), "docker")
    scores = report["scores"]
    assert (scores["overclaims"], scores["mismatches"]) == (0, 0), report["claims"]
    stated = {k: v for k, v in variant.claims.items() if v != "unstated"}
    assert scores["stated"] == len(stated)
    expected_code, verdicts = ENDINGS.get(name, (0, dict.fromkeys(stated, "confirmed")))
    seen = {c["name"]: c["verdict"] for c in report["claims"] if c["name"] in verdicts}
    assert seen == verdicts
    assert code == expected_code, report["rungs"]


def test_guarded_and_optional_imports_are_listed_apart(
    tmp_path: Path, sdist: Path, engine_host: str
) -> None:
    """flash_attn stands under a guard in attend.py; wandb is declared. Neither is hidden."""
    variant = Variant({}, added=WANDB, optional=("wandb",))
    _, report, _ = verify(write(variant, tmp_path, sdist), "docker")
    details = report["rungs"]["c0_static"]["details"]
    assert (details["guarded"], details["optional"]) == (["flash_attn"], ["wandb"])
    assert details["missing"] == 0
    assert "flash_attn" in details["researchenvbench_missing"]


def test_causes_are_told_apart(tmp_path: Path, sdist: Path, engine_host: str) -> None:
    """A wrong call of the repository's own code is the repository's fault, not the spec's."""
    _, report, _ = verify(write(Variant({}, script=BROKEN), tmp_path, sdist), "docker")
    assert report["rungs"]["c1"]["cause"] == "repository"
    assert "no_such_option" in report["rungs"]["c1"]["reason"]
