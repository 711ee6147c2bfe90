"""Who requires whom: chains shortest first, trees that end."""

from __future__ import annotations

import itertools
import random

import pytest

from envspec.lock.graph import CUT, CYCLE, DEEPEST, REPEATED, SPEC, Graph, way
from envspec.lock.model import Artefact, LockedPackage


def package(name: str, requires: str = "", why: str = "", size: int = 1) -> LockedPackage:
    artefact = Artefact("pypi", f"{name}-1-py3-none-any.whl", "a" * 64, size)
    return LockedPackage(name, "1", artefact, tuple(requires.split()), tuple(why.split()))


DIAMOND = Graph(
    [
        package("a", "b c", "spec", 10),
        package("b", "d", "a", 20),
        package("c", "b", "a spec", 30),
        package("d", "", "b", 40),
    ]
)
CIRCLE = Graph([package("a", "b", "spec b"), package("b", "a", "a"), package("alone", "", "")])


def test_every_chain_is_told_the_shortest_first() -> None:
    found = DIAMOND.chains("d")
    assert found.ways == (("a", "b", "d"), ("c", "b", "d"), ("a", "c", "b", "d"))
    assert not found.more


def test_a_circle_is_walked_once() -> None:
    assert CIRCLE.chains("b").ways == (("a", "b"),)
    assert CIRCLE.chains("a").ways == (("a",),)


def test_what_nothing_leads_to_has_no_chain() -> None:
    assert CIRCLE.chains("alone").ways == ()
    assert "alone" not in CIRCLE.parents()


def test_chains_are_those_that_trying_everything_finds() -> None:
    dice = random.Random(4)
    for _ in range(200):
        names = list("abcde")
        edges = {(x, y) for x in [SPEC, *names] for y in names if x != y and dice.random() < 0.3}
        graph = Graph([package(y, "", " ".join(x for x, z in edges if z == y)) for y in names])
        wanted = sorted(
            (
                order
                for length in range(1, 6)
                for order in itertools.permutations(names, length)
                if order[-1] == "e" and all(p in edges for p in itertools.pairwise((SPEC, *order)))
            ),
            key=len,
        )
        found = graph.chains("e", 1000)
        assert sorted(found.ways) == sorted(wanted)
        assert [len(w) for w in found.ways] == [len(w) for w in wanted]


def test_too_many_chains_are_cut_and_it_is_said() -> None:
    layers = 12
    packages = [package("top", "", "spec")]
    before = ["top"]
    for i in range(layers):
        names = [f"n{i}-{side}" for side in "ab"]
        packages += [package(name, "", " ".join(before)) for name in names]
        before = names
    packages.append(package("end", "", " ".join(before)))
    found = Graph(packages).chains("end", 50)
    assert len(found.ways) == 50
    assert found.more


def test_a_tree_opens_a_package_once() -> None:
    rows = [(row.name, row.depth, row.mark) for row in DIAMOND.tree()]
    assert rows == [
        ("a", 0, ""), ("b", 1, ""), ("d", 2, ""), ("c", 1, ""), ("b", 2, REPEATED),
        ("c", 0, REPEATED),
    ]  # fmt: skip


def test_a_circle_ends() -> None:
    assert [(r.name, r.mark) for r in CIRCLE.tree()] == [("a", ""), ("b", ""), ("a", CYCLE)]


def test_the_depth_limit_is_marked() -> None:
    rows = DIAMOND.tree(depth=1)
    assert [(r.name, r.mark) for r in rows] == [
        ("a", ""), ("b", CUT), ("c", CUT), ("c", ""), ("b", CUT),
    ]  # fmt: skip


def test_inverted_it_climbs_to_the_spec() -> None:
    rows = DIAMOND.tree("d", invert=True)
    assert [(r.name, r.depth) for r in rows][:3] == [("d", 0), ("b", 1), ("a", 2)]
    assert rows[3].name == SPEC


def test_sizes_count_a_package_once() -> None:
    assert DIAMOND.needs("a") == frozenset("abcd")
    assert DIAMOND.size(DIAMOND.needs("a")) == 100
    assert DIAMOND.size(DIAMOND.needs("d")) == 40


@pytest.mark.parametrize("invert", [False, True])
def test_a_very_long_chain_is_no_recursion(invert: bool) -> None:
    many = [package("p0", "", "spec"), *(package(f"p{i}", "", f"p{i - 1}") for i in range(1, 5000))]
    graph = Graph(many)
    rows = graph.tree("p4999" if invert else "p0", invert=invert)
    assert len(rows) == DEEPEST + 1
    assert rows[-1].mark == CUT
    assert len(graph.chains("p4999").ways[0]) == 5000


def test_a_way_is_told_upwards() -> None:
    assert way(DIAMOND.parents(), "d") == "d ← b ← a ← the spec"
