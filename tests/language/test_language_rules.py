"""Rules over a resolved spec: for each, what it lets pass and what it finds."""

from __future__ import annotations

import pytest
from language_findings import SPEC, of_rules, read

from envspec import rules
from envspec.diagnostics import ERROR, WARNING
from envspec.source import SourceFile

CUDA = "accelerator cuda 12.8\n"
CPU_TORCH = "packages {\n  torch ==2.9.1+cpu from pytorch-cpu\n}\n"
CUDA_TORCH = CUDA + "packages {\n  torch ==2.9.1+cu128 from pytorch-cu128\n}\n"
ENTRY = 'entry a {\n  level c1\n  run "x"\n}\n'


def claims(*lines: str) -> str:
    return "claims {\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


@pytest.mark.parametrize(
    "extra",
    [
        "",
        CPU_TORCH + claims("cuda_available false", "gpu_count 0", "torch_version 2.9.1+cpu"),
        CPU_TORCH + claims("cuda_available unstated", "c4 fail", "c3 fail"),
        CUDA_TORCH + claims("cuda_available true", "gpu_count 8", "c3 pass", "c4 pass"),
        CUDA + claims("c3 pass"),
        claims("python_version 3"),
        claims("python_version 3.11"),
        claims("python_version 3.11.7"),
        CPU_TORCH + claims("torch_version 2.9.1"),
        "packages {\n  torch >=2.0\n}\n" + claims("torch_version 2.9.1"),
        "packages {\n  torch ==2.*\n}\n" + claims("torch_version 2.9.1"),
        ENTRY + claims("c1 fail"),
        claims("c1 unstated"),
        claims("c0 pass", "c0_missing 0"),
        claims("c0 fail", "c0_missing 3"),
        CUDA + claims("c4 pass", "gpu_count 2"),
    ],
)
def test_claims_that_could_be_true(extra: str) -> None:
    assert of_rules(extra) == ()


@pytest.mark.parametrize(
    ("extra", "title", "elsewhere"),
    [
        (
            CPU_TORCH + claims("cuda_available true"),
            "`cuda_available true` needs a GPU, and torch is a CPU build",
            "torch ==2.9.1+cpu",
        ),
        (CPU_TORCH + claims("c3 pass"), "`c3 pass` needs a GPU, and torch is a CPU build", "torch"),
        (claims("c4 pass"), "`c4 pass` needs a GPU, and the spec has no accelerator", "project"),
        (
            "accelerator none\n" + claims("gpu_count 2"),
            "`gpu_count 2` needs a GPU, and the spec has no accelerator",
            "accelerator none",
        ),
        (
            claims("python_version 3.12"),
            "the spec asks for Python 3.11, not 3.12",
            "python 3.11",
        ),
        (claims("python_version 3.1"), "the spec asks for Python 3.11, not 3.1", "python 3.11"),
        (
            CPU_TORCH + claims("torch_version 2.9.0+cpu"),
            "the spec pins torch 2.9.1+cpu, not 2.9.0+cpu",
            "torch",
        ),
        (claims("c1 pass"), "`c1 pass` is claimed, and no entry shows it", "project"),
        (claims("c0 pass", "c0_missing 2"), "`c0 pass` with 2 missing imports", "c0_missing 2"),
        (CUDA + claims("c4 pass", "c3 fail"), "`c4 pass` with `c3 fail`", "c3 fail"),
        (CUDA + claims("c4 pass", "gpu_count 1"), "`c4 pass` with 1 GPU", "gpu_count 1"),
    ],
)
def test_w0301_claims_that_cannot_be_true(extra: str, title: str, elsewhere: str) -> None:
    (finding,) = of_rules(extra)
    assert (finding.code, finding.severity, finding.title) == ("W0301", WARNING, title)
    assert finding.source is not None
    claimed, other = (
        finding.source.text[label.span.start : label.span.end] for label in finding.labels
    )
    assert f"  {claimed}\n" in extra
    assert other.startswith(elsewhere)
    assert finding.hint


@pytest.mark.parametrize(
    "name",
    [
        "LD_PRELOAD", "ld_preload", "LD_AUDIT", "BASH_ENV", "ENV", "PYTHONSTARTUP", "PYTHONPATH",
        "PATH", "PIP_INDEX_URL", "pip_index_url", "UV_INDEX", "NVIDIA_VISIBLE_DEVICES",
        "CUDA_VISIBLE_DEVICES", "ENVSPEC_PROBE", "BUILDKIT_X", "DOCKER_HOST",
    ],
)  # fmt: skip
def test_e0303_variables_that_load_code_or_undo_the_lock(name: str) -> None:
    for extra in (
        f'env {{ OK="1"\n  {name}="x" }}\n',
        f'entry a {{\n  level c1\n  run "x"\n  env {name}="x"\n}}\n',
    ):
        (finding,) = of_rules(extra)
        assert (finding.code, finding.severity) == ("E0303", ERROR)
        assert name in finding.title
        assert finding.source is not None
        assert finding.source.text[finding.span.start : finding.span.end] == f'{name}="x"'


def test_e0303_lets_other_variables_be() -> None:
    assert of_rules('env { HF_HUB_OFFLINE="1"\n  PATHS="x"\n  MY_PATH="x"\n  UVX="1" }\n') == ()


def test_every_rule_has_a_code_and_findings_come_by_place() -> None:
    text = SPEC + 'env { PATH="x" }\n' + claims("c1 pass")
    source = SourceFile("spec.env", text)
    codes = [d.code for d in rules.check(read(text), source)]
    assert codes == ["E0303", "W0301"]
    assert set(codes) <= set(rules.RULES)
