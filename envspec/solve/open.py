"""What a spec leaves open. Cheap: reads no facts and imports no library."""

from __future__ import annotations

import re
from collections.abc import Mapping

from envspec.model import Package, Spec

TORCH = "torch"
COMPANIONS = ("torchvision", "torchaudio", "xformers", "vllm")
_EXACT = re.compile(r"={2,3}\s*v?([0-9][^,*]*)", re.ASCII)


def exact(specifier: str) -> str:
    """The one version that a specifier allows, ``""`` where it allows several."""
    match = _EXACT.fullmatch(specifier)
    return match[1].strip() if match else ""


def package(spec: Spec, name: str) -> Package | None:
    """A package of the spec by name."""
    return next((p for p in spec.packages if p.name == name), None)


def by_vllm(spec: Spec, name: str) -> bool:
    """Whether a companion is left to vllm, which pins the others exactly."""
    return name in COMPANIONS and name != "vllm" and package(spec, "vllm") is not None


def left_open(spec: Spec) -> tuple[str, ...]:
    """What a spec with a CUDA accelerator leaves open, by name. An open `driver` is computed from
    the toolkit."""
    accelerator = spec.accelerator
    found = [] if accelerator.toolkit else ["toolkit"]
    if not accelerator.driver:
        found.append("driver")
    for name in (TORCH, *COMPANIONS) if package(spec, TORCH) else ():
        item = package(spec, name)
        if item and not exact(item.specifier) and not by_vllm(spec, name):
            found.append(name)
    return tuple(found)


def pinned(spec: Spec, locked: Mapping[str, str]) -> Spec:
    """The spec with the versions of its lock for torch and its companions."""
    if not locked:
        return spec
    packages = tuple(
        p._replace(specifier=f"=={locked[p.name]}")
        if p.name in locked and p.name in {TORCH, *COMPANIONS} and not exact(p.specifier)
        else p
        for p in spec.packages
    )
    return spec._replace(packages=packages)
