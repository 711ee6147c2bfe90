"""Where extensions are built, and the nvcc that is there.

They are built in the `devel` image (the base where there is none). An image whose name does not
tell what is in it is taken to have what is needed.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from envspec.facts import rows as kinds
from envspec.facts.tables import rows
from envspec.facts.versions import version, within
from envspec.model import Extension
from envspec.rules.compiling import environment
from envspec.rules.view import View
from envspec.source import Span

_RELEASE = re.compile(r"(\d+\.\d+)(?:\.\d+)?", re.ASCII)
_TOOLKIT_PACKAGE = re.compile(
    r"(?:cuda(?:-(?:nvcc|compiler|minimal-build|toolkit))?)-(\d+)-(\d+)", re.ASCII
)
_NVCC_PACKAGE = re.compile(
    rf"{_TOOLKIT_PACKAGE.pattern}|cuda|cuda-toolkit(?:-\d+)?|cuda-compiler|nvidia-cuda-toolkit",
    re.ASCII,
)
_NVCC_WHEEL = re.compile(r"nvidia-cuda-nvcc(?:-cu\d+)?|cuda-toolkit", re.ASCII)
# Images of a language or a distribution alone; they have no nvcc.
_PLAIN = frozenset({"python", "debian", "ubuntu", "almalinux", "rockylinux", "fedora", "centos"})


class Nvcc(NamedTuple):
    """The release of nvcc (``12.8``), what says so, and where. ``image`` is the image that has it,
    ``""`` where it comes from elsewhere."""

    release: str
    said: str
    span: Span
    image: str


def image(view: View) -> tuple[str, Span]:
    """The image that extensions are built in, and where it is stated."""
    platform = view.spec.platform
    if platform.devel:
        return platform.devel, platform.devel_span
    return platform.base, platform.base_span


def image_has_nvcc(name: str) -> bool | None:
    """Whether an image has nvcc; None where its name does not tell."""
    repository, words = split_image(name)
    if repository.endswith("nvidia/cuda"):
        return _flavoured(words, ("base", "runtime"))
    if repository.endswith("nvidia/pytorch"):
        return True
    if repository.endswith("pytorch/pytorch"):
        return _flavoured(words, ("runtime",))
    return False if repository.removeprefix("library/") in _PLAIN else None


def _flavoured(words: tuple[str, ...], without: tuple[str, ...]) -> bool | None:
    if "devel" in words:
        return True
    return False if any(word in words for word in without) else None


def split_image(name: str) -> tuple[str, tuple[str, ...]]:
    """Repository, without a registry that has a dot in its name, and the words of the tag."""
    path, _, last = name.partition("@")[0].rpartition("/")
    last, _, tag = last.partition(":")
    repository = f"{path}/{last}" if path else last
    first, _, rest = repository.partition("/")
    if rest and ("." in first or ":" in first or first == "localhost"):
        repository = rest
    return repository, tuple(tag.split("-"))


def has_nvcc(view: View, extension: Extension) -> bool | None:
    """Whether a build finds nvcc: in its image, from the distribution, from a wheel, or where its
    variables point; None where that is not known."""
    if any(map(_NVCC_PACKAGE.fullmatch, (p.name for p in view.spec.system))):
        return True
    if any(map(_NVCC_WHEEL.fullmatch, extension.needs)):
        return True
    if environment(view, extension).keys() & {"CUDA_HOME", "CUDA_PATH", "CUDACXX"}:
        return None
    return image_has_nvcc(image(view)[0])


def nvcc(view: View) -> Nvcc | None:
    """The nvcc of the build: of the image, else of the distribution's packages, else of the stated
    toolkit; None where none of them tells, or two of them disagree."""
    name, span = image(view)
    found = []
    release = _image_release(name)
    if release:
        found.append(Nvcc(release, f"`{name}`", span, name))
    for package in view.spec.system:
        match = _TOOLKIT_PACKAGE.fullmatch(package.name)
        if match:
            found.append(Nvcc(f"{match[1]}.{match[2]}", f"`{package.name}`", package.span, ""))
    if found:
        return found[0] if len({each.release for each in found}) == 1 else None
    others = (p.name for p in view.spec.system if _NVCC_PACKAGE.fullmatch(p.name))
    needed = (n for e in view.spec.extensions for n in e.needs if _NVCC_WHEEL.fullmatch(n))
    accelerator = view.spec.accelerator
    match = _RELEASE.fullmatch(accelerator.toolkit)
    # What the distribution or a wheel brings is of its own release.
    if not match or any(others) or any(needed):
        return None
    at = accelerator.toolkit_span if accelerator.toolkit_span.end else accelerator.span
    return Nvcc(match[1], f"`accelerator cuda {accelerator.toolkit}`", at, "")


def _image_release(name: str) -> str:
    repository, words = split_image(name)
    if not image_has_nvcc(name):
        return ""
    if repository.endswith("nvidia/cuda"):
        match = _RELEASE.fullmatch(words[0])
        return match[1] if match else ""
    for word in words if repository.endswith("pytorch/pytorch") else ():
        match = _RELEASE.fullmatch(word.removeprefix("cuda"))
        if match and word.startswith("cuda"):
            return match[1]
    return ""


def newest_image(cuda: str, distribution: str = "ubuntu22.04") -> str:
    """The newest `nvidia/cuda` image with the compiler of a CUDA release; ``""`` for none."""
    asked = version(cuda)
    if asked is None or len(asked) < 2:
        return ""
    known = [(parts, row.value) for row in rows(kinds.CudaImageRule) if row.kind == "version"
             if (parts := version(row.value)) and parts[:2] == asked[:2]]  # fmt: skip
    served = [row for row in rows(kinds.CudaImageRule) if row.kind == "distro"
              if row.value == distribution]  # fmt: skip
    if not known or not served:
        return ""
    newest = max(known)[1]
    fits = any(within(newest, row.first or "0", row.last) for row in served)
    return f"nvidia/cuda:{newest}-devel-{distribution}" if fits else ""


def image_for(name: str, cuda: str) -> str:
    """The same `nvidia/cuda` image of another CUDA release; ``""`` where none is known."""
    repository, words = split_image(name)
    if repository != "nvidia/cuda" or len(words) != 3 or words[1] != "devel":
        return ""
    return newest_image(cuda, words[2])
