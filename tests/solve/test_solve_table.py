"""Answers worked out by hand from the tables."""

from __future__ import annotations

import pytest
from solve_models import Case, spec

from envspec.solve import solve
from envspec.solve.values import Conflict, Solution


def solved(case: Case) -> Solution:
    found = solve(*spec(case))
    assert isinstance(found, Solution), found
    return found


def refused(case: Case) -> Conflict:
    found = solve(*spec(case))
    assert isinstance(found, Conflict), found
    return found


@pytest.mark.parametrize(
    ("case", "release", "build", "toolkit", "driver"),
    [
        # Nothing is asked: the newest release in what the default index serves.
        (Case(), "2.15.0", "cu132", "13.2", "580"),
        # Its architectures have not been read, so any GPU takes it out.
        (Case(gpus=("sm_90",)), "2.14.1", "cu130", "13.0", "580"),
        # Driver 525 runs CUDA 12: the newest release has cu126 for it.
        (Case(driver="525.60.13", gpus=("sm_80",)), "2.14.1", "cu126", "12.6", "525.60.13"),
        (Case(driver="525", gpus=("sm_80",)), "2.14.1", "cu126", "12.6", "525.60.13"),
        (Case(driver="579.99", gpus=("sm_80",)), "2.14.1", "cu126", "12.6", "525.60.13"),
        # Blackwell on driver 525: cu126 has no code for it, and 2.11 is the last with cu129.
        (Case(driver="525.60.13", gpus=("sm_120",)), "2.11.0", "cu129", "12.9", "525.60.13"),
        (Case(driver="580.65.06", gpus=("sm_120",)), "2.14.1", "cu130", "13.0", "580"),
        (Case(driver="580.65.06", gpus=("sm_100", "sm_120")), "2.14.1", "cu130", "13.0", "580"),
        # Volta and Pascal: cu126 alone.
        (Case(driver="580.65.06", gpus=("sm_70",)), "2.14.1", "cu126", "12.6", "525.60.13"),
        (Case(driver="580.65.06", gpus=("sm_60",)), "2.14.1", "cu126", "12.6", "525.60.13"),
        # Volta beside Blackwell: the last default build with both is that of 2.10.
        (Case(gpus=("sm_70", "sm_120")), "2.10.0", "cu128", "12.8", "525.60.13"),
        # Driver 450 runs CUDA 11, which ends at torch 2.7.
        (Case(driver="450.80.02", gpus=("sm_80",)), "2.7.1", "cu118", "11.8", "450.80.02"),
        (Case(driver="450.80.02", python="3.12"), "2.7.1", "cu118", "11.8", "450.80.02"),
        # Python.
        (Case(gpus=("sm_80",), python="3.9"), "2.8.0", "cu128", "12.8", "525.60.13"),
        (Case(python="3.15"), "2.15.0", "cu132", "13.2", "580"),
        # flash-attn compiles for Python 3.13 as for any other.
        (
            Case(gpus=("sm_80",), python="3.13", extensions=("flash-attn",)),
            "2.14.1", "cu130", "13.0", "580",
        ),
        # A toolkit: its own minor first, any build of its major else.
        (Case(toolkit="12.8", gpus=("sm_80",)), "2.11.0", "cu128", "12.8", "525.60.13"),
        (Case(toolkit="12.5", gpus=("sm_80",)), "2.14.1", "cu126", "12.5", "525.60.13"),
        (Case(toolkit="11.8"), "2.7.1", "cu118", "11.8", "450.80.02"),
        # A build of the toolkit that is experimental gives way to none that fits better.
        (Case(toolkit="13.0", torch=">=2.9,<2.11"), "2.10.0", "cu130", "13.0", "580"),
        (Case(torch=">=2.9,<2.11"), "2.10.0", "cu128", "12.8", "525.60.13"),
        # xformers 0.0.29.post1 is for 2.5.1 alone.
        (
            Case(torch="<2.7", packages=("xformers <0.0.29.post2",)),
            "2.5.1", "cu124", "12.4", "525.60.13",
        ),
        (Case(base="centos:7"), "2.6.0", "cu124", "12.4", "525.60.13"),
        (Case(more="cudnn 9.1"), "2.7.1", "cu118", "11.8", "450.80.02"),
        # A torch for arm64 comes from the same tables.
        (Case(platform="linux/arm64", gpus=("sm_90",)), "2.14.1", "cu130", "13.0", "580"),
        # PTX alone: no known build is native for 13.0, and PTX needs the toolkit's driver.
        (Case(torch="<2.9", gpus=("sm_130",)), "2.8.0", "cu129", "12.9", "575.51.03"),
        (Case(torch="<2.9", gpus=("sm_130",), driver="570.26"), "2.7.1", "cu128", "12.8", "570.26"),
    ],
    ids=str,
)  # fmt: skip
def test_the_newest_set(case: Case, release: str, build: str, toolkit: str, driver: str) -> None:
    found = solved(case)
    assert (found.version, found.build) == (release, build)
    assert (found.toolkit, found.driver) == (toolkit, driver)


@pytest.mark.parametrize(
    ("case", "keys", "hint"),
    [
        (
            Case(driver="580", gpus=("sm_60", "sm_120")),
            ("gpu sm_60", "gpu sm_120"),
            "dropping `sm_60` leaves torch 2.14.1+cu130",
        ),
        (
            Case(driver="450.80.02", gpus=("sm_120",)),
            ("driver", "gpu sm_120"),
            "`driver >=525.60.13` would do, with torch 2.11.0+cu129",
        ),
        (
            Case(gpus=("sm_70",), extensions=("flash-attn",)),
            ("gpu sm_70", "extension flash-attn"),
            "dropping `flash-attn` leaves torch 2.14.1+cu126",
        ),
        (
            Case(driver="525.60.13", torch="==2.14.1"),
            ("driver", "package torch"),
            "`driver >=580` would do, with torch 2.14.1+cu130",
        ),
        (
            Case(python="3.13", torch="<2.6"),
            ("python", "package torch"),
            "`python 3.12` would do, with torch 2.5.1+cu124",
        ),
        (Case(base="alpine:3.19"), ("base",), "with glibc 2.28 or newer"),
        (Case(base="centos:7", torch=">=2.7"), ("base", "package torch"), "torch 2.6.0+cu124"),
        (
            Case(toolkit="11.8", gpus=("sm_120",)),
            ("toolkit", "gpu sm_120"),
            "`accelerator cuda 13.0` would do, with torch 2.14.1+cu130",
        ),
        (
            Case(torch="==2.8.0", packages=("torchvision ==0.24.0",)),
            ("package torch", "package torchvision"),
            "torchvision 0.23.0",
        ),
        (Case(torch="==2.9.1+cpu"), ("package torch",), "2.15.0+cu132"),
        (Case(torch=None, gpus=("sm_35", "sm_120")), ("gpu sm_35", "gpu sm_120"), "CUDA 11.8"),
        # nvcc 11.8 is not torch's major; Ubuntu 24.04's gcc 13 is too new for nvcc 12.1.
        (
            Case(
                torch=">=2.8",
                devel="nvidia/cuda:11.8.0-devel-ubuntu22.04",
                extensions=("mmcv",),
            ),
            ("package torch", "devel", "extension mmcv"),
            "dropping `mmcv`",
        ),
        (
            Case(devel="nvidia/cuda:12.1.1-devel-ubuntu24.04", extensions=("mmcv",)),
            ("devel", "extension mmcv"),
            "another `devel` image would do",
        ),
        (
            Case(packages=("jax[cuda12]",), driver="450.80.02"),
            ("driver", "package jax"),
            "`driver >=525.60.13` would do",
        ),
    ],
    ids=str,
)
def test_the_smallest_conflict(case: Case, keys: tuple[str, ...], hint: str) -> None:
    found = refused(case)
    assert {d.statement.key for d in found.demands} == set(keys)
    assert found.known
    assert any(hint in relaxed for relaxed in found.relaxations), found.relaxations


@pytest.mark.parametrize(
    "case",
    [
        Case(torch="==2.16.0"),
        Case(torch=">=2.15", gpus=("sm_90",)),
        Case(torch="==1.13.1", python="3.10", packages=("xformers",)),
        Case(packages=("xformers ==0.0.99",)),
        Case(gpus=("sm_87",)),
        Case(platform="linux/arm64", gpus=("sm_60",)),
    ],
    ids=str,
)
def test_what_the_facts_do_not_tell_accuses_nobody(case: Case) -> None:
    assert not refused(case).known


def test_companions_go_with_the_release_and_come_from_its_index() -> None:
    found = solved(
        Case(driver="525.60.13", gpus=("sm_80",), torch="<2.10", python="3.12",
             packages=("torchvision", "torchaudio"))
    )  # fmt: skip
    assert [(p.name, p.specifier, p.index) for p in found.pins] == [
        ("torch", "==2.9.1", ""),
        ("torchvision", "==0.24.1", ""),
        ("torchaudio", "==2.9.1", ""),
    ]
    found = solved(Case(gpus=("sm_60",), torch="<2.10", packages=("torchvision", "torchaudio")))
    assert [(p.name, p.specifier, p.index) for p in found.pins] == [
        ("torch", "==2.9.1+cu126", "pytorch-cu126"),
        ("torchvision", "==0.24.1", "pytorch-cu126"),
        ("torchaudio", "==2.9.1", "pytorch-cu126"),
    ]


@pytest.mark.parametrize("vision", ["==0.19.1", "==0.19.1+cu121", "===0.19.1+cu121"])
def test_a_companion_may_name_its_build(vision: str) -> None:
    found = solved(Case(torch="", packages=(f"torchvision {vision} from pytorch-cu121",)))
    assert (found.version, found.build) == ("2.4.1", "cu121")


def test_the_build_of_a_companion_is_that_of_torch() -> None:
    vision = "torchvision ==0.19.1+cu118 from pytorch-cu118"
    assert solved(Case(packages=(vision,))).build == "cu118"
    found = refused(Case(torch="==2.4.1+cu121 from pytorch-cu121", packages=(vision,)))
    assert {d.statement.key for d in found.demands} == {"package torch", "package torchvision"}


def test_vllm_takes_the_default_build_and_pins_vision_itself() -> None:
    found = solved(Case(gpus=("sm_80",), packages=("vllm", "torchvision")))
    torch, vllm, vision = found.pins
    # The newest vllm that is known is for 2.14.0, not for the newer 2.14.1.
    assert (torch.specifier, torch.index) == ("==2.14.0", "")
    assert vllm.specifier.startswith("==0.3")
    assert (vision.specifier, vision.index) == ("", "")
    assert solved(Case(gpus=("sm_70",), packages=("vllm",))).version == "2.10.0"


def test_two_frameworks_share_a_cuda_major() -> None:
    assert solved(Case(packages=("jax[cuda12]",))).build == "cu126"
    assert solved(Case(packages=("jax[cuda13]",))).build == "cu132"
    assert solved(Case(packages=("tensorflow[and-cuda] >=2.20",))).build == "cu126"
    # Up to 2.19 TensorFlow pins CUDA 12.5 exactly, and no torch has that.
    pinned = refused(Case(packages=("tensorflow[and-cuda] ==2.18.1",)))
    assert [d.statement.key for d in pinned.demands] == ["package tensorflow"]
    assert solved(Case(packages=("tensorflow ==2.18.1",))).build == "cu132"


def test_without_torch_the_toolkit_is_what_is_chosen() -> None:
    assert solved(Case(torch=None, gpus=("sm_70",))).toolkit == "12.9"
    assert solved(Case(torch=None, driver="470.42.01")).toolkit == "11.8"
    found = solved(Case(torch=None, packages=("jax[cuda12]",)))
    assert (found.toolkit, found.version, found.pins) == ("12.9", "", ())


def test_experimental_python_is_taken_only_when_the_release_is_asked_for() -> None:
    assert refused(Case(python="3.13", torch="<2.6")).known
    assert solved(Case(python="3.13", torch="==2.5.1")).version == "2.5.1"


def test_a_driver_of_the_image_s_own_lifts_the_floor() -> None:
    words = 'driver >=470.57.02 because "cuda-compat of the image"'
    case = Case(gpus=("sm_80",), base="nvidia/cuda:12.6.3-base-ubuntu22.04", more=words)
    assert solved(case).version == "2.14.1"
    assert solved(case._replace(more="driver >=470.57.02")).build == "cu118"


def test_every_sentence_has_a_birth_certificate_or_is_the_spec_s_own() -> None:
    found = solved(Case(gpus=("sm_80",), driver="525.60.13", packages=("torchvision",),
                        extensions=("flash-attn",)))  # fmt: skip
    assert len(found.chain) >= 8
    for link in (*found.chain, *found.passed):
        if link.known and not link.text.startswith("the spec states"):
            assert link.source, link
            assert len(link.as_of) == 10, link


def test_what_is_newer_and_was_passed_over_is_told() -> None:
    found = solved(Case(gpus=("sm_90",)))
    assert found.passed[0].text.startswith("torch 2.15.0+cu132: whether it goes with `gpus sm_90`")
    assert not found.passed[0].known
    found = solved(Case(driver="525.60.13"))
    assert found.passed[0].text == "torch 2.15.0+cu132 does not go with `driver >=525.60.13`"
