"""What a spec states, for those who judge it: its rules, its solver, its explanations. Pure.

Only what is written counts here, not what a lock or the facts make of it.
"""

from __future__ import annotations

import re

from envspec.facts import builds
from envspec.model import DEFAULT_INDEX, Extension, Package, Spec
from envspec.source import Span

TORCH = "torch"
_EXACT = re.compile(r"={2,3}\s*v?([0-9][^,*]*)", re.ASCII)


def exact(specifier: str) -> str:
    """The one version that a specifier allows, ``""`` where it allows several."""
    match = _EXACT.fullmatch(specifier)
    return match[1].strip() if match else ""


def package(spec: Spec, name: str) -> Package | None:
    """A package of the spec by name."""
    return next((p for p in spec.packages if p.name == name), None)


def home(spec: Spec) -> Span:
    """Where a finding about the whole spec points: the accelerator, else the project."""
    span = spec.accelerator.span
    return span if span.end else spec.project.span


def from_default_index(item: Package | Extension) -> bool:
    """Whether a package comes from the default index, by its name or by saying nothing."""
    return item.index in {"", DEFAULT_INDEX}


def build_of_index(spec: Spec, alias: str) -> str:
    """The build of torch (``cu128``) that an index serves, by its alias or the address that the
    spec gives it; ``""`` where neither tells."""
    url = next((i.url for i in spec.indexes if i.name == alias), "")
    return builds.build_of_index(alias) or builds.build_of_index(url)


def environment(spec: Spec, extension: Extension) -> dict[str, str]:
    """Variables of a build: those of the spec, and over them those of the extension."""
    both = (*spec.environment, *extension.environment)
    return {variable.name: variable.value for variable in both}


def forward_compatible(spec: Spec) -> bool:
    """Whether the image brings a user-mode driver of its own (``cuda-compat``), so that the
    stated driver is not the whole truth."""
    if any(item.name.startswith("cuda-compat") for item in spec.system):
        return True
    reasoned = any(word == "driver" for word, _ in spec.accelerator.because)
    return "nvidia/cuda" in spec.platform.base and reasoned
