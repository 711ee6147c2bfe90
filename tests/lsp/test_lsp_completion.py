"""Completion: what the table, the facts and the spec itself offer, however broken the file is."""

from __future__ import annotations

import re

import pytest
from editor import Editor, applied
from specs import CLEAN

from envspec.facts.rows import TorchPairing
from envspec.language.parse import parse
from envspec.language.resolve import resolve_all
from envspec.language.statements import MANY, words_in
from envspec.lsp.completion import Proposal, completions
from envspec.lsp.snippets import snippets
from envspec.lsp.tree import Tree
from envspec.source import SourceFile

BLOCKS = sorted({block for block in map(str, words_in("")) if words_in(block)})


def offered(text: str, locked: dict[str, str] | None = None) -> dict[str, Proposal]:
    """What is offered at the `|` of a text."""
    offset = text.index("|")
    found = completions(Tree(text.replace("|", "", 1)), offset, locked)
    return {p.label: p for p in found}


def details(text: str) -> dict[str, str]:
    return {label: p.detail for label, p in offered(text).items()}


# --- statements ---


def test_the_top_level_offers_every_statement_of_the_table() -> None:
    found = list(offered("|"))
    words = dict.fromkeys(label.partition(" ")[0] for label in found)
    assert list(words) == list(words_in(""))


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("ending", ["\n}\n", "\n", '\n  run "\n{ {\n'])
def test_each_block_offers_its_own_statements(block: str, ending: str) -> None:
    found = offered(f"envspec 1\n{block} x {{\n  |{ending}")
    named = [p.label.partition(" ")[0] for p in found.values() if p.kind in {"snippet", "keyword"}]
    there = {"run"} if "run" in ending else set()
    assert set(named) - there == set(words_in(block)) - {"NAME"} - there
    other = next(b for b in BLOCKS if b != block and "NAME" not in words_in(b))
    strangers = set(words_in(other)) - set(words_in(block))
    assert not strangers & set(found)


def test_what_may_stand_once_is_offered_once() -> None:
    found = offered('project a {\n  pythonpath "a"\n  |\n}\n')
    assert "pythonpath" not in found
    assert "source git" in found
    top = offered("packages {\n}\n|\nclaims {\n}")
    assert not {"packages", "claims"} & set(top)
    assert {"entry", "index", "system"} <= set(top)


def test_the_word_that_is_being_typed_does_not_hide_itself() -> None:
    assert "timeout" in offered("entry a {\n  timeout|\n}\n")


def test_at_the_left_edge_of_an_open_block_both_levels_are_offered() -> None:
    """Somebody who has not typed the closing brace yet may begin the next statement."""
    found = offered("packages {\n  torch ==2.9.1\n\nent|")
    assert {"entry", "torchvision"} <= set(found)
    assert "entry" not in offered("packages {\n  ent|\n}")


def test_a_top_level_word_at_the_left_edge_ends_a_block_left_open() -> None:
    found = offered("packages {\n  torch ==2.9.1\n\nentry a {\n  |\n")
    assert {"level", "timeout"} <= set(found)
    assert "torchvision" not in found


def test_a_name_at_the_left_edge_of_a_closed_block_is_a_name() -> None:
    """`system` is a statement of the top level, and here it is a package."""
    assert "from" in offered("packages {\nsystem |\nx\n}\n")


@pytest.mark.parametrize("where", ["# in a |comment", 'entry a {\n  run "py|thon"\n}'])
def test_nothing_is_offered_inside_comments_and_strings(where: str) -> None:
    assert offered(where) == {}


def test_every_snippet_is_what_the_language_takes() -> None:
    """Filled in with what the forms show, each gives a statement of the right shape."""
    filled = {
        "NAME": "name", "INDEX": "pypi", "HEX": "a" * 64, "FILE": "a.tar.gz", "FOLDER": "src",
        "URL": "https://example.org/x", "COMMIT": "a" * 40, "OS/ARCH": "linux/amd64", "X.Y": "3.11",
        "IMAGE[@sha256:DIGEST]": "debian:12", ">=X.Y": ">=2.28", "sm_XY": "sm_90", "N": "1",
        "SIZE": "1GiB", "STATUS": "0", "PATH": "a/b", "REGEX": "a", "10m": "5m", "MODULE": "a",
        "OWNER/NAME": "a/b", "REVISION": "a" * 40, "VALUE": "unstated", "REASON": "why",
        "PROGRAM": "a", "12.8": "12.8", "sm_90": "sm_90",
    }  # fmt: skip
    broken = {"E0101", "E0103", "E0104", "E0201", "E0203", "E0206"}
    count = 0
    for block in ("", *BLOCKS):
        for word in words_in(block).values():
            for snippet in snippets(word) if word.word != "NAME" else ():
                text = re.sub(r"\$\{\d+\|([^,|]*)[^}]*\}", r"\1", snippet.text)
                text = re.sub(r"\$\{\d+:([^}]*)\}", lambda m: filled[m[1]], text)
                text = text.replace("$0", "")
                # Of claims, the words are values of the wrong kind only for versions and paths.
                source = SourceFile("s", f"{block} x {{\n{text}\n}}\n" if block else f"{text}\n")
                _, found = resolve_all(parse(source), source)
                inside = [d for d in found if d.code in broken and word.word in d.title]
                assert not inside, (snippet, inside)
                count += 1
    assert count > 60


# --- values ---


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("entry a {\n  level |\n}", ["c1", "c3", "c4"]),
        ("accelerator |", ["cuda", "none"]),
        ("entry a {\n  network |\n}", ["allowed"]),
        ("platform |", ["linux/amd64", "linux/arm64"]),
        ("claims {\n  c3 |\n}", ["pass", "fail", "unstated"]),
        ("claims {\n  cuda_available |\n}", ["true", "false", "unstated"]),
        ("claims {\n  c3 pass |\n}", ["because"]),
        ('project a {\n  source archive "a" |\n}', ["sha256"]),
        ('project a {\n  source archive "a" sha256 "b" |\n}', ["from"]),
        ("project a {\n  source |\n}", ["archive", "path", "git"]),
        ("mirror a |", ["for"]),
        ("packages {\n  einops >=1 |\n}", ["from", "because"]),
        ("packages {\n  einops >=1 from pypi |\n}", ["because"]),
        ("packages {\n  einops from pypi because |\n}", []),
        ("service db {\n}\nservice web {\n}\nentry a {\n  service |\n}", ["db", "web"]),
        ("service db {\n}\nservice web {\n}\nentry a {\n  service db |\n}", ["web"]),
        ('secret HF_TOKEN because "x"\nasset a {\n  secret |\n}', ["HF_TOKEN"]),
        ('secret HF_TOKEN because "x"\nentry a {\n  secret |\n}', ["HF_TOKEN"]),
        ("asset a {\n}\nentry a {\n  asset |\n}", ["a"]),
        ("nonsense |", []),
        ("entry a {\n  nonsense |\n}", []),
    ],
)
def test_values_that_can_be_listed(text: str, labels: list[str]) -> None:
    assert list(offered(text)) == labels


def test_architectures_come_with_their_gpus() -> None:
    found = details("accelerator cuda 12.8 {\n  gpus sm_80 |\n}")
    assert found["sm_90"] == "Hopper: H100, H200, GH200"
    assert "sm_80" not in found, "it is there already"


def test_toolkits_and_drivers_come_with_their_floors() -> None:
    assert details("accelerator cuda |")["12.8"] == "driver >=525.60.13"
    found = details("accelerator cuda 12.8 {\n  driver |\n}")
    assert list(found)[:2] == [">=525.60.13", ">=570.26"]
    assert "PTX" in found[">=570.26"]


def test_packages_of_the_facts_and_of_the_lock() -> None:
    found = offered("packages {\n  |\n}", {"torch": "2.9.1", "my-own": "0.3"})
    assert {"torch", "torchvision", "xformers", "opencv-python", "my-own"} <= set(found)
    assert found["my-own"].detail == "locked at 0.3"
    assert "torch" not in offered("packages {\n  torch ==2.9.1\n  |\n}")


def test_versions_of_torch_come_from_the_facts() -> None:
    found = offered("packages {\n  torch ==|\n}")
    assert found["==2.9.1"].detail == "Python 3.10 to 3.14, CUDA 12.8"
    assert found["==2.9.1+cpu"].insert == "==2.9.1+cpu from pytorch-cpu"
    assert found["==2.9.1"].span == (19, 21), "the operator that stands there is replaced"
    least = offered("packages {\n  torch >=|\n}")
    assert ">=2.9.1" in least
    assert not [label for label in least if label.startswith("==")]
    behind = offered("packages {\n  torch ==| from pytorch-cu128\n}")
    assert not [label for label in behind if "+" in label], "its index is chosen already"


def test_companions_go_with_the_torch_of_the_spec() -> None:
    found = details("packages {\n  torch ==2.9.1\n  torchvision |\n}")
    assert found["==0.24.1"] == "goes with torch 2.9.1"
    assert not [label for label in found if label.startswith("==0.23")]
    every = details("packages {\n  torchvision |\n}")
    assert len(every) > 10
    assert found.items() <= every.items()


def test_a_pairing_of_series_offers_every_patch(monkeypatch: pytest.MonkeyPatch) -> None:
    row = TorchPairing(
        "torchvision", "0.24", "2.9", "series", None, None, None, "somewhere", "2026-01-01"
    )
    monkeypatch.setattr("envspec.lsp.offers.lookup.pairings", lambda *_: (row,))
    found = details("packages {\n  torch ==2.9.1\n  torchvision |\n}")
    assert found["==0.24.*"] == "goes with torch 2.9"
    assert ">=0.24" in details("packages {\n  torch ==2.9.1\n  torchvision >=|\n}")


def test_a_locked_version_is_offered() -> None:
    found = offered("packages {\n  einops |\n}", {"einops": "0.8.1"})
    assert found["==0.8.1"].detail == "locked"


def test_indexes_are_those_declared_and_those_known() -> None:
    found = details('index lab "https://e.org"\npackages {\n  torch ==2.9.1 from |\n}')
    assert list(found)[:3] == ["lab", "pypi", "pytorch-cpu"]
    assert found["pytorch-cu128"] == "torch for CUDA 12.8"
    assert "lab" in details('index lab "https://e.org"\nmirror a for |')
    assert "pytorch-cu130" in details("index |")


def test_an_extension_offers_what_its_build_takes() -> None:
    assert "flash-attn" in offered("extension |")
    head = "extension flash-attn ==2.8.3 {\n"
    variables = offered(f"{head}  env |\n}}")
    force = variables["FLASH_ATTENTION_FORCE_BUILD"]
    assert (force.insert, force.snippet) == ('FLASH_ATTENTION_FORCE_BUILD="$1"', True)
    assert {"torch", "ninja", "packaging"} <= set(offered(f"{head}  needs |\n}}"))
    assert "torch" not in offered(f"{head}  needs torch |\n}}")
    assert list(offered(f"{head}  module |\n}}")) == ["flash_attn"]


def test_claims_offer_what_the_spec_says() -> None:
    text = "packages {\n  torch ==2.9.1\n}\nclaims {\n  torch_version |\n}"
    assert list(offered(text)) == ["2.9.1", "unstated"]


# --- over the wire ---


def test_an_item_replaces_the_word_under_the_cursor(shared: Editor, uri: str) -> None:
    shared.open(uri, CLEAN)
    shared.replace(uri, "torchvision ==0.24.1", "torchvision ==0.2")
    answer = shared.about(uri, "completion", "torchvision ==0.2|")
    assert answer["isIncomplete"] is False
    (item,) = [i for i in answer["items"] if i["label"] == "==0.24.1"]
    assert item["detail"] == "goes with torch 2.9.1"
    text = applied(shared.texts[uri], [item["textEdit"]])
    assert text == CLEAN


def test_a_statement_comes_as_a_snippet_with_its_page(shared: Editor, uri: str) -> None:
    shared.open(uri, CLEAN)
    shared.replace(uri, "entry train {\n", "entry train {\n  \n")
    items = shared.about(uri, "completion", "entry train {\n  |\n")["items"]
    (item,) = [i for i in items if i["label"] == "expect output"]
    assert (item["kind"], item["insertTextFormat"]) == (15, 2)
    assert item["textEdit"]["newText"] == 'expect output "${1:REGEX}"'
    assert "```envspec\nexpect exit STATUS" in item["documentation"]["value"]
    assert [i["sortText"] for i in items] == sorted(i["sortText"] for i in items)


def test_completion_behind_wide_characters(shared: Editor, uri: str) -> None:
    shared.open(uri, CLEAN.replace("helper      ==1.0    from lab", "𝒳𝒳 ==1 from la"))
    (item, *_) = shared.about(uri, "completion", "𝒳𝒳 ==1 from la|")["items"]
    text = applied(shared.texts[uri], [item["textEdit"]])
    assert "𝒳𝒳 ==1 from lab\n" in text


def test_many_words_may_be_repeated() -> None:
    again = [w.word for w in words_in("").values() if w.often == MANY]
    text = "\n".join(f"{word} x" for word in again)
    labels = {label.partition(" ")[0] for label in offered(f"{text}\n|")}
    assert set(again) <= labels
