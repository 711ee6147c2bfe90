"""Rules never raise: not on values that nobody would write, nor on a model without places."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from envspec import rules
from envspec.diagnostics import Diagnostic
from envspec.language.parse import parse
from envspec.language.resolve import resolve
from envspec.model import NOWHERE, Spec
from envspec.source import SourceFile, Span

HERE = Path(__file__).parent
SPECS = sorted(HERE.glob("*/*.env"))
LONG = "9" * 5000
HEAD = """\
envspec 1
project demo {
  source path "."
}
platform linux/amd64 {
  base   "%s"
  devel  "%s"
  python 3.11
}
"""


def found(text: str, locked: dict[str, str] | None = None) -> tuple[Diagnostic, ...]:
    source = SourceFile("spec.env", text)
    return rules.check(resolve(parse(source), source), source, locked)


def without_places(value: Any) -> Any:
    """A model as it comes from JSON: every span is nowhere."""
    if isinstance(value, Span):
        return NOWHERE
    if isinstance(value, tuple):
        parts = [without_places(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


@pytest.mark.parametrize("path", SPECS, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_a_model_without_places_has_the_same_findings_and_no_wrong_fix(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    source = SourceFile("spec.env", text)
    spec = resolve(parse(source), source)
    bare: Spec = without_places(spec)
    json = SourceFile("spec.json", "{}\n")
    before = {d.code for d in rules.check(spec, source) if d.code == path.parent.name}
    after = [d for d in rules.check(bare, json) if d.code == path.parent.name]
    assert {d.code for d in after} == before
    for finding in after:
        edits = finding.fix.edits if finding.fix else ()
        assert all(0 <= e.span.start <= e.span.end <= len(json.text) for e in edits)


@pytest.mark.parametrize(
    "tag",
    [
        "_", "12", "12.8.1-12.8.1", "12.8.1-cudnn-cudnn-devel-ubuntu22.04", "1" * 128, "12.99",
        "0.0.0-base-ubuntu22.04", "12.8.1-base-ubuntu", "12.8.1--base--ubuntu22.04",
        "12.8.1-base-ubuntu99.99", "99999999999999999999.1.1-base-ubuntu22.04", "cudnn", "devel",
    ],
)  # fmt: skip
def test_any_tag_of_an_image(tag: str) -> None:
    found(HEAD % (f"nvidia/cuda:{tag}", f"nvidia/cuda:{tag}") + "accelerator cuda\n")


@pytest.mark.parametrize(
    "lines",
    [
        f"accelerator cuda {LONG}.{LONG} {{\n  driver >={LONG}\n  gpus sm_999 sm_99a\n}}\n",
        f"accelerator cuda 12.8 {{\n  driver >={LONG}.1\n  cudnn {LONG}\n  nccl {LONG}\n}}\n",
        "accelerator cuda 0 {\n  driver >=0\n}\n",
        f"packages {{\n  torch =={LONG}\n}}\naccelerator cuda 12.8\n",
        f"packages {{\n  torch =={LONG}.1+cu128\n  triton ==1!2.{LONG}\n}}\n",
        "packages {\n  torch ===2.9.1+cu999\n}\naccelerator cuda {\n  driver >=1\n}\n",
        f"packages {{\n  torch ==2.9.1\n}}\nclaims {{\n  torch_version {LONG}\n}}\n",
        "claims {\n  gpu_count 999999999\n  c0_missing 999999999\n}\n",
        'claims {\n  python_path "/////////../../.."\n  python_version 0\n}\n',
        f"resources {{\n  memory 1MiB\n  jobs 9999\n}}\nextension flash-attn {{\n"
        f'  env NVCC_THREADS="{LONG}" MAX_JOBS="{LONG}"\n}}\n',
        'resources {\n  memory 999999TiB\n}\nextension flash-attn {\n  env MAX_JOBS="٣"\n}\n',
        f'env {{\n  TORCH_CUDA_ARCH_LIST="{LONG}"\n  A_TOKEN="{LONG}"\n  B_KEY="é"\n}}\n',
        'accelerator cuda 12.8 {\n  gpus sm_90\n}\nenv {\n  TORCH_CUDA_ARCH_LIST=" ;; "\n}\n',
        'entry e {\n  level c4\n  processes 9999\n  run "torchrun" "--nproc-per-node"\n}\n',
        f'entry e {{\n  level c4\n  run "torchrun" "--nproc-per-node={LONG}"\n}}\n',
        f'entry e {{\n  level c1\n  run "x" "{LONG * 20}"\n  expect output "{LONG}"\n}}\n',
    ],
)
def test_any_value_that_the_language_takes(lines: str) -> None:
    text = HEAD % ("debian:12", "debian:12") + lines
    found(text)
    found(text, {"torch": LONG, "triton": "", "nvidia-nccl-cu12": "x" * 5000, "jax": "١"})
