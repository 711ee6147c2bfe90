"""The paper's lesson in one repository: what is declared is not what is needed.

Downloads a CUDA build of torch (3 GB); run by `make test-heavy`, with the local engine.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.heavy, pytest.mark.network, pytest.mark.xdist_group("vision-mamba")]

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "vision-mamba"

# The example of the repository's own README, made smaller; `heads` is its own keyword.
OWN_EXAMPLE = """
import torch
from vision_mamba import Vim

model = Vim(dim=32, heads=8, dt_rank=8, dim_inner=32, d_state=16, num_classes=10,
            image_size=32, patch_size=16, channels=3, dropout=0.1, depth=1)
print(model(torch.randn(1, 3, 32, 32)).shape)
"""


def copy(folder: Path, *, without: tuple[str, ...] = (), script: str = "", lock: bool) -> Path:
    """The example in ``folder``, without some packages or with another entry."""
    lines = (EXAMPLE / "spec.env").read_text().splitlines(keepends=True)
    kept = [line for line in lines if line.split()[:1] not in [[name] for name in without]]
    spec = folder / "spec.env"
    spec.write_text("".join(kept))
    (folder / "forward.py").write_text(script or (EXAMPLE / "forward.py").read_text())
    if lock:
        (folder / "spec.lock").write_bytes((EXAMPLE / "spec.lock").read_bytes())
    return spec


def verify(spec: Path) -> tuple[int, dict[str, Any]]:
    """Verify with the local engine; the exit code and the report."""
    argv = [sys.executable, "-m", "envspec", "verify", str(spec), "--engine", "local"]
    argv += ["--format", "json", "--report", str(spec.with_name("report.json"))]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=3600)
    return done.returncode, json.loads(done.stdout)


def test_the_shipped_spec_holds_and_its_gpu_rungs_are_blocked(tmp_path: Path) -> None:
    code, report = verify(copy(tmp_path, lock=True))
    verdicts = {name: rung["verdict"] for name, rung in report["rungs"].items()}
    assert verdicts["c0_static"] == verdicts["c0_live"] == verdicts["c1"] == "pass"
    assert verdicts["c2_static"] == "pass"
    if not any(Path("/dev").glob("nvidia[0-9]*")):
        assert {verdicts[n] for n in ("c2_live", "c3", "c4")} == {"blocked"}
        assert {report["rungs"][n]["cause"] for n in ("c2_live", "c3", "c4")} == {"hardware"}
        assert code == 4
    assert report["scores"]["confirmed"] == report["scores"]["stated"] == 5


def test_what_is_declared_is_not_enough(tmp_path: Path) -> None:
    """Pyright finds nothing missing, and the import fails: only loading shows it."""
    spec = copy(tmp_path, without=("matplotlib", "datasets"), lock=False)
    code, report = verify(spec)
    assert report["rungs"]["c0_static"]["verdict"] == "pass"
    live = report["rungs"]["c0_live"]
    assert (live["verdict"], live["cause"]) == ("fail", "environment")
    assert "matplotlib" in live["reason"] or "datasets" in live["reason"]
    assert report["rungs"]["c1"]["cause"] == "environment"
    assert code == 1
    claims = {c["name"]: c["verdict"] for c in report["claims"]}
    assert claims["c0"] == claims["c1"] == "overclaim"


def test_packages_are_resolved_at_once(tmp_path: Path) -> None:
    """The huggingface-hub that datasets alone would take excludes the transformers of zetascale."""
    spec = copy(tmp_path, lock=False)
    wrong = "  zetascale ==2.8.8\n  huggingface-hub >=1\n"
    spec.write_text(spec.read_text().replace("  zetascale\n", wrong))
    argv = [sys.executable, "-m", "envspec", "lock", str(spec), "--format", "json"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 1
    finding = json.loads(done.stdout)["diagnostics"][0]
    assert finding["code"] == "E0405"
    assert "huggingface-hub" in json.dumps(finding)
    assert not (tmp_path / "spec.lock").exists()


def test_the_repositorys_own_example_is_the_repositorys_fault(tmp_path: Path) -> None:
    code, report = verify(copy(tmp_path, script=OWN_EXAMPLE, lock=True))
    rung = report["rungs"]["c1"]
    assert (rung["verdict"], rung["cause"]) == ("fail", "repository")
    assert "heads" in rung["reason"]
    assert code == 1
