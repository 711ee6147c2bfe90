"""Extensions that are compiled: which of them run nvcc, where they are built, and with which nvcc.

They are built in the `devel` image (the base where there is none), without a GPU, against the
locked torch. Only extensions that the table knows are looked at, and an image whose name does not
tell what is in it is taken to have what is needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from envspec.diagnostics import Edit
from envspec.facts import lookup
from envspec.facts import rows as kinds
from envspec.facts.tables import rows
from envspec.facts.versions import at_least, version, within
from envspec.model import Extension, Package
from envspec.rules import places
from envspec.rules.view import View
from envspec.source import Span

ARCH_LIST = "TORCH_CUDA_ARCH_LIST"
DEFAULT_NEEDS = ("torch", "setuptools", "wheel")
"""What a build has to import where the spec does not say."""

_NAME = re.compile(r"[A-Za-z0-9._-]+", re.ASCII)
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


class Build(NamedTuple):
    """An extension whose build runs nvcc, and what is known about it."""

    extension: Extension
    facts: kinds.Extension


class Nvcc(NamedTuple):
    """The release of nvcc (``12.8``), what says so, and where. ``image`` is the image that has it,
    ``""`` where it comes from elsewhere."""

    release: str
    said: str
    span: Span
    image: str


def builds(view: View) -> Iterator[Build]:
    """Extensions whose build runs nvcc: known ones, for a torch that is not a CPU build. Without an
    accelerator, those that have no CPU build, for a torch that is known to have CUDA."""
    if view.torch_build_name == "cpu":
        return
    for extension in view.spec.extensions:
        row = facts(view, extension.name)
        if row is None or not row.compiles_cuda or not _wants_cuda(view, extension, row):
            continue
        if view.cuda or (view.torch_cuda and row.force_reason != "gpu"):
            yield Build(extension, row)


def facts(view: View, name: str) -> kinds.Extension | None:
    """What is known about an extension in its release; None where the row is about others."""
    row = lookup.extension(name)
    if row is None or not (row.since or row.until):
        return row
    settled = view.settled.get(name)
    if settled is None:
        # A commit may be any release; without a version, the newest one is meant.
        stated = view.stated.get(name)
        from_git = isinstance(stated, Extension) and stated.git is not None
        return None if from_git and row.until else row
    number = re.match(r"\d+(?:\.\d+)*", settled.public, re.ASCII)
    asked = number[0] if number else ""
    return row if within(asked, row.since or "0", row.until) else None


def _wants_cuda(view: View, extension: Extension, row: kinds.Extension) -> bool:
    values = environment(view, extension)
    if any(values.get(name) == value for name, value in settings(row.skip)):
        return False
    if row.asked_by is None:
        return True
    return any(
        value not in {"", "0"}
        and any(name == a or (a[-1] == "_" and name.startswith(a)) for a in row.asked_by)
        for name, value in values.items()
    )


def environment(view: View, extension: Extension) -> dict[str, str]:
    """Variables of a build: those of the spec, and over them those of the extension."""
    both = (*view.spec.environment, *extension.environment)
    return {variable.name: variable.value for variable in both}


def settings(written: tuple[str, ...] | None) -> tuple[tuple[str, str], ...]:
    """``NAME=VALUE`` of a table as pairs."""
    parts = (text.partition("=") for text in written or ())
    return tuple((name, value) for name, _, value in parts)


# --- the image and its nvcc ---------------------------------------------------------------


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


# --- what is written ----------------------------------------------------------------------


def add_to_extension(view: View, extension: Extension, line: str) -> Edit | None:
    """Put a line into the block of an extension, or give it a block."""
    text = view.source.text
    span = extension.span
    if not (0 <= span.start < span.end <= len(text)) or not text.startswith(
        "extension", span.start
    ):
        return None
    if text[span.end - 1] == "}":
        return places.add_line(view.source, span, line)
    return Edit(Span(span.end, span.end), f" {{\n  {line}\n}}")


def written_name(view: View, package: Package) -> Span | None:
    """Where the name of a package is written; None for a spec that came in another form."""
    match = _NAME.match(view.source.text, package.span.start)
    if match is None or re.sub(r"[-_.]+", "-", match[0]).lower() != package.name:
        return None
    return Span(match.start(), match.end())


def head(extension: Extension, source_text: str) -> Span:
    """The first line of an extension: a finding about the whole of it marks that line."""
    text = source_text[extension.span.start : extension.span.end].partition("\n")[0]
    text = text.partition("{")[0].rstrip() or text
    return Span(extension.span.start, extension.span.start + len(text)) if text else extension.span


@cache
def shown_sm(gpu: str) -> str:
    """``sm_90a`` as NVIDIA and torch write it: ``9.0a``."""
    match = re.fullmatch(r"sm_(\d{1,3})(\d)([af]?)", gpu, re.ASCII)
    return f"{int(match[1])}.{match[2]}{match[3]}" if match else ""


def older(found: str, wanted: str) -> bool:
    """Whether a version is known to be older than another one."""
    return at_least(found, wanted) is False
