"""C2 static: what fits, what does not, and what nobody knows."""

from __future__ import annotations

from typing import Any

import pytest

from envspec.plan import model as plan
from envspec.verify.binaries import judge, supported_tags

GLIBC = {"libc": {"name": "glibc", "version": "2.36"}}
CPU = {**GLIBC, "torch": {"version": "2.13.0+cpu", "cuda": None}}


def wheel(name: str, version: str, tags: str = "py3-none-any") -> plan.Wheel:
    file = f"{name.replace('-', '_')}-{version}-{tags}.whl"
    return plan.Wheel(name, version, plan.File("pypi", file, "0" * 64, 1))


TORCH = wheel("torch", "2.13.0+cpu", "cp311-cp311-manylinux_2_28_x86_64")
CUDA_TORCH = wheel("torch", "2.14.1", "cp311-cp311-manylinux_2_28_x86_64")
NONE = plan.Accelerator("none", "", "", ())


def a_plan(*wheels: plan.Wheel, accelerator: plan.Accelerator = NONE, glibc: str = "2.28") -> Any:
    archive = plan.File("pypi", "x-1.tar.gz", "0" * 64, 1)
    steps = (
        plan.InstallWheels("packages", wheels, 3),
        plan.UnpackSource(archive, plan.SOURCE, 2),
    )
    return plan.Plan(
        "x", "spec.env", "linux/amd64", plan.Base("b", "sha256:" + "0" * 64), 1, "3.11", glibc,
        accelerator, plan.Nixpkgs("o", "r", "v", "h", 1), wheel("uv", "0.9"), steps, (),
        (plan.SOURCE,), (), (), (),
    )  # fmt: skip


def cuda(driver: str = "", *gpus: str, toolkit: str = "13.0") -> plan.Accelerator:
    return plan.Accelerator("cuda", toolkit, driver, gpus)


CASES = [
    (a_plan(TORCH), CPU, "pass", "CPU build"),
    (a_plan(wheel("einops", "1")), GLIBC, "pass", "no torch"),
    (a_plan(wheel("x", "1", "cp312-cp312-manylinux_2_28_x86_64")), CPU, "fail", "x-1-cp312"),
    (a_plan(wheel("x", "1", "cp311-cp311-manylinux_2_28_aarch64")), CPU, "fail", "aarch64"),
    (a_plan(wheel("x", "1", "cp311-cp311-manylinux_2_34_x86_64")), CPU, "fail", "2_34"),
    (a_plan(wheel("x", "1", "cp311-cp311-win_amd64")), CPU, "fail", "win_amd64"),
    (a_plan(wheel("x", "1", "cp38-abi3-manylinux2014_x86_64")), CPU, "pass", "fit"),
    (a_plan(TORCH, glibc="2.38"), CPU, "fail", "glibc 2.36"),
    (a_plan(TORCH), {"libc": {"name": "musl", "version": "1.2"}}, "fail", "musl"),
    (a_plan(TORCH), {}, "blocked", "could not be read"),
    (a_plan(CUDA_TORCH, accelerator=cuda()), GLIBC, "pass", "driver floor 580"),
    (a_plan(CUDA_TORCH, accelerator=cuda("550.54")), GLIBC, "fail", "older than 580"),
    (a_plan(CUDA_TORCH, accelerator=cuda("580.65.06", "sm_90")), GLIBC, "pass", "covers sm_90"),
    (a_plan(CUDA_TORCH, accelerator=cuda("", "sm_70")), GLIBC, "fail", "no code for sm_70"),
    (a_plan(TORCH, accelerator=cuda()), CPU, "fail", "CPU build"),
    (a_plan(wheel("torch", "9.9.9"), accelerator=cuda()), GLIBC, "blocked", "do not know"),
    (
        a_plan(
            wheel("nvidia-cublas", "13.0.1"), wheel("nvidia-cudnn-cu12", "9"), accelerator=cuda()
        ),
        GLIBC,
        "fail",
        "two CUDA majors",
    ),
    (
        a_plan(wheel("nvidia-cublas", "13.0.1"), accelerator=cuda(toolkit="12.8")),
        GLIBC,
        "fail",
        "12",
    ),
]


@pytest.mark.parametrize(("subject", "identity", "verdict", "words"), CASES)
def test_fits(subject: plan.Plan, identity: dict[str, Any], verdict: str, words: str) -> None:
    rung = judge(subject, identity, ("identity",))
    assert rung.verdict == verdict, rung.reason
    assert words in rung.reason


def test_a_cu128_wheel_on_driver_550_is_valid() -> None:
    """The floor of a CUDA major counts, not the number that nvidia-smi prints."""
    old = wheel("torch", "2.9.1", "cp311-cp311-manylinux_2_28_x86_64")
    rung = judge(a_plan(old, accelerator=cuda("550.54.14", toolkit="12.8")), GLIBC, ())
    assert rung.verdict == "pass", rung.reason


def test_tags_follow_glibc() -> None:
    assert any(
        t.platform == "manylinux_2_28_x86_64" for t in supported_tags("3.11", "linux/amd64", "2.28")
    )
    assert not any("2_28" in t.platform for t in supported_tags("3.11", "linux/amd64", "2.17"))
    assert any(
        t.platform == "manylinux2014_x86_64" for t in supported_tags("3.11", "linux/amd64", "2.17")
    )
