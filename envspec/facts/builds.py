"""Builds of torch by their names, and the packages that are built for one. Reads no table."""

from __future__ import annotations

import re

COMPANIONS = ("torchvision", "torchaudio", "xformers", "vllm")
"""Packages of the table of pairings: each release is built for some releases of torch."""

_BUILD = re.compile(r"cpu|cu\d{2,3}", re.ASCII)
_INDEX = re.compile(rf"(?:.*[-/])?({_BUILD.pattern})/?", re.ASCII)
_CUDA = re.compile(r"cu(\d{2})(\d)", re.ASCII)


def is_build(name: str) -> bool:
    """Whether a word has the form of a build: ``cpu`` or ``cu128``."""
    return _BUILD.fullmatch(name) is not None


def build_of_index(name: str) -> str:
    """The build that an index of torch serves, by its alias (``pytorch-cu128``) or its address,
    which ends in it; ``""`` for any other."""
    match = _INDEX.fullmatch(name)
    return match[1] if match else ""


def cuda_of_build(build: str) -> str | None:
    """``cu128`` is CUDA 12.8; None for ``cpu`` and everything else."""
    match = _CUDA.fullmatch(build)
    return f"{match[1]}.{match[2]}" if match else None
