"""What the name of an image tells: tags of ``nvidia/cuda``, and compilers inside. Pure.

A tag is read word by word. What a name does not tell is None, never a guess.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from envspec.facts.rows import CudaImageRule, Distribution, ToolkitDriver
from envspec.facts.tables import rows
from envspec.facts.versions import version, within

_REPOSITORIES = ("nvidia/cuda", "nvcr.io/nvidia/cuda")
_NUMBER = re.compile(r"\d+(?:\.\d+){1,2}", re.ASCII)
_CUDNN = re.compile(r"cudnn\d*", re.ASCII)
_DISTRO = re.compile(
    r"(?:ubuntu|ubi|rockylinux|oraclelinux|centos|opensuse|amzn|cm)\d+(?:\.\d+)?", re.ASCII
)
_FIRST_MAJOR = 11


class CudaTag(NamedTuple):
    """A tag of ``nvidia/cuda`` by its parts; a part that is not there is empty. ``unknown`` are
    the words that are none of them, in order."""

    number: str
    cudnn: str
    flavour: str
    distro: str
    unknown: tuple[str, ...]

    @property
    def text(self) -> str:
        """The parts in the order in which tags are made."""
        return "-".join(filter(None, self[:4]))


def cuda_tag(image: str) -> str | None:
    """The tag of an ``nvidia/cuda`` image, ``""`` where it has none; None for other images."""
    repository, _, tag = _split(image)
    return tag if repository in _REPOSITORIES else None


def read_cuda_tag(tag: str) -> CudaTag:
    """The parts of a tag, whatever their order."""
    flavours = {row.value for row in rows(CudaImageRule) if row.kind == "flavour"}
    parts = dict.fromkeys(("number", "cudnn", "flavour", "distro"), "")
    unknown = []
    for word in filter(None, tag.split("-")):
        if _NUMBER.fullmatch(word):
            kind = "number"
        elif _CUDNN.fullmatch(word):
            kind = "cudnn"
        elif word in flavours:
            kind = "flavour"
        else:
            kind = "distro" if _DISTRO.fullmatch(word) else ""
        if kind and not parts[kind]:
            parts[kind] = word
        else:
            unknown.append(word)
    return CudaTag(**parts, unknown=tuple(unknown))


def cuda_flavour(image: str) -> str:
    """``base``, ``runtime`` or ``devel`` of an ``nvidia/cuda`` image, else ``""``."""
    tag = cuda_tag(image)
    return read_cuda_tag(tag).flavour if tag else ""


def patch_levels(cuda: str) -> tuple[str, ...]:
    """Published X.Y.Z of a CUDA release X.Y, oldest first."""
    known = (row.value for row in rows(CudaImageRule) if row.kind == "version")
    return tuple(sorted((v for v in known if within(v, cuda, cuda)), key=_key))


def is_newer_than_known(number: str) -> bool:
    """True for a CUDA version after the newest that the table has seen, and where that cannot
    be told."""
    asked = version(number)
    newest = max(_key(r.value) for r in rows(CudaImageRule) if r.kind == "version")
    return asked is None or asked > newest[: len(asked)]


def is_older_than_known(number: str) -> bool:
    """True for a CUDA version before the table begins, where tags were made otherwise."""
    return (version(number) or (0,))[0] < _FIRST_MAJOR


def was_never_released(number: str) -> bool:
    """True for a CUDA release X.Y between known ones of its major that no toolkit has."""
    asked = (version(number) or ())[:2]
    known = {_key(row.toolkit)[:2] for row in rows(ToolkitDriver)}
    known |= {_key(r.value)[:2] for r in rows(CudaImageRule) if r.kind == "version"}
    same = [k for k in known if asked and k[0] == asked[0]]
    return bool(same) and asked not in known and min(same) < asked < max(same)


def distro_fits(number: str, distro: str) -> bool | None:
    """Whether there are images of a CUDA version for a release of Linux.

    The table was read from images with cuDNN, and others begin one release earlier (CUDA 12.5.1
    for Ubuntu 24.04) or end one later (12.1.0 for 18.04): there the answer is None.
    """
    row = next((r for r in rows(CudaImageRule) if r.kind == "distro" and r.value == distro), None)
    asked = (version(number) or ())[:2]
    if row is None or len(asked) < 2:
        return None
    if within(number, row.first or "0", row.last):
        return True
    known = sorted({_key(r.value)[:2] for r in rows(CudaImageRule) if r.kind == "version"})
    edge = row.first if row.first and _key(row.first) > _key(number) else row.last
    near = _key(edge or number)[:2]
    if asked not in known or near not in known:
        return None
    return None if abs(known.index(asked) - known.index(near)) <= 1 else False


def distro_range(distro: str) -> str:
    """The CUDA versions of a release of Linux, as a sentence says it."""
    row = next(r for r in rows(CudaImageRule) if r.kind == "distro" and r.value == distro)
    if row.first and row.last:
        return f"from {row.first} to {row.last}"
    return f"from {row.first} on" if row.first else f"up to {row.last}"


def has_nvcc(image: str) -> bool | None:
    """Whether an image brings NVIDIA's compiler; None where its name does not tell."""
    flavour = cuda_flavour(image)
    if flavour:
        return flavour == "devel"
    return False if _is_plain(image) else None


def has_cc(image: str) -> bool | None:
    """Whether an image brings a C compiler; None where its name does not tell."""
    flavour = cuda_flavour(image)
    if flavour:
        return flavour == "devel"
    repository, _, tag = _split(image)
    if repository == "python":
        return not any(word.startswith(("slim", "alpine")) for word in tag.split("-"))
    if repository in {"gcc", "buildpack-deps"}:
        return True
    return False if _is_plain(image) else None


def _is_plain(image: str) -> bool:
    """An official image of a Linux release, or of Python on one."""
    repository = _split(image)[0]
    return repository == "python" or any(repository in r.images for r in rows(Distribution))


def _split(image: str) -> tuple[str, str, str]:
    name = image.partition("@")[0]
    path, slash, last = name.rpartition("/")
    last, colon, tag = last.partition(":")
    repository = f"{path}{slash}{last}".removeprefix("docker.io/").removeprefix("library/")
    return repository, colon, tag


def _key(number: str) -> tuple[int, ...]:
    return version(number) or ()
