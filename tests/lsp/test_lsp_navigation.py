"""Definitions, references, renaming, outline and folding."""

from __future__ import annotations

from typing import Any

import pytest
from editor import Editor, ErrorAnswerError, applied, cut, place
from specs import CLEAN

NEEDING = CLEAN.replace(
    "entry smoke {",
    'secret HF_TOKEN because "gated"\n\nasset weights {\n  url    "https://example.org/w.pt"\n'
    '  sha256 "SHA"\n  secret HF_TOKEN\n}\n\n'
    'service db {\n  image "postgres:16"\n  port  5432\n}\n\n'
    "entry smoke {\n  service db\n  asset   weights\n  secret  HF_TOKEN".replace("SHA", "a" * 64),
)


def lines(text: str, found: list[dict[str, Any]]) -> list[str]:
    """The lines that locations are on, and what they cover."""
    rows = text.split("\n")
    return [f"{cut(text, f['range'])}: {rows[f['range']['start']['line']]}" for f in found]


@pytest.mark.parametrize(
    ("where", "target"),
    [
        ("==1.0    from la|b", 'lab: index lab "https://wheels.example.org/simple"'),
        ("service d|b", "db: service db {"),
        ("asset   wei|ghts", "weights: asset weights {"),
        ("secret  HF_|TOKEN", 'HF_TOKEN: secret HF_TOKEN because "gated"'),
        ("  secret HF_|TOKEN\n}", 'HF_TOKEN: secret HF_TOKEN because "gated"'),
        ("c|1             pass", "smoke: entry smoke {"),
        ("c3             unst|ated", "train: entry train {"),
    ],
)
def test_definitions(shared: Editor, uri: str, where: str, target: str) -> None:
    shared.open(uri, NEEDING)
    found = shared.about(uri, "definition", where)
    assert [f["uri"] for f in found] == [uri]
    assert lines(NEEDING, found) == [target]


def test_what_an_extension_needs_is_defined_in_packages(shared: Editor, uri: str) -> None:
    text = CLEAN + "\nextension flash-attn ==2.8.3 {\n  needs torch wheel\n}\n"
    shared.open(uri, text)
    found = shared.about(uri, "definition", "needs to|rch")
    assert lines(text, found) == ["torch:   torch       ==2.9.1  from pytorch-cu128"]
    assert shared.about(uri, "definition", "needs torch whe|el") == []


def test_what_is_declared_nowhere_has_no_definition(shared: Editor, uri: str) -> None:
    shared.open(uri, NEEDING)
    assert shared.about(uri, "definition", "from pytorch|-cu128") == []
    assert shared.about(uri, "definition", "python_ver|sion") == []
    assert shared.about(uri, "definition", "timeout |5m") == []


def test_references_and_highlights(shared: Editor, uri: str) -> None:
    shared.open(uri, NEEDING)
    found = shared.about(uri, "references", "index la|b", context={"includeDeclaration": True})
    assert [line.strip() for line in lines(NEEDING, found)][1:] == [
        'lab: index lab "https://wheels.example.org/simple"',
        "lab:   helper      ==1.0    from lab",
    ]
    assert len(found) == 3
    used = shared.about(uri, "references", "index la|b", context={"includeDeclaration": False})
    assert len(used) == 2
    marked = shared.about(uri, "documentHighlight", "index la|b")
    assert [m["range"] for m in marked] == [f["range"] for f in found]


def test_renaming_changes_every_place(shared: Editor, uri: str) -> None:
    shared.open(uri, NEEDING)
    before = {d["code"] for d in shared.change(uri, {"text": NEEDING})}
    assert cut(NEEDING, shared.about(uri, "prepareRename", "service d|b")) == "db"
    for where, name in (
        ("service d|b", "store"),
        ("index la|b", "mine"),
        ("HF_TOK|EN be", "OTHER"),
    ):
        edit = shared.about(uri, "rename", where, newName=name)
        text = applied(shared.texts[uri], edit["changes"][uri])
        shared.texts[uri] = text
        assert {d["code"] for d in shared.change(uri, {"text": text})} == before
    expected = NEEDING.replace("HF_TOKEN", "OTHER").replace("db", "store")
    assert shared.texts[uri] == expected.replace("index lab", "index mine").replace(
        "from lab", "from mine"
    )


def test_renaming_refuses_what_cannot_be(shared: Editor, uri: str) -> None:
    shared.open(uri, NEEDING)
    assert shared.about(uri, "prepareRename", "from pytorch|-cu128") is None
    assert shared.about(uri, "rename", "from pytorch|-cu128", newName="x") is None
    assert shared.about(uri, "prepareRename", "tor|ch  ") is None
    with pytest.raises(ErrorAnswerError, match="expected a name"):
        shared.about(uri, "rename", "entry smo|ke", newName='a "b" {')
    with pytest.raises(ErrorAnswerError, match="already"):
        shared.about(uri, "rename", "entry smo|ke", newName="train")


def test_the_outline_follows_the_text(shared: Editor, uri: str) -> None:
    shared.open(uri, CLEAN)
    found = shared.about(uri, "documentSymbol", "envspec|")
    assert [s["name"] for s in found] == [
        "envspec",
        "project demo",
        "platform",
        "accelerator",
        "index lab",
        "packages",
        "entry smoke",
        "entry train",
        "claims",
    ]
    packages = found[5]
    assert [(c["name"], c["detail"]) for c in packages["children"]][2] == (
        "helper",
        "==1.0 from lab",
    )
    for symbol in found:
        inner, outer = symbol["selectionRange"], symbol["range"]
        assert (outer["start"]["line"], outer["start"]["character"]) <= (
            inner["start"]["line"],
            inner["start"]["character"],
        )
        assert inner["end"]["line"] <= outer["end"]["line"]


def test_the_outline_of_a_broken_file(shared: Editor, uri: str) -> None:
    shared.open(uri, CLEAN.replace("from lab\n}\n\nentry smoke", "from lab\n\nentry smoke"))
    names = [s["name"] for s in shared.about(uri, "documentSymbol", "envspec|")]
    assert names[-4:] == ["packages", "entry smoke", "entry train", "claims"]


def test_blocks_and_comments_fold(shared: Editor, uri: str) -> None:
    shared.open(uri, CLEAN.replace("# Everything", "# One\n# Two\n# Everything"))
    text = shared.texts[uri].split("\n")
    folds = shared.about(uri, "foldingRange", "envspec|")
    shown = {text[f["startLine"]]: (f["endLine"] - f["startLine"], f["kind"]) for f in folds}
    assert shown["packages {"] == (3, "region")
    assert shown["# One"] == (2, "comment")
    assert place(CLEAN, 0) == {"line": 0, "character": 0}
