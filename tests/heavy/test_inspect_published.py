"""The published measurements of extensions beside torch releases, made again from the wheels."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from envspec.inspect.judge import LIBRARIES, SYMBOLS, Asked, judge
from envspec.inspect.library import Package
from envspec.inspect.package import of_wheel

pytestmark = [pytest.mark.heavy, pytest.mark.network, pytest.mark.xdist_group("inspect-wheels")]

WHEELS = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "envspec-inspect-wheels"
PYPI = ("torch-2.6.0", "torch-2.7.1", "torchvision-0.21.0", "torchvision-0.22.1",
        "torchvision-0.28.0", "xformers-0.0.29.post3", "bitsandbytes-0.50.2")  # fmt: skip


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Package]:
    WHEELS.mkdir(parents=True, exist_ok=True)
    kept = tmp_path_factory.mktemp("index")
    return {name: of_wheel(download(name), kept) for name in (*PYPI, "torch-2.13.0+cpu")}


def download(name: str) -> Path:
    found = next(iter(sorted(WHEELS.glob(f"{name}-*.whl"))), None)
    if found is None:
        options = ["--no-deps", "--only-binary=:all:", "--python-version", "3.11", "-q", "-d"]
        argv = [sys.executable, "-m", "pip", "download", *options, str(WHEELS)]
        subprocess.run([*argv, "==".join(name.rsplit("-", 1))], check=True)
        found = next(iter(sorted(WHEELS.glob(f"{name}-*.whl"))))
    return found


def missing(*packages: Package) -> list[int]:
    """How many symbols each library lacks, the most first."""
    faults = judge(packages, Asked(), whole=False)
    return sorted((len(f.names) for f in faults if f.kind == SYMBOLS), reverse=True)


@pytest.mark.parametrize(
    ("extension", "torch", "expected"),
    [
        ("torchvision-0.21.0", "torch-2.6.0", []),
        ("torchvision-0.21.0", "torch-2.7.1", [9, 6]),
        ("torchvision-0.22.1", "torch-2.7.1", []),
        ("torchvision-0.22.1", "torch-2.6.0", [13, 6]),
        ("xformers-0.0.29.post3", "torch-2.6.0", []),
        ("xformers-0.0.29.post3", "torch-2.7.1", [7, 3]),
    ],
)
def test_missing_symbols(
    wheels: dict[str, Package], extension: str, torch: str, expected: list[int]
) -> None:
    assert missing(wheels[extension], wheels[torch]) == expected


def test_a_cuda_torchvision_beside_a_cpu_torch(wheels: dict[str, Package]) -> None:
    faults = judge((wheels["torchvision-0.28.0"], wheels["torch-2.13.0+cpu"]), Asked(), whole=False)
    (fault, *_) = [f for f in faults if f.kind == LIBRARIES and f.library.endswith("_C.so")]
    assert set(fault.names) == {"libc10_cuda.so", "libtorch_cuda.so"}


def test_the_architectures_of_bitsandbytes(wheels: dict[str, Package]) -> None:
    read = {Path(lib.path).stem: lib.sass for lib in wheels["bitsandbytes-0.50.2"].libraries}
    old = ("sm_60", "sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90")
    new = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")
    wanted = {f"libbitsandbytes_cuda{n}": old for n in (118, 121, 124, 126)}
    wanted |= {f"libbitsandbytes_cuda{n}": new for n in (130, 132)}
    wanted["libbitsandbytes_cuda128"] = ("sm_70", *new)
    assert {name: read[name] for name in wanted} == wanted
