"""Two locks compared, as text, as Markdown and as data."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "golden"))

from golden import compare as golden

from envspec.lock.compare import (
    ADDED,
    CHANGED,
    DOWNGRADED,
    MOVED,
    REBUILT,
    REMOVED,
    UPGRADED,
    Setting,
    compare,
)
from envspec.lock.model import Artefact, Lock, LockedPackage
from envspec.report import changes

TEXTS = Path(__file__).parent / "texts"


def package(
    name: str,
    version: str,
    why: str = "spec",
    *,
    index: str = "pypi",
    sha: str = "a",
    size: int = 1_000_000,
    file: str = "",
) -> LockedPackage:
    file = file or f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
    return LockedPackage(name, version, Artefact(index, file, sha * 64, size), (), (why,))


def lock(*packages: LockedPackage, **more: Any) -> Lock:
    value = Lock(
        inputs=(("platform", "linux/amd64"), ("python", "3.11"), ("package torch", "==2.9.1")),
        base_name="python:3.11-slim-bookworm",
        base_digest="sha256:" + "b" * 64,
        source=Artefact("", "demo-1.0.tar.gz", "c" * 64, 10),
        installer=package("uv", "0.9.0"),
        packages=packages,
        resolver="uv",
        resolver_version="0.9.0",
    )
    return value._replace(**more)


BEFORE = lock(
    package("torch", "2.9.1", size=900_000_000),
    package("nvidia-cublas-cu12", "12.8.4.1", "torch", size=594_000_000),
    package("sympy", "1.14.0", "torch"),
    package("einops", "0.8.2"),
    package("numpy", "2.4.6", sha="1"),
    package("pillow", "12.0.0"),
    package("private", "1.0"),
)
AFTER = lock(
    package("torch", "2.11.0", size=950_000_000),
    package("nvidia-cublas", "13.1.0.3", "torch", size=423_000_000),
    package("sympy", "1.13.3", "torch"),
    package("einops", "0.8.2"),
    package("numpy", "2.4.6", sha="2"),
    package("private", "1.0", index="mirror"),
    package("unsized", "1.0", size=0),
    inputs=(("platform", "linux/amd64"), ("python", "3.12"), ("package torch", "==2.11.0")),
    base_digest="sha256:" + "d" * 64,
)


def test_the_texts() -> None:
    found = compare(BEFORE, AFTER)
    golden(TEXTS / "changes.txt", changes.text(found, "old.lock", "new.lock"), folder="tests/lock")
    text = changes.markdown(found, "old.lock", "new.lock")
    golden(TEXTS / "changes.md.txt", text, folder="tests/lock")
    text = json.dumps(changes.document(found), indent=1)
    golden(TEXTS / "changes.json.txt", text + "\n", folder="tests/lock")


def test_torch_is_told_by_the_facts() -> None:
    (torch,) = (c for c in compare(BEFORE, AFTER).changes if c.name == "torch")
    assert torch.kind == UPGRADED
    assert torch.notes[:3] == (
        "default CUDA 12.8 → 13.0",
        "driver floor 525.60.13 → 580",
        "Volta (sm_70) dropped",
    )


def test_the_way_back_tells_the_opposite() -> None:
    (torch,) = (c for c in compare(AFTER, BEFORE).changes if c.name == "torch")
    assert torch.kind == DOWNGRADED
    assert torch.notes[:3] == (
        "default CUDA 13.0 → 12.8",
        "driver floor 580 → 525.60.13",
        "native code for Volta (sm_70) added",
    )


def test_what_the_facts_do_not_know_is_said() -> None:
    after = lock(package("torch", "99.0"))
    (change,) = compare(lock(package("torch", "2.9.1")), after).changes
    assert change.notes == ("torch 99.0 is not among the facts",)


@pytest.mark.parametrize(
    ("was", "now", "kind"),
    [
        (None, package("x", "1"), ADDED),
        (package("x", "1"), None, REMOVED),
        (package("x", "1.9"), package("x", "1.10"), UPGRADED),
        (package("x", "1.10rc1"), package("x", "1.10"), UPGRADED),
        (package("x", "1.10"), package("x", "1.9"), DOWNGRADED),
        (package("x", "1+cpu"), package("x", "1+cu128"), CHANGED),
        (package("x", "1"), package("x", "1", sha="b"), REBUILT),
        (package("x", "1"), package("x", "1", index="mirror"), MOVED),
        (package("x", "1..1"), package("x", "1.1"), CHANGED),
    ],
)
def test_each_change_has_its_kind(
    was: LockedPackage | None, now: LockedPackage | None, kind: str
) -> None:
    found = compare(lock(*[was] if was else []), lock(*[now] if now else []))
    assert [change.kind for change in found.changes] == [kind]


def test_other_bytes_under_one_name_are_loud() -> None:
    found = compare(lock(package("x", "1")), lock(package("x", "1", sha="b")))
    text = changes.text(found, "a", "b")
    assert "Same version, other bytes\n  ! x 1: THE SAME FILE NAME WITH OTHER BYTES" in text
    assert text.index("other bytes") < text.index("packages:")


def test_another_wheel_of_the_same_version_names_both_files() -> None:
    other = package("x", "1", sha="b", file="x-1-cp311-cp311-linux_x86_64.whl")
    (change,) = compare(lock(package("x", "1")), lock(other)).changes
    assert change.notes == (
        "the same version in another file: x-1-py3-none-any.whl → x-1-cp311-cp311-linux_x86_64.whl",
    )


def test_changes_stand_with_what_asked_for_them() -> None:
    groups = {g.root: [c.name for c in g.changes] for g in compare(BEFORE, AFTER).groups}
    assert groups["torch"] == ["torch", "nvidia-cublas", "nvidia-cublas-cu12", "sympy"]
    assert groups["pillow"] == ["pillow"]


def test_nothing_changed() -> None:
    for value in (BEFORE, AFTER, lock()):
        found = compare(value, value)
        assert found.same
        assert "nothing changed" in changes.text(found, "a", "b")
        assert changes.document(found)["same"] is True


def test_every_field_of_a_lock_is_compared() -> None:
    """A change of any field alone is a difference, so that none is forgotten when one comes."""
    whole = BEFORE
    others: dict[str, Any] = {
        "inputs": (*whole.inputs, ("index x", "y")),
        "base_name": "debian:12",
        "base_digest": "sha256:" + "0" * 64,
        "source": whole.source._replace(sha256="0" * 64),
        "installer": whole.installer._replace(version="1"),
        "packages": whole.packages[1:],
        "resolver": "pip-tools",
        "resolver_version": "1",
        "exclude_newer": "2026-01-01T00:00:00Z",
        "tools": (("pip", "1"),),
        "facts": "0" * 64,
        "nixpkgs": whole.nixpkgs._replace(rev="0" * 40),
        "cuda": "13.0",
        "driver_floor": "580",
    }
    assert set(others) == set(Lock._fields)
    for field, value in others.items():
        assert not compare(whole, whole._replace(**{field: value})).same, field


@pytest.mark.parametrize(
    "hostile",
    [
        "`@everyone` [x](https://evil.example)", "``` <script>", "| a | b", "x\u202ey", "\x1b[31m",
        "# title", "``", "`", " ", "a`b``c", "![i](u)",
    ],
)  # fmt: skip
def test_hostile_words_make_no_markup(hostile: str) -> None:
    after = lock(base_name=hostile, inputs=((f"package {hostile}", hostile),))
    was = package("x", "1", file=f"{hostile}.whl")
    now = package("x", "1", sha="b", index=hostile, file=f"{hostile}2.whl")
    found = compare(lock(was), after._replace(packages=(now,)))
    text = changes.markdown(found, hostile, hostile)
    assert "\x1b" not in text
    assert "\u202e" not in text
    for line in text.splitlines():
        outside = outside_spans(line)
        assert not set(outside) & set("`@[]<>|!"), line
    assert "\x1b" not in changes.text(found, hostile, hostile)
    json.dumps(changes.document(found))


def outside_spans(line: str) -> str:
    """What stands outside code spans, as CommonMark pairs runs of back-ticks."""
    outside, rest = "", line
    while "`" in rest:
        at = rest.index("`")
        run = len(rest[at:]) - len(rest[at:].lstrip("`"))
        outside += rest[:at]
        rest = rest[at + run :]
        ahead = 0
        while True:
            close = rest.find("`", ahead)
            assert close >= 0, "a span that does not end"
            length = len(rest[close:]) - len(rest[close:].lstrip("`"))
            if length == run:
                rest = rest[close + run :]
                break
            ahead = close + length
    return outside + rest


def test_a_setting_is_told_by_both_sides() -> None:
    found = compare(BEFORE, AFTER)
    assert Setting("python", "3.11", "3.12") in found.settings
    assert Setting("package torch", "==2.9.1", "==2.11.0") in found.requirements
