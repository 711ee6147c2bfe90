"""Known answers, and ``None`` instead of a guess everywhere else."""

from __future__ import annotations

import pytest

from envspec.facts import lookup
from envspec.facts.builds import cuda_of_build
from envspec.facts.versions import at_least, version, within

ODD = ["", "x", "12.x", "12.", ".8", "12.8rc1", "\uff11\uff12.8", "12.8\n", "-1", "cu128"]


@pytest.mark.parametrize("text", ODD)
def test_odd_versions_compare_with_nothing(text: str) -> None:
    assert version(text) is None
    assert at_least(text, "1") is None
    assert at_least("1", text) is None
    assert within(text, "1", "2") is False
    assert lookup.driver_floor(text) is None
    assert lookup.toolkit_driver(text) is None
    assert lookup.required_driver(text, relies_on_ptx=True) is None
    assert lookup.cuda_number(text) is None
    assert lookup.compiler_accepted(text, "gcc", "12") is None
    assert lookup.compiler_accepted("12.4", "gcc", text) is None
    assert lookup.torch_build(text) is None
    assert lookup.pairings(text) == ()
    assert lookup.tensorflow_release(text) is None
    assert lookup.cudnn_label(text) is None


@pytest.mark.parametrize(
    ("found", "wanted", "answer"),
    [
        ("550.54.14", "525.60.13", True),
        ("525.60.13", "525.60.13", True),
        ("525.60.9", "525.60.13", False),
        ("580", "580.0.0", True),
        ("2.9", "2.10", False),
        ("12", "12.0.1", False),
    ],
)
def test_versions_compare_by_number(found: str, wanted: str, answer: bool) -> None:
    assert at_least(found, wanted) is answer


def test_cu128_on_driver_550_is_valid_by_the_major_floor() -> None:
    cuda = cuda_of_build("cu128")
    assert cuda == "12.8"
    native = lookup.required_driver(cuda, relies_on_ptx=False)
    ptx = lookup.required_driver(cuda, relies_on_ptx=True)
    assert native is not None
    assert ptx is not None
    assert at_least("550.163.01", native)
    assert not at_least("550.163.01", ptx)
    assert (native, ptx) == ("525.60.13", "570.26")


@pytest.mark.parametrize(
    ("toolkit", "driver"),
    [
        ("13.2", "580"), ("13", "580"), ("12.0.1", "525.60.13"), ("11.8", "450.80.02"),
        ("11.0.3", "450.36.06"), ("10.2", "440.33"), ("10.3", None), ("14.0", None), ("7.5", None),
    ],
)  # fmt: skip
def test_driver_floors(toolkit: str, driver: str | None) -> None:
    row = lookup.driver_floor(toolkit)
    assert (row.linux if row else None) == driver


def test_minor_compatibility_begins_with_11() -> None:
    eleven, ten = lookup.driver_floor("11.8"), lookup.driver_floor("10.2")
    assert eleven is not None
    assert ten is not None
    assert eleven.minor_compatible
    assert not ten.minor_compatible


@pytest.mark.parametrize(
    ("toolkit", "driver"),
    [
        ("12.8", "570.26"), ("12.8.0", "570.26"), ("12.8.1", "570.124.06"), ("13.0.2", "580.95.05"),
        ("12.7", None), ("13.0.3", None), ("12", None), ("12.8.1.0", None),
    ],
)  # fmt: skip
def test_toolkit_drivers(toolkit: str, driver: str | None) -> None:
    row = lookup.toolkit_driver(toolkit)
    assert (row.linux if row else None) == driver


def test_the_number_nvidia_smi_prints() -> None:
    assert lookup.cuda_number("565.57.01") == "12.7"
    assert lookup.cuda_number("580.95.05") == "13.0"
    assert lookup.cuda_number("999.1") is None


@pytest.mark.parametrize("build", ["cpu", "cu12", "cu1281", "rocm6.2", "CU128", ""])
def test_builds_that_name_no_cuda(build: str) -> None:
    assert cuda_of_build(build) is None


@pytest.mark.parametrize(
    ("toolkit", "compiler", "found", "answer"),
    [
        ("11.8", "gcc", "11.4.0", True),
        ("11.8.0", "gcc", "12.2.0", False),  # Debian 12's compiler
        ("12.1", "gcc", "13.2.0", False),  # Ubuntu 24.04's
        ("12.4.1", "gcc", "13.3.0", True),
        ("12.6", "gcc", "14.2.0", False),  # Debian 13's
        ("12.8", "gcc", "14.2.0", True),
        ("11.5", "gcc", "11.1.0", True),
        ("11.5.2", "gcc", "11.4.0", False),
        ("11.5", "gcc", "11", None),
        ("11.4.0", "gcc", "11.1", False),
        ("11.4.1", "gcc", "11.1", True),
        ("12.8", "clang", "19", True),
        ("12.8", "clang", "20", False),
        ("12.7", "gcc", "9", None),
        ("14.0", "gcc", "9", None),
        ("12.8", "icc", "9", None),
    ],
)
def test_host_compilers(toolkit: str, compiler: str, found: str, answer: bool | None) -> None:
    assert lookup.compiler_accepted(toolkit, compiler, found) is answer


def test_torch_default_builds_and_exact_versions() -> None:
    series, exact = lookup.torch_build("2.7"), lookup.torch_build("2.7.1")
    assert series is not None
    assert exact is not None
    assert (series.build, series.triton) == ("cu126", None)
    assert (exact.build, exact.triton, exact.platform_tag) == ("cu126", "3.3.1", "manylinux_2_28")
    unread = lookup.torch_build("2.12.9")
    assert unread is not None
    assert (unread.release, unread.build, unread.triton) == ("2.12", "cu130", None)
    patches = {r: lookup.torch_build(r) for r in ("2.12.0", "2.12.1", "2.3.0", "2.3.1")}
    assert {release: row and row.triton for release, row in patches.items()} == {
        "2.12.0": "3.7.0", "2.12.1": "3.7.1", "2.3.0": "2.3.0", "2.3.1": "2.3.1",
    }  # fmt: skip


def test_the_default_index_has_cuda_for_arm_from_2_11_on() -> None:
    builds = {r: lookup.torch_build(r, None, "aarch64") for r in ("2.7.1", "2.10.0", "2.11.0")}
    assert {release: row and row.build for release, row in builds.items()} == {
        "2.7.1": "cpu", "2.10.0": "cpu", "2.11.0": "cu130",
    }  # fmt: skip
    assert lookup.torch_build("2.15.0", None, "aarch64") is None  # not known


def test_torch_defaults_moved_by_release() -> None:
    moved = {
        "1.13.1": "11.7", "2.0.1": "11.7", "2.1.2": "12.1", "2.4.1": "12.1", "2.5.1": "12.4",
        "2.6.0": "12.4", "2.7.0": "12.6", "2.8.0": "12.8", "2.10.0": "12.8", "2.11.0": "13.0",
        "2.14.1": "13.0", "2.15.0": "13.2",
    }  # fmt: skip
    for release, cuda in moved.items():
        row = lookup.torch_build(release)
        assert row is not None
        assert row.cuda == cuda


def test_torch_local_version_names_the_build() -> None:
    cpu = lookup.torch_build("2.13.0+cpu")
    assert cpu is not None
    assert (cpu.build, cpu.cuda, cpu.architectures, cpu.ptx) == ("cpu", None, (), ())
    assert (cpu.python_min, cpu.python_max) == ("3.10", "3.14")
    assert lookup.torch_build("2.13.0+cpu", "cpu") == cpu
    assert lookup.torch_build("2.13.0+cpu", "cu130") is None


def test_torch_builds_that_do_not_exist() -> None:
    assert lookup.torch_build("2.13.0", "cu118") is None
    assert lookup.torch_build("3.0.0") is None
    assert lookup.torch_build("2") is None
    assert lookup.torch_build("2.13.0", "rocm6.2") is None
    assert lookup.torch_build("2.13.0", None, "riscv64") is None


def test_torch_abi_changed_at_2_7_and_in_2_6_for_cu126_only() -> None:
    abi = {
        (release, build): (row.cxx11_abi, row.glibc)
        for release, build in [
            ("2.5.1", "cu124"), ("2.6.0", "cu124"), ("2.6.0", "cu126"), ("2.6.0", "cpu"),
            ("2.7.1", "cu118"), ("2.7.1", "cpu"), ("2.13.0", "cu130"),
        ]
        if (row := lookup.torch_build(release, build))
    }  # fmt: skip
    old, new = (False, "2.17"), (True, "2.28")
    assert list(abi.values()) == [old, old, new, old, new, new, new]


def test_architectures_of_torch_builds() -> None:
    cu126, cu130 = lookup.architectures("2.13.0", "cu126"), lookup.architectures("2.13.0", "cu130")
    assert cu126 is not None
    assert cu130 is not None
    assert "7.0" in cu126
    assert not {"10.0", "12.0"} & set(cu126)
    assert "7.0" not in cu130
    assert {"10.0", "12.0"} <= set(cu130)
    volta = {r: "7.0" in (lookup.architectures(r, "cu128") or ()) for r in ("2.7", "2.8", "2.11")}
    assert volta == {"2.7": False, "2.8": True, "2.11": False}
    assert lookup.architectures("2.13.0", "cu126", "aarch64") == ("8.0", "9.0")
    assert lookup.architectures("2.15.0") is None


def test_published_wheel_wins_over_the_release_document() -> None:
    row = lookup.torch_build("2.11.0")
    assert row is not None
    assert row.cudnn == "9.19.0.56"


@pytest.mark.parametrize(
    ("torch", "package", "versions"),
    [
        ("2.7.1", "torchvision", ["0.22.1"]),
        ("2.7.0", "torchvision", ["0.22.0"]),
        ("2.13.0+cpu", "torchvision", ["0.28.0"]),
        ("2.14.0", "torchvision", ["0.29.2", "0.29.1", "0.29.0"]),
        ("2.14.1", "torchvision", ["0.29.2", "0.29.1"]),
        ("2.0.0", "torchvision", ["0.15.1"]),
        ("2.14.1", "torchaudio", ["2.11.1", "2.11.0"]),
        ("2.10.0", "xformers", ["0.0.35", "0.0.34"]),
        ("2.7.1", "xformers", ["0.0.31.post1", "0.0.31"]),
        ("2.5.1", "torchaudio", ["2.5.1"]),
        ("2.12.0", "vllm", []),
        ("2.4.1", "vllm", []),
        ("9.9", "torchvision", ["0.29.2", "0.29.1"]),
        ("1.10.0", "torchvision", []),
        ("2.7.1", "nothing", []),
    ],
)
def test_pairings(torch: str, package: str, versions: list[str]) -> None:
    assert [row.version for row in lookup.pairings(torch, package)] == versions


def test_pythons_that_companions_lack() -> None:
    (vision,) = lookup.companion("torchvision", "0.20.1")
    assert (vision.torch, vision.python_min, vision.python_max) == ("2.5.1", "3.9", "3.12")
    torch = lookup.torch_build("2.5.1")
    assert torch is not None
    assert torch.python_experimental == "3.13"


@pytest.mark.parametrize(
    ("package", "version", "torch", "build", "python", "answer"),
    [
        ("flash-attn", "2.8.3", "2.8.0", "cu128", "3.12", True),
        ("flash_attn", "2.8.3", "2.8.0", "cu128", "3.14", False),
        ("flash-attn", "2.8.3", "2.7.1", "cu118", "3.12", False),  # another CUDA major
        ("flash-attn", "2.7.4.post1", "2.6.0", "cu126", "3.12", True),  # ABI 1
        ("flash-attn", "2.7.4.post1", "2.6.0", "cu124", "3.12", True),  # ABI 0
        ("flash-attn", "2.7.4.post1", "2.4.0", "cu121", "3.13", False),
        ("flash-attn", "2.7.4.post1", "2.7.1", "cu128", "3.12", False),
        ("flash-attn", "2.5.8", "2.3.0", "cu121", "3.11", True),  # its cu122 is any CUDA 12
        ("mmcv", "2.2.0", "2.4.1", "cu121", None, True),
        ("mmcv", "2.2.0", "2.4.1", "cu121", "3.11", None),  # the source names no Python
        ("mmcv", "2.2.0", "2.4.1", "cu124", "3.11", False),
        ("torch-scatter", "2.1.2", "2.8.0", "cpu", "3.11", True),
        ("torch-scatter", "2.1.2", "2.9.1", "cu130", "3.11", False),
        ("pyg-lib", "0.8.0", "2.13.0", "cu132", "3.14", True),
        ("nothing", "1.0", "2.8.0", "cu128", "3.11", False),
    ],
)
def test_prebuilt_wheels_of_extensions(
    package: str, version: str, torch: str, build: str, python: str | None, answer: bool | None
) -> None:
    row = lookup.torch_build(torch, build)
    assert row is not None
    answers = {
        lookup.wheel_fits(wheel, row, python) for wheel in lookup.extension_wheels(package, version)
    }
    best = next((a for a in (True, None) if a in answers), False)
    assert best is answer


def test_prebuilt_wheels_are_for_one_machine() -> None:
    found = {
        wheel.machine: [
            lookup.wheel_fits(wheel, row, "3.12")
            for machine in ("x86_64", "aarch64")
            if (row := lookup.torch_build("2.11.0", "cu130", machine))
        ]
        for wheel in lookup.extension_wheels("pyg-lib", "0.8.0")
        if (wheel.torch, wheel.build) == ("2.11", "cu130")
    }
    assert found == {"x86_64": [True, False], "aarch64": [False, True]}


def test_newest_wheels_come_first() -> None:
    versions = list(dict.fromkeys(w.version for w in lookup.extension_wheels("flash-attn")))
    assert versions[:2] == ["2.8.3.post1", "2.8.3"]
    assert versions[-1] == "2.5.8"


def test_pairings_of_all_packages() -> None:
    assert {row.package for row in lookup.pairings("2.7.1")} == {
        "torchvision", "torchaudio", "xformers", "vllm",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("release", "pythons", "plugins"),
    [
        ("0.12.0.1", ("3.12", "3.15"), ("cuda12", "cuda13")),
        ("0.10.2", ("3.11", "3.14"), ("cuda12", "cuda13")),
        ("0.6.2", ("3.10", "3.13"), ("cuda12",)),
        ("0.4.30", ("3.9", "3.12"), ("cuda12",)),
        ("0.4.21", ("3.9", "3.12"), ()),
    ],
)
def test_jax_releases(release: str, pythons: tuple[str, str], plugins: tuple[str, ...]) -> None:
    row = lookup.jax_release(release)
    assert row is not None
    assert ((row.python_min, row.python_max), row.plugins) == (pythons, plugins)
    assert lookup.jax_release("0.1.0") is None


def test_other_frameworks() -> None:
    jax = lookup.jax_plugin("cuda13")
    assert jax is not None
    assert (jax.driver, jax.sm_min) == ("580", "7.5")
    assert lookup.jax_plugin("cuda11") is None
    flow = lookup.tensorflow_release("2.18.1")
    assert flow is not None
    assert (flow.cuda, flow.cudnn, flow.pins) == ("12.5", "9.3", "exact")
    assert lookup.tensorflow_release("1.15.0") is None
    assert lookup.tensorflow_release("2") is None


def test_extensions_by_any_spelling() -> None:
    row = lookup.extension("Flash_Attn")
    assert row is not None
    assert (row.name, row.distribution, row.sm_min, row.ram_per_job_gb) == (
        "flash-attn", "sdist", "8.0", 20,
    )  # fmt: skip
    apex = lookup.extension("apex")
    assert apex is not None
    assert apex.distribution == "git"
    assert lookup.extension("numpy") is None


@pytest.mark.parametrize(
    ("module", "distributions"),
    [
        ("cv2", ("opencv-python", "opencv-python-headless", "opencv-contrib-python")),
        ("PIL.Image", ("pillow",)),
        ("google.protobuf.message", ("protobuf",)),
        ("numpy", ("numpy",)),
        ("apex", ()),
    ],
)
def test_imports(module: str, distributions: tuple[str, ...]) -> None:
    row = lookup.distribution_for_import(module)
    assert row is not None
    assert row.distributions == distributions


@pytest.mark.parametrize("module", ["", ".", "google", "nobody_has_this", "pil", "cv"])
def test_unknown_imports_are_not_guessed(module: str) -> None:
    assert lookup.distribution_for_import(module) is None


@pytest.mark.parametrize(
    ("image", "name", "glibc"),
    [
        ("debian:12", "debian 12", "2.36"),
        ("debian:12.5-slim", "debian 12", "2.36"),
        ("debian:trixie-slim", "debian 13", "2.41"),
        ("python:3.11-slim-bookworm", "debian 12", "2.36"),
        ("docker.io/library/python:3.11-slim-bookworm@sha256:0123", "debian 12", "2.36"),
        ("nvidia/cuda:12.4.1-cudnn-devel-ubuntu22.04", "ubuntu 22.04", "2.35"),
        ("localhost:5000/ubuntu:noble-20250127", "ubuntu 24.04", "2.39"),
        ("redhat/ubi9", "rhel 9", "2.34"),
        ("rockylinux:8.9", "rhel 8", "2.28"),
        ("centos:7", "centos 7", "2.17"),
        ("amazonlinux:2", "amazonlinux 2", "2.26"),
        ("amazonlinux:2023", "amazonlinux 2023", "2.34"),
        ("python:3.11-alpine", "alpine 3", None),
        ("alpine", "alpine 3", None),
    ],
)
def test_distributions_of_images(image: str, name: str, glibc: str | None) -> None:
    row = lookup.distribution_of_image(image)
    assert row is not None
    assert f"{row.name} {row.version}" == name
    assert lookup.glibc_of(image) == glibc
    assert (row.libc == "musl") == (glibc is None)


@pytest.mark.parametrize(
    "image",
    ["", ":", "python:3.11-slim", "ubuntu", "debian:latest", "debian:120", "me/debian", "scratch",
     "ubuntu@sha256:0123", "debian:1"],
)  # fmt: skip
def test_images_that_do_not_say(image: str) -> None:
    assert lookup.distribution_of_image(image) is None
    assert lookup.glibc_of(image) is None


def test_cudnn_words_in_image_tags() -> None:
    labels = {cuda: lookup.cudnn_label(cuda) for cuda in ("12.2.2", "12.3.2", "12.4.1", "13.0.0")}
    assert labels == {
        "12.2.2": "cudnn8", "12.3.2": "cudnn9", "12.4.1": "cudnn", "13.0.0": "cudnn",
    }  # fmt: skip
    assert lookup.cudnn_label("12.3.1") is None
    assert lookup.cudnn_label("10.2") is None
