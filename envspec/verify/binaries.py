"""C2 static: do the binaries fit the target? Needs no GPU. Pure, over the plan and the facts.

What the facts do not know is reported as unknown and never counted as fitting.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from envspec.facts.device_code import torch_runs_on
from envspec.facts.lookup import driver_floor, torch_build
from envspec.facts.rows import TorchBuild
from envspec.facts.versions import version
from envspec.machines import MACHINES
from envspec.plan.model import Plan, Wheel
from envspec.verify import verdicts
from envspec.verify.verdicts import Rung

NAME = "c2_static"
_CUDA_SUFFIX = re.compile(r"-cu(\d{2})$")


class Check(NamedTuple):
    """One question and its answer: True, False, or None where the facts do not tell."""

    name: str
    fits: bool | None
    text: str


def judge(plan: Plan, identity: Mapping[str, Any], evidence: tuple[str, ...]) -> Rung:
    """The rung from every check; one that does not fit fails it, an unknown one blocks it."""
    checks = [_tags(plan), _glibc(plan, identity), *_accelerator(plan, identity)]
    details = {"checks": [c._asdict() for c in checks], "driver_floor": driver_needed(plan)}
    wrong = [c for c in checks if c.fits is False]
    unknown = [c for c in checks if c.fits is None]
    if wrong:
        reason = "; ".join(c.text for c in wrong)
        return verdicts.failed(NAME, verdicts.ENVIRONMENT, reason, evidence, **details)
    if unknown:
        reason = "; ".join(c.text for c in unknown)
        return Rung(NAME, verdicts.BLOCKED, verdicts.HARNESS, reason, evidence, details)
    return verdicts.passed(NAME, "; ".join(c.text for c in checks), evidence, **details)


def driver_needed(plan: Plan) -> str:
    """The oldest Linux driver for the CUDA that the plan's torch was built for, ``""`` where it
    needs none or the facts do not tell."""
    torch = next((w for w in plan.wheels if w.name == "torch"), None)
    row = torch_build(torch.version, machine=MACHINES[plan.platform]) if torch else None
    floor = driver_floor(row.cuda) if row and row.cuda else None
    return floor.linux if floor else ""


def supported_tags(python: str, platform: str, glibc: str) -> frozenset[Tag]:
    """Wheel tags that a CPython release on a platform with a given glibc can install."""
    machine = MACHINES[platform]
    major, minor = (int(p) for p in glibc.split(".")[:2])
    platforms = [f"manylinux_{major}_{m}_{machine}" for m in range(minor, 4, -1)]
    legacy = {"2014": 17, "2010": 12, "1": 5}
    platforms += [f"manylinux{name}_{machine}" for name, floor in legacy.items() if minor >= floor]
    platforms.append(f"linux_{machine}")
    release = tuple(int(p) for p in python.split("."))
    interpreter = "cp" + "".join(python.split("."))
    return frozenset(
        [
            *cpython_tags(release, platforms=platforms),
            *compatible_tags(release, interpreter, platforms),
        ]
    )


def _tags(plan: Plan) -> Check:
    supported = supported_tags(plan.python, plan.platform, plan.glibc)
    wrong = [w.file.file for w in plan.wheels if not _installable(w, supported)]
    if wrong:
        return Check("tags", False, f"made for another platform: {', '.join(wrong[:3])}")
    return Check("tags", True, f"{len(plan.wheels)} wheels fit Python {plan.python}")


def _installable(wheel: Wheel, supported: frozenset[Tag]) -> bool:
    try:
        tags = parse_wheel_filename(wheel.file.file)[3]
    except InvalidWheelFilename:
        return False
    return not tags.isdisjoint(supported)


def _glibc(plan: Plan, identity: Mapping[str, Any]) -> Check:
    libc = identity.get("libc") or {}
    name, release = str(libc.get("name") or "unknown"), str(libc.get("version") or "")
    have, need = version(release), version(plan.glibc)
    if have is None or need is None:
        return Check("glibc", None, "the C library of the base could not be read")
    if name != "glibc":
        return Check("glibc", False, f"the base has {name}, wheels need glibc")
    if have < need:
        text = f"the base has glibc {release}, the wheels rely on {plan.glibc}"
        return Check("glibc", False, text)
    return Check("glibc", True, f"glibc {release} is new enough for {plan.glibc}")


def _accelerator(plan: Plan, identity: Mapping[str, Any]) -> list[Check]:
    if plan.accelerator.kind == "none":
        return [_cpu_build(identity)]
    checks = [_one_major(plan.wheels, plan.accelerator.toolkit)]
    torch = next((w for w in plan.wheels if w.name == "torch"), None)
    if torch is not None:
        row = torch_build(torch.version, machine=MACHINES[plan.platform])
        checks += _torch(plan, torch, row)
    return checks


def _cpu_build(identity: Mapping[str, Any]) -> Check:
    torch = identity.get("torch")
    if not torch:
        return Check("cpu build", True, "no torch, nothing built for a GPU")
    if torch.get("cuda"):
        text = (
            f"torch {torch.get('version')} is built for CUDA {torch['cuda']}, and runs on CPU too"
        )
        return Check("cpu build", True, text)
    return Check("cpu build", True, f"torch {torch.get('version')} is a CPU build")


def _one_major(wheels: Iterable[Wheel], toolkit: str) -> Check:
    majors: dict[str, str] = {}
    for wheel in wheels:
        if wheel.name.startswith("nvidia-") and not wheel.name.startswith("nvidia-ml"):
            match = _CUDA_SUFFIX.search(wheel.name)
            # Since CUDA 13 the component wheels carry no suffix, and cuBLAS has its number.
            if match or wheel.name == "nvidia-cublas":
                major = match.group(1) if match else wheel.version.split(".")[0]
                majors.setdefault(major, wheel.name)
    if len(majors) > 1:
        names = ", ".join(f"CUDA {m} ({n})" for m, n in sorted(majors.items()))
        return Check("one CUDA major", False, f"two CUDA majors in one environment: {names}")
    stated = toolkit.split(".", maxsplit=1)[0]
    if majors and stated and stated not in majors:
        (found,) = majors
        return Check("one CUDA major", False, f"the spec says CUDA {toolkit}, wheels are {found}")
    return Check("one CUDA major", True, "one CUDA major")


def _torch(plan: Plan, torch: Wheel, row: TorchBuild | None) -> list[Check]:
    if row is None:
        return [Check("torch build", None, f"the facts do not know torch {torch.version}")]
    if row.cuda is None:
        text = f"torch {torch.version} is a CPU build, the spec says `accelerator cuda`"
        return [Check("torch build", False, text)]
    checks = [Check("torch build", True, f"torch {torch.version} is built for CUDA {row.cuda}")]
    floor = driver_floor(row.cuda)
    stated = version(plan.accelerator.driver) if plan.accelerator.driver else None
    if floor is None:
        checks.append(Check("driver", None, f"the facts know no driver for CUDA {row.cuda}"))
    elif stated and stated < (version(floor.linux) or ()):
        text = f"driver {plan.accelerator.driver} is older than {floor.linux}, the floor of CUDA"
        checks.append(Check("driver", False, f"{text} {row.cuda}"))
    else:
        checks.append(Check("driver", True, f"driver floor {floor.linux}"))
    for gpu in plan.accelerator.gpus:
        fits = torch_runs_on(row, gpu)
        said = {True: "covers", False: "has no code for", None: "is not known to cover"}[fits]
        checks.append(Check(f"gpu {gpu}", fits, f"torch {torch.version} {said} {gpu}"))
    return checks
