"""Sets made by hand: what does not fit is found, and what cannot be told is not called fitting."""

from __future__ import annotations

import pytest
from inspect_sets import NEW, OLD, library, package, torch

from envspec.inspect import judge as judging
from envspec.inspect.judge import Asked, Fault, judge

USES_OLD = package("ext", library(undefined=(OLD,)))
USES_NEW = package("ext", library(undefined=(NEW,)))


def only(faults: list[Fault]) -> Fault:
    assert len(faults) == 1, faults
    return faults[0]


def test_what_torch_exports_is_there() -> None:
    assert judge([USES_NEW, torch(NEW)], Asked()) == []
    helper = package("ext", library("ext/lib.so", exported=frozenset({NEW})), *USES_NEW.libraries)
    assert judge([helper, torch(OLD)], Asked()) == []


@pytest.mark.parametrize(
    ("user", "exported", "why"),
    [
        (USES_OLD, NEW, "it was built with the old C++ ABI, and this torch with the new one"),
        (USES_NEW, OLD, "it was built with the new C++ ABI, and this torch with the old one"),
        (
            package("ext", library(undefined=("aoti_torch_new_thing",))),
            NEW,
            "it uses the stable ABI of a newer torch than this one",
        ),
        (
            package("ext", library(undefined=("_ZN3c104cuda9SetDeviceEi",))),
            NEW,
            "it was built for another release of torch: the type of a device's number changed",
        ),
        (
            package("ext", library(undefined=("_ZN2at3fooEv",))),
            NEW,
            "it was built for another release of torch",
        ),
    ],
)
def test_a_missing_symbol_has_a_reason(user: object, exported: str, why: str) -> None:
    assert isinstance(user, judging.Package)
    fault = only(judge([user, torch(exported)], Asked()))
    assert (fault.kind, fault.package, fault.library) == ("symbols", "ext", "ext/_C.so")
    assert (fault.fits, fault.why, fault.names) == (False, why, user.libraries[0].undefined)


def test_without_torch_nothing_is_known() -> None:
    fault = only(judge([USES_NEW], Asked()))
    assert (fault.kind, fault.fits) == ("symbols", None)


def test_needed_libraries() -> None:
    user = package("ext", library(needed=("libc.so.6", "libcuda.so.1", "libown.so", "libx.so.3")))
    own = package("own", library("own/libown.so"))
    assert only(judge([user, own], Asked())).names == ("libx.so.3",)
    assert only(judge([user, own], Asked())).fits is False
    assert only(judge([user, own], Asked(), whole=False)).fits is None
    assert judge([user, own], Asked(), frozenset({"libx.so.3"})) == []
    by_soname = package("own", library("own/lib.so", soname="libown.so"))
    assert only(judge([user, by_soname], Asked())).names == ("libx.so.3",)


def test_a_cuda_extension_beside_a_cpu_torch() -> None:
    user = package("torchvision", library(needed=("libc10_cuda.so", "libtorch_cpu.so")))
    fault = only(judge([user, torch()], Asked(), whole=False))
    assert fault.names == ("libc10_cuda.so",)
    assert fault.fits is False
    assert fault.why == "it was built for a CUDA build of torch, and this torch is a CPU build"


@pytest.mark.parametrize(
    ("sass", "ptx", "gpu", "fits"),
    [
        (("sm_80",), (), "sm_86", True),
        (("sm_86",), (), "sm_80", False),
        (("sm_80",), (), "sm_90", False),
        (("sm_80",), ("sm_80",), "sm_90", True),
        ((), ("sm_90",), "sm_80", False),
    ],
)
def test_device_code(sass: tuple[str, ...], ptx: tuple[str, ...], gpu: str, fits: bool) -> None:
    found = judge([package("ext", library(sass=sass, ptx=ptx))], Asked((gpu,)))
    assert (found == []) == fits
    if not fits:
        assert (only(found).kind, only(found).names, only(found).fits) == (
            "device code",
            (gpu,),
            False,
        )


def test_each_library_has_to_have_its_code() -> None:
    both = package("ext", library("a.so", sass=("sm_90",)), library("b.so", sass=("sm_80",)))
    assert only(judge([both], Asked(("sm_90",)))).library == "b.so"


def test_glibc() -> None:
    user = package(
        "ext", library(versions=(("libc.so.6", "GLIBC_2.9"), ("libc.so.6", "GLIBC_2.28")))
    )
    assert judge([user], Asked(glibc="2.28")) == []
    fault = only(judge([user], Asked(glibc="2.17")))
    assert (fault.kind, fault.names) == ("glibc", ("GLIBC_2.28",))


def test_two_cuda_majors() -> None:
    twelve = package("a", library("a.so", needed=("libcudart.so.12",)))
    thirteen = package("b", library("b.so", needed=("libcublas.so.13",)))
    several = package("c", *twelve.libraries, *thirteen.libraries)
    beside = frozenset({"libcudart.so.12", "libcublas.so.13"})
    assert judge([twelve, several], Asked(), beside) == []
    fault = only(judge([twelve, thirteen], Asked(), beside))
    assert (fault.kind, fault.names) == ("CUDA majors", ("12", "13"))


def test_what_was_not_read_is_not_known() -> None:
    fault = only(judge([package("ext", unread=(("ext/_C.so", "it is no ELF file"),))], Asked()))
    assert (fault.kind, fault.fits) == ("unread", None)
