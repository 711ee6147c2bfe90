"""Why each pin is possible: what the spec says, what the lock has, what the facts tell."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from envspec.explain import Explained, UnknownPackageError, explain
from envspec.language.parse import parse
from envspec.language.resolve import resolve
from envspec.lock.model import Artefact, Lock, LockedExtension, LockedPackage
from envspec.model import Spec
from envspec.report import explained
from envspec.source import SourceFile

sys.path.insert(0, str(Path(__file__).parents[1] / "golden"))
from golden import compare

HERE = Path(__file__).parent
SPEC = """envspec 1

project demo {
  source path "."
}

platform linux/amd64 {
  base   "python:3.11-slim-bookworm"
  devel  "nvidia/cuda:12.8.1-devel-ubuntu22.04"
  python 3.11
  glibc  >=2.28
}

accelerator cuda 12.8 {
  driver >=550.54.14
  gpus   sm_80 sm_90
}

resources {
  memory 64GiB
}

packages {
  torch       ==2.8.0
  torchvision ==0.23.0 because "transforms"
  torchaudio  ==2.7.1
  jax[cuda12] ==0.8.2
  tensorflow  ==2.20.0
  apex
  einops
}

extension flash-attn ==2.8.3 {
  needs torch ninja packaging setuptools wheel
  env   FLASH_ATTENTION_FORCE_BUILD="TRUE"
  module flash_attn_2_cuda
}
extension homemade ==1.0 {
  needs torch setuptools
}
"""
VERSIONS = {
    "torch": ("2.8.0", ["torchvision", "spec"]),
    "torchvision": ("0.23.0", ["spec"]),
    "torchaudio": ("2.7.1", ["spec"]),
    "jax": ("0.8.2", ["spec"]),
    "tensorflow": ("2.20.0", ["spec"]),
    "apex": ("0.9.10", ["spec"]),
    "einops": ("0.8.1", ["spec"]),
    "jinja2": ("3.1.6", ["torch"]),
    "markupsafe": ("3.0.3", ["jinja2"]),
    "filelock": ("3.20.0", ["torch", "jinja2"]),
}


def locked(name: str, version: str, requires: list[str], why: list[str]) -> LockedPackage:
    file = f"{name}-{version}-py3-none-any.whl"
    artefact = Artefact("pypi", file, "ab" * 32, 1_234_567)
    return LockedPackage(name, version, artefact, tuple(requires), tuple(why))


def lock() -> Lock:
    names = {name: [] for name in VERSIONS} | {"torch": ["jinja2"]}
    installer = locked("uv", "0.13.9", [], ["spec"])
    return Lock(
        inputs=(),
        base_name="python:3.11-slim-bookworm",
        base_digest=f"sha256:{'0' * 64}",
        source=locked("demo", "1", [], []).artefact,
        installer=installer,
        packages=tuple(locked(n, v, names[n], why) for n, (v, why) in VERSIONS.items()),
        resolver="uv",
        resolver_version="0.13.9",
    )


def compiled(**more: str) -> Lock:
    """The lock with what it holds of the two extensions."""
    whole = lock()
    torch = next(p for p in whole.packages if p.name == "torch")
    tools = (
        locked("packaging", "25.0", [], ["wheel", "spec"]),
        locked("setuptools", "80.9.0", [], ["spec"]),
        torch,
        locked("wheel", "0.45.1", ["packaging"], ["spec"]),
    )
    flash = LockedExtension(
        "flash-attn",
        "2.8.3",
        Artefact("pypi", "flash_attn-2.8.3.tar.gz", "cd" * 32, 8_400_000),
        ("einops", "torch"),
        tools,
    )
    source = Artefact("", "homemade-0123456789ab.tar", "ef" * 32, 10_240)
    made = LockedExtension("homemade", "1.0", source, (), (torch,), **more)
    return whole._replace(extensions=(flash, made))


@pytest.mark.parametrize("name", ["flash-attn", "homemade", "setuptools", "packaging"])
def test_what_is_compiled_as_it_is_drawn(name: str) -> None:
    wheel = {"wheel": "homemade-1.0-cp311-cp311-linux_x86_64.whl", "wheel_sha256": "12" * 32}
    found = explain(*read(), compiled(**wheel), name)
    path = HERE / "texts" / f"{name}-locked.txt"
    compare(path, explained.text(found), folder="tests/explain")


def test_a_repository_is_told_without_its_credentials() -> None:
    commit = "0123456789abcdef0123456789abcdef01234567"
    git = f'source git "https://code.example/homemade" at "{commit}"'
    text = SPEC.replace(
        "extension homemade ==1.0 {\n  needs torch setuptools",
        f"extension homemade {{\n  {git}\n  needs torch setuptools",
    )
    assert git in text
    (found,) = explain(*read(text), compiled(), "homemade")
    assert "its source is https://code.example/homemade at 0123456789ab, packed as" in said(found)


def test_another_torch_than_it_was_locked_against_is_told() -> None:
    whole = compiled()
    old = next(p for p in whole.packages if p.name == "torch")._replace(version="2.7.1")
    first = whole.extensions[0]._replace(build=(old,))
    (found,) = explain(*read(), whole._replace(extensions=(first,)), "flash-attn")
    assert "it is locked against torch 2.7.1, and torch 2.8.0 is installed" in said(found)


def test_everything_holds_extensions_and_no_tools_of_their_builds() -> None:
    names = [e.name for e in explain(*read(), compiled())]
    assert names == [e.name for e in explain(*read(), lock())]


def read(text: str = SPEC) -> tuple[Spec, SourceFile]:
    source = SourceFile("spec.env", text)
    return resolve(parse(source), source), source


def one(name: str, text: str = SPEC, *, locked: bool = True) -> Explained:
    (found,) = explain(*read(text), lock() if locked else None, name)
    return found


def said(found: Explained) -> str:
    return "\n".join(link.text for link in found.chain)


@pytest.mark.parametrize(
    "name",
    [
        "torch", "torchvision", "torchaudio", "jax", "tensorflow", "apex", "einops",
        "markupsafe", "flash-attn", "homemade", "accelerator",
    ],
)  # fmt: skip
def test_the_chain_as_it_is_drawn(name: str) -> None:
    path = HERE / "texts" / f"{name}.txt"
    compare(path, explained.text([one(name)]), folder="tests/explain")


def test_everything_is_explained_in_the_order_of_the_spec_and_then_of_the_lock() -> None:
    found = explain(*read(), lock())
    assert [e.name for e in found] == [
        "accelerator", "torch", "torchvision", "torchaudio", "jax", "tensorflow", "apex", "einops",
        "flash-attn", "homemade", "filelock", "jinja2", "markupsafe",
    ]  # fmt: skip
    assert all(e.chain for e in found)


def test_a_long_way_is_cut_in_the_middle() -> None:
    locked = lock()
    (base,) = (p for p in locked.packages if p.name == "einops")
    names = [f"p{number}" for number in range(30)]
    chained = [
        base._replace(name=name, why=(before,))
        for before, name in zip(["einops", *names], names, strict=False)
    ]
    (found,) = explain(*read(), locked._replace(packages=(*locked.packages, *chained)), "p29")
    assert "p29 ← p28 ← p27 ← 25 more ← p1 ← p0 ← einops ← the spec" in said(found)


def test_a_name_in_any_spelling() -> None:
    assert one("Flash_Attn").name == "flash-attn"


def test_a_name_that_nobody_has() -> None:
    with pytest.raises(UnknownPackageError) as caught:
        explain(*read(), lock(), "numpy")
    assert caught.value.name == "numpy"
    assert "torch" in caught.value.known


def test_a_dependency_is_traced_to_the_spec() -> None:
    assert "markupsafe ← jinja2 ← torch ← the spec" in said(one("markupsafe"))


def test_who_requires_each_other_is_no_endless_way() -> None:
    locked = lock()
    changed = [
        p._replace(why=("markupsafe",)) if p.name == "jinja2" else p for p in locked.packages
    ]
    (found,) = explain(*read(), locked._replace(packages=tuple(changed)), "markupsafe")
    assert "required by jinja2" in said(found)


@pytest.mark.parametrize(
    ("change", "name", "sentence"),
    [
        (("550.54.14", "470.42.01"), "torch", "driver >=470.42.01 does not run CUDA 12.x"),
        (("sm_80 sm_90", "sm_60"), "torch", "cu128 has no code for sm_60"),
        (("python 3.11", "python 3.14"), "torch", "and not for 3.14"),
        (("python:3.11-slim-bookworm", "centos:7"), "torch", "glibc 2.17, which is too old"),
        (("python:3.11-slim-bookworm", "alpine:3.19"), "torch", "musl and no glibc"),
        (("glibc  >=2.28", "glibc  >=2.17"), "torch", "glibc >=2.17, less than that"),
        (("accelerator cuda 12.8", "accelerator cuda 11.8"), "torch", "CUDA 11.8: another major"),
        (("accelerator cuda 12.8", "accelerator cuda 12.4"), "torch", "CUDA 12.4: the same major"),
        (("sm_80 sm_90", "sm_75"), "flash-attn", "runs on sm_80 and newer, and not on sm_75"),
        (("cuda:12.8.1-devel", "cuda:11.8.0-devel"), "flash-attn", "another major than torch's"),
        (("12.8.1-devel-ubuntu22.04", "12.1.1-devel-ubuntu24.04"), "flash-attn", "does not accept"),
        (('FORCE_BUILD="TRUE"', 'LOCAL_VERSION="x"'), "flash-attn", "TRUE, and the spec does not"),
        (("memory 64GiB", "jobs 2"), "flash-attn", "the spec allows 2 at once"),
        (("python 3.11", "python 3.14"), "tensorflow", "Python 3.14 is not one of them"),
    ],
)  # fmt: skip
def test_what_does_not_hold_is_told(change: tuple[str, str], name: str, sentence: str) -> None:
    assert change[0] in SPEC
    assert sentence not in said(one(name))
    assert sentence in said(one(name, SPEC.replace(*change)))


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("torch", "the version of torch is open"),
        ("torchvision", "a version is open"),
        ("einops", "no lock settles its version"),
    ],
)
def test_what_is_not_known_is_told(name: str, sentence: str) -> None:
    open_ = SPEC.replace("==2.8.0", "").replace("==0.23.0", "")
    found = one(name, open_, locked=False)
    assert [link.known for link in found.chain if sentence in link.text] == [False]


def test_a_cpu_build_is_named_as_one() -> None:
    text = SPEC.replace("torch       ==2.8.0", "torch ==2.8.0+cpu from pytorch-cpu")
    assert "it uses no GPU" in said(one("torch", text, locked=False))


def test_a_torch_that_the_facts_lack_is_unknown_and_no_error() -> None:
    text = SPEC.replace("torch       ==2.8.0", "torch ==9.9.0+cu128 from pytorch-cu128")
    found = one("torch", text, locked=False)
    assert not found.chain[-1].known
    assert "not among the facts" in found.chain[-1].text


def test_every_known_sentence_of_a_fact_has_its_day() -> None:
    for subject in explain(*read(), lock()):
        for link in subject.chain:
            if link.source not in {"", "the spec", "the lock"}:
                assert len(link.as_of) == 10, link
    facts = [link for link in one("torch").chain if link.as_of]
    assert len(facts) >= 6


def test_the_document_holds_every_sentence() -> None:
    found = explain(*read(), lock(), "torch")
    data = explained.document(found)
    assert data["schema"] == 1
    (torch,) = data["explained"]
    assert (torch["name"], torch["version"]) == ("torch", "2.8.0")
    assert [link["text"] for link in torch["chain"]] == [link.text for link in found[0].chain]
    assert set(torch["chain"][0]) == {"text", "source", "as_of", "known"}
