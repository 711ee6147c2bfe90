"""W0348: one warning, about the tables that a spec depends on and no others."""

from __future__ import annotations

from datetime import date

import pytest

from envspec import rules
from envspec.diagnostics import WARNING, Diagnostic
from envspec.facts import tables
from envspec.language.parse import parse
from envspec.language.resolve import resolve
from envspec.rules import stale_facts
from envspec.rules.view import View
from envspec.source import SourceFile

NEVER, LATER = date(2026, 9, 1), date(2030, 1, 1)
HEAD = (
    'envspec 1\nproject demo {\n  source archive "demo-1.tar.gz" sha256 "' + "a" * 64 + '"\n}\n'
    'platform linux/amd64 {\n  base "python:3.11-slim-bookworm"\n  python 3.11\n}\n'
)
CUDA = "accelerator cuda 12.8 {\n  gpus sm_80\n}\n"
TORCH = "packages {\n  torch ==2.7.1+cu128 from pytorch-cu128\n}\n"
OF_CUDA = {"cuda_arch", "cuda_branch", "cuda_driver", "cuda_toolkit"}


def view(text: str = "", locked: dict[str, str] | None = None) -> View:
    source = SourceFile("spec.env", HEAD + text)
    return View(resolve(parse(source), source), source, locked)


def findings(text: str, today: date) -> list[Diagnostic]:
    return list(stale_facts.check(view(text), today))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", set()),
        (CUDA, OF_CUDA),
        (TORCH, {"torch"}),
        (CUDA + TORCH, OF_CUDA | {"torch"}),
        ("packages {\n  torch\n  torchvision\n}\n", {"torch", "torch_pairing"}),
        ("packages {\n  xformers\n}\n", {"extension_wheels", "extensions"}),
        ("packages {\n  jax\n}\n", {"jax"}),
        ("packages {\n  tensorflow\n}\n", {"tensorflow"}),
        ("packages {\n  numpy\n}\n", set()),
    ],
)
def test_tables_that_a_spec_depends_on(text: str, names: set[str]) -> None:
    assert stale_facts.depends_on(view(text)) == names | {"distribution"}


def test_what_only_the_lock_has_counts() -> None:
    assert "torch" in stale_facts.depends_on(view("", {"torch": "2.7.1"}))


def test_names_are_names_of_tables() -> None:
    text = CUDA + "packages {\n  torch\n  torchvision\n  jax\n  tensorflow\n  flash-attn\n}\n"
    assert stale_facts.depends_on(view(text)) <= {table.name for table in tables.tables()}


def test_fresh_facts_are_silent() -> None:
    assert findings(CUDA + TORCH, NEVER) == []


def test_one_finding_names_every_table_and_its_oldest_row() -> None:
    (found,) = findings(CUDA + TORCH, LATER)
    assert (found.code, found.severity) == ("W0348", WARNING)
    due = tables.stale(LATER, OF_CUDA | {"torch", "distribution"})
    oldest = max(row.age_days for row in due)
    assert found.title == (
        f"facts that this spec is judged by are due for review, the oldest {oldest} days old"
    )
    assert found.labels[0].text == (
        "judged by `cuda_arch`, `cuda_branch`, `cuda_driver`, `cuda_toolkit`, `distribution` and "
        "`torch`"
    )
    drivers = [row for row in due if row.table == "cuda_driver"]
    first = min(row.as_of for row in drivers)
    assert f"`cuda_driver`: {len(drivers)} rows of {first} or later, to be looked at after " in (
        found.cause
    )
    assert "jax" not in found.cause
    assert found.hint == "install a newer envspec; `envspec facts --stale` lists the rows"
    source = found.source
    assert source is not None
    assert source.text[found.span.start :].startswith("accelerator")


def test_a_spec_of_nothing_special_rests_on_the_base_image() -> None:
    (found,) = findings("", LATER)
    assert found.labels[0].text == "judged by `distribution`"


def test_only_tables_that_are_due_are_named() -> None:
    torch = next(t for t in tables.tables() if t.name == "torch")
    day = date.fromordinal(
        min(date.fromisoformat(row.as_of) for row in torch.rows).toordinal() + torch.review_days + 1
    )
    (found,) = findings(CUDA + TORCH, day)
    assert found.labels[0].text == "judged by `torch`"


def test_it_is_no_rule_without_a_clock() -> None:
    assert "W0348" not in rules.RULES
