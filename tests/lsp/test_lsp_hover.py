"""Hover: the facts behind a value, each with its source and date."""

from __future__ import annotations

import pytest
from editor import Editor, cut
from specs import CLEAN

from envspec.language.statements import every_word
from envspec.lsp.hover import Hover, hover
from envspec.lsp.tree import Tree

BORN = r"\*Source: .+; as of \d{4}-\d{2}-\d{2}\*"


def at(text: str, locked: dict[str, str] | None = None) -> str:
    """What hover says at the `|` of a text."""
    found = hover(Tree(text.replace("|", "", 1)), text.index("|"), locked)
    return found.markdown if isinstance(found, Hover) else ""


def test_the_facts_behind_torch() -> None:
    said = at("packages {\n  to|rch ==2.9.1 from pytorch-cu128\n}")
    for fact in (
        "torch `2.9.1`, build `cu128`: CUDA 12.8, the build of the default index",
        "Driver: >= 525.60.13 (every CUDA 12 runs on it); for PTX >= 570.26",
        "Architectures: sm_70, sm_75, sm_80, sm_86, sm_90, sm_100, sm_120; PTX: none",
        "Python: 3.10 to 3.14",
        "glibc: 2.28; C++11 ABI: TRUE",
        "cuDNN 9.10.2.21, NCCL 2.27.5, triton 3.5.1",
        "torchvision 0.24.1; torchaudio 2.9.1; xformers 0.0.33.post2",
        "as of 2026-11-29*",
    ):
        assert fact in said


def test_torch_in_a_build_for_cpu() -> None:
    said = at("packages {\n  torch ==2.13|.0+cpu from pytorch-cpu\n}")
    assert "build `cpu`: CPU only" in said
    assert "Driver" not in said


def test_a_torch_that_the_facts_do_not_know_is_said_to_be_unknown() -> None:
    assert "know no torch `9.9`" in at("packages {\n  torch| ==9.9\n}")
    assert "not settled" in at("packages {\n  torch| >=2\n}")
    assert "torch `2.9.1`" in at("packages {\n  torch| >=2\n}", {"torch": "2.9.1"})


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (
            "packages {\n torch ==2.9.1\n torchvision| ==0.24.1\n}",
            ["With torch `2.9.1`: torchvisi"],
        ),
        ("packages {\n xformers| ==0.0.33\n}", ["goes with torch 2.9"]),
        ("packages {\n jax[cuda12]| >=0.5\n}", ["`jax[cuda12]`: driver >= 525"]),
        ("packages {\n tensorflow| ==2.19.0\n}", ["CUDA 12.5, cuDNN 9.3", "Python 3.9 to 3.12"]),
        ("packages {\n opencv-python|\n}", ["Provides: `cv2`"]),
        ("accelerator cuda 12|.8", [">= 525.60.13", "gcc up to 14", "sm_100"]),
        ("accelerator cuda 12.8 {\n gpus sm_9|0\n}", ["Hopper: H100, H200", "from 11.8, still"]),
        ("accelerator cuda 12.8 {\n gpus sm_7|0\n}", ["Volta: V100", "to 12.9"]),
        ("accelerator cuda 12.8 {\n driver >=5|50\n}", ["prints): 12.4", "CUDA 12, CUDA 11"]),
        ("accelerator cuda 12.8 {\n driv|er >=580\n}", ["prints): 13.0", "The oldest driver"]),
        ('platform linux/amd64 {\n base "debian:1|2"\n}', ["debian 12: glibc 2.36, gcc 12"]),
        ("extension flash|-attn ==2.8.3 {\n}", ["FORCE_BUILD", "20 GB", "needs: `torch`, `ninja`"]),
        ('extension flash-attn {\n env MAX_|JOBS="4"\n}', ["FLASH_ATTENTION_FORCE_BUILD"]),
        ("extension flash-attn {\n needs ca|usal-conv1d\n}", ["CAUSAL_CONV1D_FORCE_BUILD"]),
        ("extension flash-attn {\n module flash_|attn\n}", ["comes from `flash-attn`"]),
        ('imports {\n optional cv|2 because "x"\n}', ["`opencv-python`"]),
        ("packages {\n a ==1 from pytorch-cu1|28\n}", ["for CUDA 12.8", "525.60.13"]),
        ('index lab "https://e.org/x"\nmirror m for l|ab', ["`https://e.org/x`"]),
    ],
)
def test_facts_of_values(text: str, facts: list[str]) -> None:
    said = at(text)
    for fact in facts:
        assert fact in said


def test_every_statement_has_its_meaning() -> None:
    for word in every_word():
        name = "VALUE" if word.word == "NAME" else word.word
        text = f"{word.inside} {{\n|{name} \n}}" if word.inside else f"|{name} "
        said = at(text)
        assert f"```envspec\n{word.form}\n```" in said, word
        assert word.meaning in said
        assert f"Default: {word.default}." in said


@pytest.mark.parametrize("text", ["# com|ment", "packages {\n  |\n}", "nonsen|se", "|"])
def test_nothing_is_said_of_nothing(text: str) -> None:
    assert at(text) == ""


def test_text_of_a_spec_is_never_markdown() -> None:
    said = at("packages {\n  a`**b**<img/src=x>![](http:x)| ==1\n}")
    title = said.partition("\n")[0]
    assert title.startswith("**`a")
    assert title.endswith("`**")
    assert title.count("`") == 2


def test_hover_over_the_wire(shared: Editor, uri: str) -> None:
    shared.open(uri, CLEAN.replace("demo {", "demo { # 𝒳"))
    found = shared.about(uri, "hover", "gpus   sm_80 |sm_90")
    assert found["contents"]["kind"] == "markdown"
    assert cut(shared.texts[uri], found["range"]) == "sm_90"
    assert shared.about(uri, "hover", "# |𝒳") is None
