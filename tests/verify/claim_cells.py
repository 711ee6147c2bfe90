"""What every kind of claim is worth in every situation: the table that C5 is held to.

A letter is a verdict: Confirmed, Overclaim, Mismatch, Underclaim, Inconclusive. Columns are the
situations below, from left to right.
"""

from __future__ import annotations

from typing import Any

from envspec.verify.claims.model import Provenance, Seen
from envspec.verify.verdicts import RUNGS, Rung

GIB = 1 << 30
LOCK, IMAGE, FLAKE, OTHER = ("a" * 64, "b" * 64, "c" * 64, "d" * 64)
COMMIT = "e" * 40
URL = "https://example.org/lab/model.git"

_PYTHON = {
    "python_version": "3.11.7",
    "cache_tag": "cpython-311",
    "libc": {"name": "glibc", "version": "2.36"},
}
_CPU: dict[str, Any] = {
    "version": "2.13.0+cpu",
    "cuda": None,
    "cuda_available": False,
    "device_count": 0,
    "devices": [],
    "arch_list": [],
    "cxx11_abi": True,
    "cudnn": None,
    "nccl": None,
}
_CUDA = {
    **_CPU,
    "version": "2.14.1+cu130",
    "cuda": "13.0",
    "arch_list": ["sm_75", "sm_80", "sm_90"],
    "cudnn": "9.24.0",
    "nccl": "2.30.7",
}
_OLD = {
    **_CUDA,
    "version": "2.12.0+cu126",
    "cuda": "12.6",
    "arch_list": ["sm_50", "sm_90"],
    "cxx11_abi": False,
    "cudnn": "8.9.2",
    "nccl": "2.21.5",
}
_BROKEN = {"version": None, "error": {"type": "OSError", "message": "libcudart.so.13"}}
_SLOW = {"version": None, "error": {"type": "Timeout", "message": "no answer"}}
_BUILT = Provenance("linux/amd64", "", "", LOCK, IMAGE, FLAKE)


def _sees(torch: dict[str, Any], *gib: int) -> dict[str, Any]:
    devices = [{"name": "GPU", "total_memory": size * GIB} for size in gib]
    return {**torch, "cuda_available": True, "device_count": len(gib), "devices": devices}


def _rungs(floor: str, entry: tuple[str, str] | None, **said: str) -> dict[str, Rung]:
    """`said` is verdict and cause of each rung, with a blank between; the rest passes."""
    made = {}
    for name in RUNGS:
        verdict, _, cause = said.get(name, "pass").partition(" ")
        made[name] = Rung(name, verdict, cause, "why")
    missing = 2 if said.get("c0_static", "pass").startswith("fail") else 0
    if made["c0_static"].verdict in {"pass", "fail"}:
        details = {"missing": missing, "missing_names": ["x"] * missing}
        made["c0_static"] = made["c0_static"]._replace(details=details)
        made["c2_static"] = made["c2_static"]._replace(details={"driver_floor": floor})
    if entry:
        record = {"name": "smoke", "verdict": entry[0], "cause": entry[1], "reason": "why"}
        made["c1"] = made["c1"]._replace(details={"entries": [record]})
    made["c4"] = made["c4"]._replace(details={"ranks": [{"ok": True}, {"ok": True}]})
    return made


_NO_GPUS = {"c2_live": "n/a", "c3": "n/a", "c4": "n/a"}
_BLOCKED = {"c2_live": "blocked hardware", "c3": "blocked hardware", "c4": "blocked hardware"}
_PASS = ("pass", "")
_LOADS = {"ext": True}
_NEW, _OLDER = "580.65.06", "525.60.13"


def _frameworks(**found: dict[str, Any]) -> dict[str, Any]:
    return {**_PYTHON, "torch": None, "jax": None, "tensorflow": None, **found}


def _cuda(identity: dict[str, Any], rungs: dict[str, Rung], *, gpu: bool, **more: Any) -> Seen:
    given = {"provenance": _BUILT, "modules": _LOADS, "processes": 2, **more}
    return Seen(rungs, identity, True, gpu, "cuda", **given)


SITUATIONS: dict[str, Seen] = {
    "nothing could be read": Seen(
        _rungs("", None, **dict.fromkeys(RUNGS, "error harness")), {}, None, False, "cuda"
    ),
    "cpu": Seen(
        _rungs("", _PASS, **_NO_GPUS), _frameworks(torch=_CPU), True, False, "none", _BUILT, _LOADS
    ),
    "torch does not import": Seen(
        _rungs(
            "",
            ("fail", "environment"),
            c0_static="fail environment",
            c0_live="fail environment",
            c1="fail environment",
            c2_static="fail environment",
            **_NO_GPUS,
        ),
        _frameworks(torch=_BROKEN),
        False,
        False,
        "none",
        _BUILT,
        {"ext": False},
    ),
    "cuda build, no GPU": _cuda(
        _frameworks(torch=_CUDA),
        _rungs(_NEW, _PASS, **_BLOCKED),
        gpu=False,
        provenance=_BUILT._replace(image_digest=""),
    ),
    "one GPU": _cuda(
        _frameworks(torch=_sees(_CUDA, 24)),
        _rungs(_NEW, _PASS, c4="blocked hardware"),
        gpu=True,
    ),
    "two GPUs": _cuda(
        _frameworks(torch=_sees(_CUDA, 80, 80)),
        _rungs(_NEW, _PASS),
        gpu=True,
        provenance=_BUILT._replace(repo_url=URL, repo_commit=COMMIT),
    ),
    "GPU there, torch blind": _cuda(
        _frameworks(torch=_CUDA),
        _rungs(
            _NEW,
            _PASS,
            **dict.fromkeys(("c2_live", "c3", "c4"), "fail environment"),
        ),
        gpu=True,
    ),
    "gated model, no network": _cuda(
        _frameworks(torch=_sees(_CUDA, 80, 80)),
        _rungs(_NEW, ("fail", "asset"), c1="fail asset", c3="fail asset", c4="fail network"),
        gpu=True,
    ),
    "another environment": _cuda(
        {
            **_frameworks(torch=_sees(_OLD, 80, 80)),
            "python_version": "3.12.1",
            "cache_tag": "cpython-312",
            "libc": {"name": "glibc", "version": "2.41"},
        },
        _rungs(
            _OLDER,
            ("fail", "repository"),
            **dict.fromkeys(("c1", "c3", "c4"), "fail repository"),
        ),
        gpu=True,
        provenance=Provenance("linux/arm64", URL + "x", "f" * 40, OTHER, OTHER, OTHER),
    ),
    "slow machine": Seen(
        _rungs("", None, c1="error harness", **_NO_GPUS),
        _frameworks(torch=_SLOW),
        True,
        False,
        "none",
        _BUILT,
    ),
    "jax and tensorflow, GPU": _cuda(
        _frameworks(
            jax={"version": "0.8.1", "backend": "gpu", "device_count": 1},
            tensorflow={"version": "2.20.0", "built_with_cuda": True, "device_count": 1},
        ),
        _rungs("", _PASS, c4="blocked hardware"),
        gpu=True,
    ),
    "jax and tensorflow, no GPU": _cuda(
        _frameworks(
            jax={"version": "0.8.1", "backend": "cpu", "device_count": 1},
            tensorflow={"version": "2.20.0", "built_with_cuda": False, "device_count": 0},
        ),
        _rungs("", _PASS, **_BLOCKED),
        gpu=False,
    ),
}

_TABLE = """
repo_url                URL            I I I I I C I I M I I I
repo_commit             COMMIT         I I I I I C I I M I I I
lock_digest             sha256:LOCK    I C C C C C C C M C C C
lock_digest             LOCK           I C C C C C C C M C C C
image_digest            sha256:IMAGE   I C C I C C C C M C C C
flake_lock_digest       FLAKE          I C C C C C C C M C C C
target_platform         linux/amd64    I C C C C C C C M C C C
python_path             /opt/env/bin/python  I C M C C C C C C C C C
python_version          3.11           I C C C C C C C M C C C
python_version          3.11.7         I C C C C C C C M C C C
python_version          3.1            I M M M M M M M M M M M
python_abi              cp311          I C C C C C C C M C C C
python_abi              cp311t         I M M M M M M M M M M M
glibc                   2.36           I C C C C C C C M C C C
glibc                   2.3            I M M M M M M M M M M M
torch_version           2.13.0+cpu     I C M M M M M M M I M M
torch_version           2.14.1         I M M C C C C C M I M M
torch_version           2.14.1+cu126   I M M M M M M M M I M M
jax_version             0.8.1          I M M M M M M M M M C C
jax_version             0.9            I M M M M M M M M M M M
tf_version              2.20.0         I M M M M M M M M M C C
torch_cuda              13.0           I M M C C C C C M I M M
torch_cuda              none           I C M M M M M M M I M M
torch_arch_list         sm_75_sm_80_sm_90  I O M C C C C C O I M M
torch_arch_list         sm_80_sm_90    I O M U U U U U O I M M
torch_arch_list         none           I C M U U U U U U I M M
cxx11_abi               true           I C M C C C C C M I M M
cxx11_abi               false          I M M M M M M M C I M M
cudnn_version           9.24           I M M C C C C C M I M M
cudnn_version           none           I C M M M M M M M I M M
nccl_version            2.30.7         I M M C C C C C M I M M
jax_backend             gpu            I M M M M M M M M M C I
jax_backend             cpu            I M M M M M M M M M U C
jax_backend             tpu            I M M M M M M M M M O O
tf_cuda                 true           I M M M M M M M M M C O
tf_cuda                 false          I M M M M M M M M M U C
driver_min              580.65.06      I M M C C C C C U M I I
driver_min              525            I M M O O O O O C M I I
cuda_available          true           I O O I C C O C C I C I
cuda_available          false          I C C C U U C U U I U C
gpu_count               2              I O O I O C O C C I O I
gpu_count               1              I O O I C U O U U I C I
gpu_count               0              I C C C U U C U U I U C
gpu_arch_min            sm_75          I O M C C C C C U I M M
gpu_arch_min            sm_50          I O M O O O O O C I M M
vram_min                24GiB          I I I I C I I I I I I I
vram_min                100GiB         I I I I C C I I I I I I
vram_min                8GiB           I I I I I I I I I I I I
c0_missing              0              I C O C C C C C C C C C
c0_missing              2              I U C U U U U U U U U U
c0                      pass           I C O C C C C C C C C C
c0                      fail           I U C U U U U U U U U U
c1                      pass           I C O C C C C I O I C C
c1                      fail           I U C U U U U I C I U U
c2                      pass           I C O I C C O C C C C I
c2                      fail           I U C I U U C U U U U I
c3                      pass           I O O I C C O I O O C I
c3                      fail           I I I I U U C I C I U I
c4                      pass           I O O I I C O I O O I I
c4                      fail           I I I I I U C I C I I I
c4_processes            2              I O O I I C O I O O I I
c4_processes            8              I O O I I I O I O O I I
c4_backend              nccl           I O O I I C O I O O I I
c4_backend              gloo           I I I I I M I I I I I I
entry:smoke             pass           I C O C C C C I O I C C
entry:smoke             fail           I U C U U U U I C I U U
extension:ext           pass           I C O C C C C C C I C C
extension:ext           fail           I U C U U U U U U I U U
"""
_WORDS = {
    "C": "confirmed",
    "O": "overclaim",
    "M": "mismatch",
    "U": "underclaim",
    "I": "inconclusive",
}
_SHORT = {"URL": URL, "COMMIT": COMMIT, "LOCK": LOCK, "IMAGE": IMAGE, "FLAKE": FLAKE}


def _value(text: str) -> str:
    for short, long in _SHORT.items():
        text = text.replace(short, long)
    return text.replace("_sm_", " sm_")


CELLS: dict[tuple[str, str, str], dict[str, str]] = {}
"""(claim, subject, value) → situation → verdict."""
for _line in filter(None, _TABLE.splitlines()):
    _claim, _said, *_letters = _line.split()
    _name, _, _subject = _claim.partition(":")
    _row = {s: _WORDS[letter] for s, letter in zip(SITUATIONS, _letters, strict=True)}
    CELLS[_name, _subject, _value(_said)] = _row
