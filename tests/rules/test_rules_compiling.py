"""What the rules about extensions know of images, nvcc and releases, and that nothing hostile in a
spec or a lock stops them."""

from __future__ import annotations

import random

import pytest
from test_rules import read

from envspec import render, rules, toolchain
from envspec.diagnostics import Diagnostic
from envspec.facts import images, lookup
from envspec.facts.device_code import capability
from envspec.facts.rows import Extension as Facts
from envspec.facts.rows import HostCompiler
from envspec.facts.tables import rows
from envspec.model import NOWHERE, Spec, Variable
from envspec.rules.shared import compiling
from envspec.rules.view import View
from envspec.source import SourceFile

CODES = ("E0330", "E0331", "E0332", "E0333", "E0334", "E0335", "E0336", "E0337", "E0338",
         "E0339", "E0340", "W0391", "W0392", "W0393")  # fmt: skip
HEAD = (
    'envspec 1\nproject demo {\n  source archive "demo-1.0.tar.gz" sha256 "' + "a" * 64 + '"\n}\n'
)
TORCH = "accelerator cuda 12.8 {\n  gpus sm_90\n}\npackages {\n  torch ==2.8.0\n}\n"
COMMIT = 'source git "https://example.org/x" at "' + "d" * 40 + '"'


def view_of(
    body: str, base: str = "python:3.11-slim", devel: str = "", locked: dict[str, str] | None = None
) -> View:
    line = f'  devel "{devel}"\n' if devel else ""
    platform = f'platform linux/amd64 {{\n  base "{base}"\n{line}  python 3.11\n}}\n'
    return View(*read(HEAD + platform + body), locked)


@pytest.mark.parametrize(
    ("image", "has"),
    [
        ("nvidia/cuda:12.8.1-devel-ubuntu22.04", True),
        ("nvidia/cuda:12.8.1-cudnn-devel-ubuntu22.04", True),
        ("registry.example.org/nvidia/cuda:12.8.1-devel-ubuntu22.04", True),
        ("registry.example.org:5000/pytorch/pytorch:2.4.1-cuda12.4-cudnn9-devel", True),
        ("nvidia/cuda:12.8.1-base-ubuntu22.04", False),
        ("nvidia/cuda:12.8.1-runtime-ubuntu22.04", False),
        ("nvidia/cuda:12.8.1", None),
        ("nvidia/cuda", None),
        ("pytorch/pytorch:2.4.1-cuda12.4-cudnn9-runtime", False),
        ("pytorch/pytorch:latest", None),
        ("registry.example.org/nvidia/pytorch:25.08-py3", True),
        ("python:3.11-slim-bookworm", False),
        ("python@sha256:" + "b" * 64, False),
        ("library/debian:12", False),
        ("registry.example.org/library/ubuntu:22.04", False),
        ("localhost/python:3.11", None),
        ("ubuntu", False),
        ("somebody/python:3.11", None),
        ("somebody/else/python:3.11", None),
        ("somebody/image:1-devel", None),
        ("", None),
    ],
)
def test_whether_an_image_has_nvcc(image: str, has: bool | None) -> None:
    assert images.has_nvcc(image) is has


@pytest.mark.parametrize(
    ("body", "devel", "release", "said"),
    [
        (TORCH, "nvidia/cuda:12.6.3-devel-ubuntu22.04", "12.6", "devel"),
        (TORCH, "pytorch/pytorch:2.4.1-cuda12.4-cudnn9-devel", "12.4", "pytorch"),
        (TORCH, "pytorch/pytorch:devel", "12.8", "accelerator"),
        (TORCH, "", "12.8", "accelerator"),
        (TORCH, "nvidia/cuda:12.6.3-runtime-ubuntu22.04", "12.8", "accelerator"),
        (TORCH, "nvidia/cuda:latest-devel-ubuntu22.04", "12.8", "accelerator"),
        (TORCH + "system {\n  build cuda-toolkit-12-6\n}\n", "", "12.6", "cuda-toolkit-12-6"),
        (TORCH + "system {\n  build cuda-12-6 cuda-nvcc-12-6\n}\n", "", "12.6", "cuda-12-6"),
    ],
)
def test_where_nvcc_comes_from(body: str, devel: str, release: str, said: str) -> None:
    found = toolchain.nvcc(view_of(body, devel=devel).spec)
    assert found is not None
    assert found.release == release
    assert said in found.said


@pytest.mark.parametrize(
    ("body", "devel"),
    [
        # Two that disagree.
        (TORCH + "system {\n  build cuda-nvcc-12-6\n}\n", "nvidia/cuda:12.8.1-devel-ubuntu22.04"),
        # The distribution and the wheels have releases of their own.
        (TORCH + "system {\n  build nvidia-cuda-toolkit\n}\n", ""),
        (TORCH + "extension x {\n  needs nvidia-cuda-nvcc-cu12 torch\n}\n", ""),
        (TORCH + "extension x {\n  needs cuda-toolkit torch\n}\n", ""),
        ("accelerator cuda\n", ""),
        ("accelerator cuda 12\n", ""),
        ("", ""),
    ],
)
def test_where_nothing_tells_the_release_of_nvcc(body: str, devel: str) -> None:
    assert toolchain.nvcc(view_of(body, devel=devel).spec) is None


@pytest.mark.parametrize(
    ("extension", "has"),
    [
        ("needs torch", False),
        ("needs torch nvidia-cuda-nvcc", True),
        ("needs torch nvidia-cuda-nvcc-cu12", True),
        ("needs torch nvidia-cuda-runtime-cu12", False),
        ('env CUDA_HOME="/opt/cuda"', None),
        ('env CUDACXX="/opt/cuda/bin/nvcc"', None),
    ],
)
def test_whether_a_build_finds_nvcc(extension: str, has: bool | None) -> None:
    view = view_of(TORCH + f"extension flash-attn {{\n  {extension}\n}}\n")
    assert toolchain.has_nvcc(view.spec, view.spec.extensions[0]) is has


@pytest.mark.parametrize(
    ("cuda", "distribution", "image"),
    [
        ("12.8", "ubuntu22.04", "nvidia/cuda:12.8.1-devel-ubuntu22.04"),
        ("12.8.0", "ubuntu24.04", "nvidia/cuda:12.8.1-devel-ubuntu24.04"),
        ("11.8", "ubuntu24.04", ""),
        ("11.1", "ubuntu22.04", ""),
        ("12.7", "ubuntu22.04", ""),
        ("12.8", "ubi9", ""),
        ("12", "ubuntu22.04", ""),
        ("", "ubuntu22.04", ""),
        ("many", "ubuntu22.04", ""),
    ],
)
def test_the_newest_image_of_a_release(cuda: str, distribution: str, image: str) -> None:
    assert images.newest_devel(cuda, distribution) == image


@pytest.mark.parametrize(
    ("image", "same"),
    [
        ("nvidia/cuda:12.4.1-devel-ubuntu20.04", "nvidia/cuda:12.8.1-devel-ubuntu20.04"),
        ("nvidia/cuda:12.4.1-cudnn-devel-ubuntu22.04", ""),
        ("nvidia/cuda:12.4.1-runtime-ubuntu22.04", ""),
        ("nvidia/cuda:12.4.1-devel-rockylinux8", ""),
        ("nvidia/cuda:12.4.1", ""),
        ("pytorch/pytorch:2.4.1-devel-ubuntu22.04", ""),
        ("", ""),
    ],
)
def test_the_same_image_of_another_release(image: str, same: str) -> None:
    assert images.devel_of(image, "12.8") == same


@pytest.mark.parametrize(
    ("body", "known"),
    [
        ("extension flash-attn ==2.8.3\n", True),
        ("extension flash-attn >=1.0\n", True),
        ("extension flash-attn ==1.0.9\n", False),
        ("extension flash-attn ==2.8.3.post1\n", True),
        ("extension mamba-ssm ==2.3.2.post1\n", True),
        ("extension mamba-ssm ==2.4.0\n", False),
        ("extension mamba-ssm\n", True),
        (f"extension mamba-ssm {{\n  {COMMIT}\n}}\n", False),
        (f"extension flash-attn {{\n  {COMMIT}\n}}\n", True),
        ("packages {\n  mamba-ssm ==2.2.2\n}\n", True),
        ("extension my-kernels ==1.0\n", False),
    ],
)
def test_a_row_holds_for_some_releases(body: str, known: bool) -> None:
    view = view_of(body)
    (name,) = view.stated
    assert (compiling.facts(view, name) is not None) is known


def test_the_lock_tells_the_release() -> None:
    view = view_of("extension mamba-ssm\n", locked={"mamba-ssm": "2.4.0"})
    assert compiling.facts(view, "mamba-ssm") is None


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("extension deepspeed\n", []),
        ('extension deepspeed {\n  env DS_BUILD_OPS="0" DS_SKIP_CUDA_CHECK="1"\n}\n', []),
        ('extension deepspeed {\n  env DS_BUILD_OPS=""\n}\n', []),
        ('extension deepspeed {\n  env DS_BUILD_FUSED_ADAM="1"\n}\n', ["deepspeed"]),
        ('extension flash-attn {\n  env FLASH_ATTENTION_SKIP_CUDA_BUILD="TRUE"\n}\n', []),
        ('extension flash-attn {\n  env FLASH_ATTENTION_SKIP_CUDA_BUILD="1"\n}\n', ["flash-attn"]),
        ('env {\n  FORCE_ONLY_CPU="1"\n}\nextension torch-scatter\n', []),
        ("extension bitsandbytes\nextension triton\nextension my-kernels\n", []),
    ],
)
def test_which_extensions_run_nvcc(body: str, names: list[str]) -> None:
    found = compiling.builds(view_of(TORCH + body))
    assert [build.extension.name for build in found] == names


@pytest.mark.parametrize(
    ("torch", "names"),
    [
        ("torch ==2.8.0", ["flash-attn"]),
        ("torch ==2.8.0+cpu from pytorch-cpu", []),
        ("einops", []),
    ],
)
def test_without_an_accelerator_only_what_has_no_cpu_build(torch: str, names: list[str]) -> None:
    body = f"packages {{\n  {torch}\n}}\nextension flash-attn\nextension torch-scatter\n"
    assert [b.extension.name for b in compiling.builds(view_of(body))] == names


def test_a_cpu_build_of_torch_compiles_no_cuda_code() -> None:
    body = TORCH.replace("2.8.0", "2.8.0+cpu from pytorch-cpu") + "extension flash-attn\n"
    assert list(compiling.builds(view_of(body))) == []


def test_gpus_are_shown_as_nvidia_writes_them() -> None:
    shown = [capability(gpu) for gpu in ("sm_90a", "sm_120", "sm_75", "sm_1", "9.0", "")]
    assert shown == ["9.0a", "12.0", "7.5", "", "9.0", ""]


def test_the_table_of_extensions_is_sound() -> None:
    for row in rows(Facts):
        settings = (*(row.force or ()), *(row.force_instead or ()), *(row.skip or ()))
        assert all(name and value for name, value in compiling.settings(settings)), row.name
        assert len(compiling.settings(settings)) == len(settings)
        assert bool(row.force) == bool(row.force_reason), row.name
        assert row.force_reason in {None, "gpu", "wheel", "asked"}
        assert row.architectures in {None, "visible", "default", "fixed"}
        assert row.compiles_cuda == bool(row.architectures), row.name
        assert (row.arch_variable is None) == (row.architectures in {None, "fixed"}), row.name
        for name in (*row.needs, *(row.companions or ())):
            assert name == name.lower().replace("_", "-")


def test_flags_that_users_rely_on() -> None:
    flash, scatter = lookup.extension("flash-attn"), lookup.extension("torch-scatter")
    assert flash is not None
    assert scatter is not None
    assert flash.force == ("FLASH_ATTENTION_FORCE_BUILD=TRUE",)
    assert (flash.sm_min, flash.arch_variable) == ("8.0", "FLASH_ATTN_CUDA_ARCHS")
    assert scatter.force == ("FORCE_CUDA=1",)


# --- nothing hostile stops a rule ---------------------------------------------------------

HOSTILE = (
    "", " ", "+", "1" * 5000, "²", "٣.٤", "2.8.0+cu" + "9" * 5000, "2.8.0+pt" + "2" * 5000,
    "2.8+torch.", "0+cu12torch2.8cxx11abiTRUE", "1+pt0", "1+torch" + ".".join("1" * 2000),
    "x" * 10_000, "\x00\x1b[31m", "sm_" + "9" * 300, "12.", ".8", "-devel-", ":::@@@", "a/b/c:d-e",
)  # fmt: skip


def of_mine(spec: Spec, source: SourceFile, locked: dict[str, str]) -> list[Diagnostic]:
    view = View(spec, source, locked)
    return [d for code in CODES for d in rules.rule(code)(view)]


@pytest.mark.parametrize("value", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_values_anywhere(value: str) -> None:
    spec = view_of(
        TORCH + "extension flash-attn ==2.8.3 {\n  needs torch\n  env MAX_JOBS=\"1\"\n}\n"
        "extension mamba-ssm\nsystem {\n  build g++-12\n}\n"
    ).spec  # fmt: skip
    platform, accelerator, (extension, other) = spec.platform, spec.accelerator, spec.extensions
    variables = tuple(
        Variable(name, value, NOWHERE)
        for name in ("TORCH_CUDA_ARCH_LIST", "CC", "CXX", "NVCC_PREPEND_FLAGS", "FORCE_CUDA", value)
    )
    (package,) = spec.packages
    changed = (
        spec._replace(platform=platform._replace(base=value)),
        spec._replace(platform=platform._replace(devel=value, python=value, os_arch=value)),
        spec._replace(accelerator=accelerator._replace(toolkit=value)),
        spec._replace(accelerator=accelerator._replace(gpus=(value, "sm_90"))),
        spec._replace(packages=(package._replace(specifier=f"=={value}"),)),
        spec._replace(packages=(package._replace(name="apex", index=value),)),
        spec._replace(extensions=(extension._replace(specifier=f"=={value}"), other)),
        spec._replace(extensions=(extension._replace(environment=variables),)),
        spec._replace(extensions=(extension._replace(name=value, needs=(value,)),)),
        spec._replace(system=(spec.system[0]._replace(name=value),)),
        spec._replace(environment=variables),
    )
    # A spec may come in another form, so that no span means anything in the text.
    for source in (SourceFile("spec.env", ""), SourceFile("spec.env", "{}\n" * 300)):
        for model in (spec, *changed):
            for locked in ({}, {"torch": value, "flash-attn": value, value: value}):
                assert isinstance(render.text(of_mine(model, source, locked)), str)


def test_a_spec_in_another_form_gets_findings_and_no_fix() -> None:
    spec = view_of(
        TORCH.replace("torch ==2.8.0", "torch ==2.8.0\n  flash-attn ==2.8.3\n  sklearn")
        + "extension apex\nextension mamba-ssm {\n  needs wheel\n}\n"
        'extension torch-scatter {\n  env MAX_JOBS="1"\n}\n',
        devel="nvidia/cuda:11.8.0-devel-ubuntu22.04",
    ).spec
    found = of_mine(spec, SourceFile("spec.json", '{"envspec": 1}\n' * 100), {})
    assert {d.code for d in found} >= {"E0332", "E0333", "E0338", "E0339", "E0340"}
    assert [d.code for d in found if d.fix] == []


def test_a_distribution_without_glibc_has_no_known_compiler() -> None:
    system = "system {\n  build gcc cuda-nvcc-12-1\n}\n"
    view = view_of(TORCH + system + "extension flash-attn\n", devel="alpine:3.20")
    assert list(rules.rule("E0336")(view)) == []


def test_images_that_are_proposed_have_a_compiler_that_fits() -> None:
    for row in rows(HostCompiler):
        for release in {row.first, row.last}:
            for distribution, gcc in (("ubuntu22.04", "11"), ("ubuntu20.04", "9")):
                if images.newest_devel(release, distribution):
                    assert lookup.compiler_accepted(release, "gcc", gcc) is True


def test_findings_do_not_depend_on_the_order_of_the_lock() -> None:
    view = view_of(TORCH + "extension mamba-ssm ==2.2.2\n")
    lock = {
        "torch": "2.8.0+cu128", "causal-conv1d": "1.5.0+cu11torch2.5cxx11abiFALSE",
        "torch-scatter": "2.1.2+pt27cu118", "bitsandbytes": "0.47.0",
    }  # fmt: skip
    drawn = set()
    for seed in range(6):
        names = list(lock)
        random.Random(seed).shuffle(names)
        found = rules.check(view.spec, view.source, {name: lock[name] for name in names})
        drawn.add(render.text([d for d in found if d.code in CODES]))
    assert len(drawn) == 1
