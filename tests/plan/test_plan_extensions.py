"""The variables of a build: from the spec and the facts alone, never from this machine."""

from __future__ import annotations

import pytest

from envspec.language.parse import parse
from envspec.language.resolve import resolve
from envspec.plan.extensions import build_environment
from envspec.source import SourceFile

ALWAYS = {
    "CUDA_VISIBLE_DEVICES": "",
    "LC_ALL": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "SOURCE_DATE_EPOCH": "315532800",
}
SAME = {"NVCC_APPEND_FLAGS": "--objdir-as-tempdir"}
CUDA = "accelerator cuda 12.8 {\n  gpus sm_80 sm_86 sm_90a\n}"
BARE = "accelerator cuda 12.8"
DEVEL = '  devel "nvidia/cuda:12.8.1-devel-ubuntu22.04"\n'


def variables(
    extension: str,
    accelerator: str = "accelerator none",
    more: str = "",
    devel: str = "",
    **other: str,
) -> dict[str, str]:
    """Those of the first extension of a spec."""
    text = f"""envspec 1
project p {{
  source archive "p-1.tar.gz" sha256 "{"a" * 64}"
}}
platform linux/amd64 {{
  base "python:3.11-slim-bookworm"
{devel}  python 3.11
}}
{accelerator}
{more}
packages {{
  torch
}}
extension {extension}
entry run {{
  level c1
  run "python"
}}
"""
    source = SourceFile("spec.env", text)
    spec = resolve(parse(source), source)
    found = build_environment(spec.extensions[0], spec, **other)
    assert [name for name, _ in found] == sorted({name for name, _ in found})
    return dict(found)


def resources(*lines: str) -> str:
    return "resources {\n  " + "\n  ".join(lines) + "\n}"


@pytest.mark.parametrize(
    ("extension", "accelerator", "expected"),
    [
        ("torch-scatter ==2.1.2", "accelerator none", {"FORCE_CUDA": "0"}),
        ("nobody-knows-it", "accelerator none", {"FORCE_CUDA": "0"}),
        (
            "torch-scatter ==2.1.2",
            CUDA,
            {"FORCE_CUDA": "1", "TORCH_CUDA_ARCH_LIST": "8.0;8.6;9.0a"},
        ),
        ("nobody-knows-it", CUDA, {"TORCH_CUDA_ARCH_LIST": "8.0;8.6;9.0a"}),
        ("nobody-knows-it", BARE, {}),
        (
            'apex {\n  source git "https://example.org/a.git" at "' + "a" * 40 + '"\n}',
            CUDA,
            {"APEX_CPP_EXT": "1", "APEX_CUDA_EXT": "1", "TORCH_CUDA_ARCH_LIST": "8.0;8.6;9.0a"},
        ),
        ("causal-conv1d", CUDA, {"CAUSAL_CONV1D_FORCE_BUILD": "TRUE"}),
    ],
)
def test_what_the_facts_say(extension: str, accelerator: str, expected: dict[str, str]) -> None:
    """The list of architectures, the force flags, and four jobs in the 8 GiB of a bare spec."""
    same = SAME if accelerator != "accelerator none" else {}
    assert variables(extension, accelerator) == {**ALWAYS, **same, "MAX_JOBS": "4", **expected}


def test_flash_attention_has_a_notation_of_its_own() -> None:
    """One number for each major, since its code for 8.0 runs on 8.6; one job, since it takes 20 GB
    with four nvcc threads."""
    assert variables("flash-attn ==2.8.3", CUDA) == {
        **ALWAYS,
        **SAME,
        "FLASH_ATTENTION_FORCE_BUILD": "TRUE",
        "FLASH_ATTN_CUDA_ARCHS": "80;90",
        "MAX_JOBS": "1",
        "NVCC_THREADS": "4",
    }


@pytest.mark.parametrize(
    ("extension", "lines", "jobs"),
    [
        ("ops", ("memory 1GiB",), "1"),
        ("ops", ("memory 6GiB",), "3"),
        ("ops", ("memory 512GiB",), "4"),
        ("ops", ("memory 512GiB", "jobs 32"), "32"),
        ("flash-attn ==2.8.3", ("memory 64GiB",), "3"),
        ("flash-attn ==2.8.3", ("memory 64GiB", "jobs 2"), "2"),
        ('flash-attn ==2.8.3 {\n  env NVCC_THREADS="1"\n}', ("memory 64GiB",), "12"),
        ('flash-attn ==2.8.3 {\n  env NVCC_THREADS="many"\n}', ("memory 64GiB",), "3"),
        ('ops {\n  env MAX_JOBS="7"\n}', ("memory 1GiB", "jobs 2"), "7"),
    ],
)
def test_jobs(extension: str, lines: tuple[str, ...], jobs: str) -> None:
    """Never left to the build, which would take one a processor."""
    assert variables(extension, CUDA, resources(*lines))["MAX_JOBS"] == jobs


def test_the_spec_is_over_the_facts_and_the_extension_over_both() -> None:
    shared = 'env {\n  A="spec"\n  B="spec"\n  FORCE_CUDA="0"\n}'
    own = 'torch-scatter ==2.1.2 {\n  env B="own" LC_ALL="C" TORCH_CUDA_ARCH_LIST="7.5"\n}'
    found = variables(own, CUDA, shared)
    assert found["A"] == "spec"
    assert found["B"] == "own"
    assert found["FORCE_CUDA"] == "0"
    assert found["LC_ALL"] == "C"
    assert found["TORCH_CUDA_ARCH_LIST"] == "7.5"


def test_a_force_flag_gives_way() -> None:
    """To one that does as well, and to one that forbids the CUDA build."""
    git = 'source git "https://example.org/a.git" at "' + "a" * 40 + '"'
    instead = variables(f'apex {{\n  {git}\n  env APEX_ALL_CONTRIB_EXT="1"\n}}', CUDA)
    assert "APEX_ALL_CONTRIB_EXT" in instead
    skipped = variables(
        'flash-attn ==2.8.3 {\n  env FLASH_ATTENTION_SKIP_CUDA_BUILD="TRUE"\n}', CUDA
    )
    assert "FLASH_ATTENTION_FORCE_BUILD" not in skipped


def test_without_an_accelerator_a_download_is_still_forbidden() -> None:
    """flash-attn would fetch a wheel that somebody else built."""
    found = variables("flash-attn ==2.8.3")
    assert found["FLASH_ATTENTION_FORCE_BUILD"] == "TRUE"
    assert "FLASH_ATTN_CUDA_ARCHS" not in found
    assert "NVCC_THREADS" not in found


def test_where_the_toolkit_is() -> None:
    """As far as an image or a package tells; where neither does, the build looks for itself."""
    assert variables("ops", CUDA, devel=DEVEL)["CUDA_HOME"] == "/usr/local/cuda"
    system = "system {\n  build cuda-nvcc-12-8\n}"
    assert variables("ops", CUDA, system)["CUDA_HOME"] == "/usr/local/cuda-12.8"
    assert "CUDA_HOME" not in variables("ops", CUDA)
    assert "CUDA_HOME" not in variables("ops", devel=DEVEL)


def test_nvcc_gives_the_same_bytes_twice() -> None:
    """Beside the flags of the spec; not where nvcc is too old to know how."""
    own = "-Xcompiler -g -Xcompiler -O3"
    block = f'ops {{\n  env NVCC_APPEND_FLAGS="{own}"\n}}'
    assert variables(block, CUDA)["NVCC_APPEND_FLAGS"] == f"{own} --objdir-as-tempdir"
    again = block.replace(own, "-objtemp -g")
    assert variables(again, CUDA)["NVCC_APPEND_FLAGS"] == "-objtemp -g"
    assert "NVCC_APPEND_FLAGS" not in variables("ops", "accelerator cuda 11.1")
    assert "NVCC_APPEND_FLAGS" in variables("ops", "accelerator cuda 11.2")
    assert variables("ops")["MAX_JOBS"] == "4"
    assert "NVCC_APPEND_FLAGS" not in variables("ops")


def test_a_locked_version_tells_which_facts_hold() -> None:
    """mamba-ssm after 2.3.2 is built in another way, of which the facts know nothing."""
    old, new = (variables("mamba-ssm", CUDA, version=v) for v in ("2.3.1", "2.9.0"))
    assert old["MAMBA_FORCE_BUILD"] == "TRUE"
    assert "MAMBA_FORCE_BUILD" not in new


def test_this_machine_has_no_part(monkeypatch: pytest.MonkeyPatch) -> None:
    before = variables("torch-scatter ==2.1.2", CUDA)
    for name in ("MAX_JOBS", "CUDA_HOME", "TORCH_CUDA_ARCH_LIST", "SOURCE_DATE_EPOCH"):
        monkeypatch.setenv(name, "99")
    assert variables("torch-scatter ==2.1.2", CUDA) == before
