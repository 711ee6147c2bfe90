"""What a spec leaves open. Cheap: reads no table and imports no library."""

from __future__ import annotations

from collections.abc import Mapping

from envspec.facts.builds import COMPANIONS
from envspec.model import Spec
from envspec.stated import TORCH, exact, package


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
