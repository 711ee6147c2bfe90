"""Claims about the interpreter and the frameworks, held against the identity probe."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from envspec.plan.model import INTERPRETER
from envspec.verify.claims.model import (
    CONFIRMED,
    MISMATCH,
    NONE,
    OVERCLAIM,
    UNDERCLAIM,
    Judge,
    Seen,
    Verdict,
    same,
    unknown,
)

FRAMEWORKS = {"torch": "torch", "jax": "jax", "tf": "tensorflow"}
"""The first part of a claim's name → the package it is about."""


def _python_path(claimed: str, seen: Seen) -> Verdict:
    if seen.interpreter is None:
        return unknown("the claimed interpreter was not tried")
    if seen.interpreter:
        return Verdict(claimed, CONFIRMED)
    note = "the claimed path is not this environment's interpreter"
    return Verdict(INTERPRETER, MISMATCH, note)


def _python_version(claimed: str, seen: Seen) -> Verdict:
    return _starts(claimed, str(seen.identity.get("python_version") or ""))


def _starts(claimed: str, observed: str) -> Verdict:
    """A version of which the first numbers may be stated alone."""
    if not observed:
        return unknown("it could not be read")
    parts = claimed.split(".")
    good = observed.split(".")[: len(parts)] == parts
    return Verdict(observed, CONFIRMED if good else MISMATCH)


def _python_abi(claimed: str, seen: Seen) -> Verdict:
    """``cp311`` is CPython 3.11; the interpreter says `cpython-311`."""
    tag = str(seen.identity.get("cache_tag") or "")
    if not tag:
        return unknown("the interpreter did not say")
    return same(claimed, tag.replace("cpython-", "cp").replace("pypy", "pp").replace("-", ""))


def _glibc(claimed: str, seen: Seen) -> Verdict:
    libc = seen.identity.get("libc")
    name, version = (libc.get("name"), libc.get("version")) if isinstance(libc, dict) else ("", "")
    if not name:
        return unknown("the interpreter did not say")
    if name != "glibc":
        return Verdict(str(name), MISMATCH, "another C library")
    return _starts(claimed, str(version or ""))


def framework(seen: Seen, package: str) -> Mapping[str, Any] | None:
    """What the probe saw of a framework, None where it is not installed."""
    found = seen.identity.get(package)
    return found if isinstance(found, dict) else None


def refused(found: Mapping[str, Any] | None, package: str) -> Verdict | None:
    """The verdict where there is no framework to look at; None where there is one."""
    if found is None:
        return Verdict("absent", MISMATCH, f"{package} is not installed")
    error = found.get("error")
    if isinstance(error, dict) and error.get("type") == "Timeout":
        # A slow machine is no evidence against a claim.
        return unknown(f"{package} did not load in the time that the probe has")
    if error or not found.get("version"):
        return Verdict("broken", MISMATCH, f"{package} is installed and does not import")
    return None


def _version(package: str, claimed: str, seen: Seen) -> Verdict:
    found = framework(seen, package)
    return refused(found, package) or compare_versions(claimed, str((found or {})["version"]))


def compare_versions(claimed: str, observed: str) -> Verdict:
    """Public releases decide; a local tag counts only where the claim states one."""
    from packaging.version import InvalidVersion, Version  # noqa: PLC0415 - verify only

    try:
        wanted, got = Version(claimed), Version(observed)
    except InvalidVersion:
        return same(claimed, observed)
    if Version(wanted.public) != Version(got.public):
        return Verdict(observed, MISMATCH)
    if wanted.local and wanted.local != got.local:
        return Verdict(observed, MISMATCH, "same release, another build")
    note = f"the build `{got.local}` was not stated" if got.local and not wanted.local else ""
    return Verdict(observed, CONFIRMED, note)


def _of_torch(field: str, claimed: str, seen: Seen) -> Verdict:
    """A version that torch tells of something it was built with; a CPU build has none."""
    found = framework(seen, "torch")
    wrong = refused(found, "torch")
    if wrong or found is None:
        return wrong or unknown("")
    observed = str(found.get(field) or "")
    if observed and claimed != NONE:
        return _starts(claimed, observed)
    if observed:
        return Verdict(observed, MISMATCH)
    if found.get("cuda") and field != "cuda":
        return unknown("torch is a CUDA build and did not say")
    return same(claimed, NONE, "" if claimed == NONE else "torch is a CPU build")


def _arch_list(claimed: str, seen: Seen) -> Verdict:
    """The architectures that torch has code for, as a set."""
    found = framework(seen, "torch")
    wrong = refused(found, "torch")
    if wrong or found is None:
        return wrong or unknown("")
    observed = [str(a) for a in found.get("arch_list") or []]
    if not observed and found.get("cuda"):
        return unknown("torch is a CUDA build and did not say")
    said, has = set(claimed.split()), set(observed or [NONE])
    text = " ".join(observed) or NONE
    if said == has:
        return Verdict(text, CONFIRMED)
    lacking = ", ".join(sorted(said - has))
    if lacking and claimed != NONE:
        return Verdict(text, OVERCLAIM, f"torch has no code for {lacking}")
    return Verdict(text, UNDERCLAIM)


def _cxx11_abi(claimed: str, seen: Seen) -> Verdict:
    found = framework(seen, "torch")
    wrong = refused(found, "torch")
    if wrong or found is None:
        return wrong or unknown("")
    flag = found.get("cxx11_abi")
    return unknown("torch did not say") if flag is None else same(claimed, str(bool(flag)).lower())


def _jax_backend(claimed: str, seen: Seen) -> Verdict:
    found = framework(seen, "jax")
    wrong = refused(found, "jax")
    if wrong or found is None:
        return wrong or unknown("")
    observed = str(found.get("backend") or "")
    if not observed:
        return unknown("jax did not say")
    if claimed == observed:
        return Verdict(observed, CONFIRMED)
    if claimed == "cpu":
        return Verdict(observed, UNDERCLAIM)
    if claimed == "gpu" and not seen.gpu_present and seen.accelerator != "none":
        return unknown("this machine has no GPU", observed)
    return Verdict(observed, OVERCLAIM)


def _tf_cuda(claimed: str, seen: Seen) -> Verdict:
    found = framework(seen, "tensorflow")
    wrong = refused(found, "tensorflow")
    if wrong or found is None:
        return wrong or unknown("")
    built = found.get("built_with_cuda")
    if built is None:
        return unknown("tensorflow did not say")
    observed = str(bool(built)).lower()
    if claimed == observed:
        return Verdict(observed, CONFIRMED)
    return Verdict(observed, OVERCLAIM if claimed == "true" else UNDERCLAIM)


JUDGES: dict[str, Judge] = {
    "python_path": _python_path,
    "python_version": _python_version,
    "python_abi": _python_abi,
    "glibc": _glibc,
    **{f"{short}_version": partial(_version, package) for short, package in FRAMEWORKS.items()},
    "torch_cuda": partial(_of_torch, "cuda"),
    "torch_arch_list": _arch_list,
    "cxx11_abi": _cxx11_abi,
    "cudnn_version": partial(_of_torch, "cudnn"),
    "nccl_version": partial(_of_torch, "nccl"),
    "jax_backend": _jax_backend,
    "tf_cuda": _tf_cuda,
}
