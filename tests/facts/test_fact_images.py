"""What the name of an image tells."""

from __future__ import annotations

import pytest

from envspec.facts import images
from envspec.facts.rows import CudaImageRule
from envspec.facts.tables import rows
from envspec.facts.versions import version


@pytest.mark.parametrize(
    ("image", "tag"),
    [
        ("nvidia/cuda:12.8.1-base-ubuntu22.04", "12.8.1-base-ubuntu22.04"),
        ("docker.io/nvidia/cuda:x", "x"),
        ("nvcr.io/nvidia/cuda:x@sha256:" + "a" * 64, "x"),
        ("nvidia/cuda", ""),
        ("localhost:5000/nvidia/cuda:12.8", None),
        ("nvidia/cudagl:11.4.2", None),
        ("python:3.11", None),
    ],
)
def test_tag_of_the_cuda_images(image: str, tag: str | None) -> None:
    assert images.cuda_tag(image) == tag


def test_parts_of_a_tag_whatever_their_order() -> None:
    parts = images.read_cuda_tag("12.4.1-devel-cudnn-ubuntu22.04")
    assert parts == ("12.4.1", "cudnn", "devel", "ubuntu22.04", ())
    assert parts.text == "12.4.1-cudnn-devel-ubuntu22.04"
    assert images.read_cuda_tag("12.8-base-base-amd64").unknown == ("base", "amd64")


def test_every_version_and_distribution_of_the_table_is_known() -> None:
    for row in rows(CudaImageRule):
        if row.kind == "version":
            minor = ".".join(map(str, (version(row.value) or ())[:2]))
            assert row.value in images.patch_levels(minor)
            assert not images.is_newer_than_known(row.value)
            assert not images.was_never_released(row.value)
    assert images.patch_levels("12.6") == ("12.6.0", "12.6.1", "12.6.2", "12.6.3")


def test_releases_around_the_known_ones() -> None:
    assert images.was_never_released("12.7.0")
    assert images.was_never_released("12.7")
    assert not images.was_never_released("12.10.0")
    assert not images.was_never_released("14.0.0")
    assert images.is_newer_than_known("13.2.2")
    assert images.is_newer_than_known("13.3")
    assert not images.is_newer_than_known("13.2")
    assert not images.is_newer_than_known("12.10.0")
    assert images.is_older_than_known("10.2")


@pytest.mark.parametrize(
    ("number", "distro", "fits"),
    [
        ("12.8.1", "ubuntu22.04", True),
        ("11.7.1", "ubuntu22.04", True),
        ("11.7.0", "ubuntu22.04", None),  # published, and not in a table of images with cuDNN
        ("12.5.1", "ubuntu24.04", None),  # so is this
        ("12.1.0", "ubuntu18.04", None),  # and this
        ("12.4.1", "ubuntu24.04", False),
        ("12.2.2", "ubuntu18.04", False),
        ("13.1.1", "ubuntu20.04", False),
        ("11.4.3", "ubuntu16.04", None),
        ("11.5.2", "ubuntu16.04", False),
        ("12.8.1", "rockylinux9", None),
        ("x", "ubuntu22.04", None),
    ],
)
def test_distributions_of_a_cuda_version(number: str, distro: str, fits: bool | None) -> None:
    assert images.distro_fits(number, distro) is fits


@pytest.mark.parametrize(
    ("image", "nvcc", "cc"),
    [
        ("nvidia/cuda:12.8.1-devel-ubuntu22.04", True, True),
        ("nvidia/cuda:12.8.1-cudnn-runtime-ubuntu22.04", False, False),
        ("python:3.11-slim-bookworm", False, False),
        ("python:3.11-alpine3.20", False, False),
        ("python:3.11", False, True),
        ("docker.io/library/python:3.11-bookworm", False, True),
        ("ubuntu:22.04", False, False),
        ("debian:12", False, False),
        ("buildpack-deps:bookworm", None, True),
        ("pytorch/pytorch:2.9.1-cuda12.8-cudnn9-devel", True, True),
        ("registry.example.org/python:3.11-slim", None, None),
        ("nvidia/cuda", None, None),
    ],
)
def test_compilers_inside(image: str, nvcc: bool | None, cc: bool | None) -> None:
    assert images.has_nvcc(image) is nvcc
    assert images.has_cc(image) is cc


@pytest.mark.parametrize(
    ("image", "parts", "official"),
    [
        ("debian:12", ("", "debian", "12"), "debian"),
        ("docker.io/library/python", ("", "library/python", ""), "python"),
        ("mirror.example.org:5000/library/ubuntu:22.04@sha256:0",
         ("mirror.example.org:5000", "library/ubuntu", "22.04"), "ubuntu"),
        ("localhost/python:3.11", ("localhost", "python", "3.11"), ""),
        ("somebody/python:3.11", ("", "somebody/python", "3.11"), ""),
        ("", ("", "", ""), ""),
    ],
)  # fmt: skip
def test_the_parts_of_a_name(image: str, parts: tuple[str, str, str], official: str) -> None:
    assert images.parts(image) == parts
    assert images.parts(image).official == official


@pytest.mark.parametrize(
    ("image", "release"),
    [
        ("nvidia/cuda:12.8.1-cudnn-devel-ubuntu22.04", "12.8.1"),
        ("mirror.example.org/nvidia/cuda:12.8-devel-ubi9", "12.8"),
        ("pytorch/pytorch:2.4.1-cuda12.4-cudnn9-devel", "12.4"),
        ("nvidia/cuda:12.8.1-runtime-ubuntu22.04", ""),
        ("somebody/cuda:12.8.1-devel-ubuntu22.04", ""),
        ("nvidia/pytorch:25.08-py3", ""),
    ],
)
def test_the_nvcc_inside(image: str, release: str) -> None:
    assert images.nvcc_release(image) == release
