"""What the name of an image tells: tags of ``nvidia/cuda``, and compilers inside. Pure.

A tag is read word by word. What a name does not tell is None, never a guess: an image of somebody's
registry may hold anything, unless its path is that of an official one.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from envspec.facts.rows import CudaImageRule, Distribution, ToolkitDriver
from envspec.facts.tables import rows
from envspec.facts.versions import version, within

_CUDA, _CUDA_REGISTRIES = "nvidia/cuda", {"", "nvcr.io"}
_PYTORCH = "pytorch/pytorch"
_NUMBER = re.compile(r"\d+(?:\.\d+){1,2}", re.ASCII)
_PYTHON = re.compile(r"(\d+\.\d+)(?:$|[^\d])", re.ASCII)
_CUDNN = re.compile(r"cudnn\d*", re.ASCII)
_DISTRO = re.compile(
    r"(?:ubuntu|ubi|rockylinux|oraclelinux|centos|opensuse|amzn|cm)\d+(?:\.\d+)?", re.ASCII
)


class Image(NamedTuple):
    """The parts of an image's name; ``registry`` is empty for the default one."""

    registry: str
    repository: str
    tag: str

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the tag."""
        return tuple(self.tag.split("-"))

    @property
    def official(self) -> str:
        """The name of an official image (``debian``), also of a mirror's copy of one; else
        ``""``."""
        name = self.repository.removeprefix("library/")
        copied = self.repository != name
        return name if "/" not in name and (copied or not self.registry) else ""

    def comes_from(self, repository: str) -> bool:
        """Whether this is a repository of the default registry, or a mirror's copy of it."""
        return self.repository == repository or self.repository.endswith(f"/{repository}")


def parts(image: str) -> Image:
    """Read a name; its digest is left out."""
    path, _, last = image.partition("@")[0].rpartition("/")
    last, _, tag = last.partition(":")
    repository = f"{path}/{last}" if path else last
    first, _, rest = repository.partition("/")
    if not rest or not ("." in first or ":" in first or first == "localhost"):
        return Image("", repository, tag)
    return Image("" if first == "docker.io" else first, rest, tag)


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
    read = parts(image)
    named_so = read.repository == _CUDA and read.registry in _CUDA_REGISTRIES
    return read.tag if named_so else None


def read_cuda_tag(tag: str) -> CudaTag:
    """The parts of a tag, whatever their order."""
    flavours = {row.value for row in rows(CudaImageRule) if row.kind == "flavour"}
    found = dict.fromkeys(("number", "cudnn", "flavour", "distro"), "")
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
        if kind and not found[kind]:
            found[kind] = word
        else:
            unknown.append(word)
    return CudaTag(**found, unknown=tuple(unknown))


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
    oldest = min(_key(r.value) for r in rows(CudaImageRule) if r.kind == "version")
    return (version(number) or (0,))[0] < oldest[0]


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


def python_of(image: str) -> str:
    """The release of Python (``3.11``) that an official image of Python holds, as its tag has it;
    ``""`` for others, and for a tag that moves from release to release."""
    read = parts(image)
    match = _PYTHON.match(read.tag) if read.official == "python" else None
    return match[1] if match else ""


def has_nvcc(image: str) -> bool | None:
    """Whether an image brings NVIDIA's compiler; None where its name does not tell."""
    read = parts(image)
    if read.comes_from(_CUDA):
        return _flavoured(read, without=("base", "runtime"))
    if read.comes_from("nvidia/pytorch"):
        return True
    if read.comes_from(_PYTORCH):
        return _flavoured(read, without=("runtime",))
    return False if _is_plain(read) else None


def _flavoured(image: Image, *, without: tuple[str, ...]) -> bool | None:
    if "devel" in image.words:
        return True
    return False if any(word in image.words for word in without) else None


def nvcc_release(image: str) -> str:
    """The release of the nvcc inside, as its tag has it (``12.8.1``, ``12.4``); ``""`` where
    there is none, or its name does not tell."""
    read = parts(image)
    if not has_nvcc(image):
        return ""
    if read.comes_from(_CUDA):
        return read.words[0] if _NUMBER.fullmatch(read.words[0]) else ""
    found = (word[4:] for word in read.words if word.startswith("cuda"))
    named = read.comes_from(_PYTORCH)
    return next((number for number in found if named and _NUMBER.fullmatch(number)), "")


def has_cc(image: str) -> bool | None:
    """Whether an image brings a C compiler; None where its name does not tell."""
    nvcc, read = has_nvcc(image), parts(image)
    if nvcc or read.official in {"gcc", "buildpack-deps"}:
        return True
    if read.official == "python":
        return not any(word.startswith(("slim", "alpine")) for word in read.words)
    return False if _is_plain(read) or cuda_flavour(image) else None


def has_default_cc(image: str) -> bool:
    """Whether it is certain that an image has the compiler of its distribution under its plain
    name; the ``gcc`` images have one of their own."""
    return has_cc(image) is True and parts(image).official != "gcc"


def _is_plain(image: Image) -> bool:
    """An official image of a Linux release, or of Python on one."""
    name = image.official
    return name == "python" or (bool(name) and any(name in r.images for r in rows(Distribution)))


def newest_devel(cuda: str, distribution: str = "ubuntu22.04") -> str:
    """The newest `nvidia/cuda` image with the compiler of a CUDA release; ``""`` for none."""
    asked = version(cuda)
    if asked is None or len(asked) < 2:
        return ""
    levels = patch_levels(".".join(map(str, asked[:2])))
    if not levels or not distro_fits(levels[-1], distribution):
        return ""
    return f"{_CUDA}:{levels[-1]}-devel-{distribution}"


def devel_of(image: str, cuda: str) -> str:
    """The same `nvidia/cuda` image with the compiler of another CUDA release; ``""`` where none
    is known."""
    read = parts(image)
    if read[:2] != ("", _CUDA) or len(read.words) != 3 or read.words[1] != "devel":
        return ""
    return newest_devel(cuda, read.words[2])


def _key(number: str) -> tuple[int, ...]:
    return version(number) or ()
