"""Hostile texts in every field of a plan: what is emitted keeps its structure, or is refused.

`ENVSPEC_PROPERTY_EXAMPLES=100000` puts that many into the Dockerfile and the lists beside it.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from functools import lru_cache
from random import Random
from typing import Any

import pytest
from emit_sample import file
from hostile_places import DEVEL, FULL, MARK, Path, hostile, kinds, put, records, texts
from hostile_reading import difference, reader

from envspec.diagnostics import DiagnosticError
from envspec.emit.outputs import outputs
from envspec.plan import model as plan

EXAMPLES = int(os.environ.get("ENVSPEC_PROPERTY_EXAMPLES", "800"))
PLANS = {"full": FULL, "devel": DEVEL}
PLACES = {name: [path for path, _ in texts(value)] for name, value in PLANS.items()}

# Fields of which an output prints a part.
IN_PART = {("installer", "file", "file"), ("entries", 0, "script", "name")}

# Fields that may be empty, and then nothing is printed.
MAY_BE_EMPTY = {"floor", "sha256"}


def written(path: Path, text: str) -> str:
    """The text of a field; a wheel keeps the shape of its name."""
    wheel = path[-1] == "file" and "wheels" in path
    return (
        f"{text}-1.0-py3-none-any.whl" if wheel or path == ("installer", "file", "file") else text
    )


@lru_cache(maxsize=2048)
def with_mark(name: str, path: Path, target: str) -> dict[str, Any]:
    return read(put(PLANS[name], path, written(path, MARK)), target)


def read(value: plan.Plan, target: str) -> dict[str, Any]:
    """Every output of a target as its reader has it."""
    files = outputs(value, "", "", (target,))
    return {n: reader(n)(text) for n, text in files.items() if reader(n) is not None}


def look_at(name: str, path: Path, text: str, target: str) -> str:
    """What became of one text in one place: `kept` or `refused`; anything else fails."""
    if path[-1] in MAY_BE_EMPTY:
        text = text or "-"
    value = put(PLANS[name], path, written(path, text))
    try:
        files = read(value, target)
    except DiagnosticError as error:
        return "refused" if {d.code for d in error.diagnostics} == {"E0603"} else str(error)
    except UnicodeEncodeError:
        # Half a character, which neither a spec nor a lock can hold: no file can be written.
        return "refused" if re.search("[\ud800-\udfff]", text) else "not encoded"
    expected = with_mark(name, path, target)
    assert len(files) == len(expected)
    for (ours, a), (theirs, b) in zip(expected.items(), files.items(), strict=True):
        assert theirs == ours.replace(MARK, text)
        found = difference(a, b, text, exact=path not in IN_PART)
        assert not found, f"{text!r:.200} at {path} in {ours}: {found}"
    return "kept"


def run(target: str, count: int, names: tuple[str, ...], seed: int = 0) -> Counter[str]:
    random = Random(f"{target} {seed}")
    said: Counter[str] = Counter()
    for _ in range(count):
        name = random.choice(names)
        path = random.choice(PLACES[name])
        said[look_at(name, path, hostile(random), target)] += 1
    assert said.keys() <= {"kept", "refused"}
    return said


def test_the_plans_hold_a_text_in_every_field() -> None:
    """A new kind of step or a new field that is left empty above would go untested."""
    assert {k for value in PLANS.values() for k in kinds(value)} == records()
    reached = {(type_of(value, path), path[-1]) for value in PLANS.values() for path in _of(value)}
    for kind in records():
        for field, annotation in kind.__annotations__.items():
            if "str" in str(annotation) and "bytes" not in str(annotation):
                assert any(k is kind and field in f for k, f in _fields(reached)), (kind, field)


def _of(value: Any) -> list[Path]:
    return [path for path, _ in texts(value)]


def _fields(reached: set[Any]) -> list[tuple[type, tuple[Any, ...]]]:
    return [(kind, (field,)) for (kind, field), _ in reached]


def type_of(value: Any, path: Path) -> tuple[type, str | int]:
    """The record that holds a text, and the field of it."""
    found: tuple[type, str | int] = (type(value), path[0])
    for name in path:
        if isinstance(name, str):
            found = (type(value), name)
            value = getattr(value, name)
        else:
            value = value[name]
    return found


@pytest.mark.parametrize("share", range(8))
def test_a_dockerfile_keeps_its_structure(share: int) -> None:
    said = run("docker", EXAMPLES // 8, ("full", "devel"), share)
    assert sum(said.values()) == EXAMPLES // 8
    assert min(said["kept"], said["refused"]) > EXAMPLES // 8 // 8, said


@pytest.mark.parametrize("target", ["compose", "kubernetes", "devcontainer", "apptainer"])
def test_the_other_targets_keep_their_structure(target: str) -> None:
    said = run(target, EXAMPLES // 8, ("full",))
    assert min(said["kept"], said["refused"]) > EXAMPLES // 8 // 8, said


@pytest.mark.parametrize("name", PLANS)
def test_every_place_meets_texts_that_break_out(name: str) -> None:
    """Not by chance: each field, and each of the texts that would end what it stands in."""
    for path in PLACES[name]:
        for text in ("x\nRUN id", '"x', "x' y", "$(id)", "${x}", "x,target=/etc", "\\", "a b"):
            look_at(name, path, text, "docker")


def test_the_comparison_finds_what_breaks_out() -> None:
    """The tests above are worth something: each of these gets through where quoting fails."""
    from hostile_reading import dockerfile  # the reader alone

    def read_one(line: str) -> Any:
        return dockerfile(f"FROM a AS b\n{line}\n")

    for marked, found, text in (
        (f'ENV A="{MARK}"', 'ENV A="x" B="y"', 'x" B="y'),
        (f'ENV A="{MARK}"', 'ENV A="${HOME}"', "${HOME}"),
        (f'RUN ["{MARK}"]', 'RUN ["x", "y"]', 'x", "y'),
        (f'RUN ["{MARK}"]', "RUN [x]", "x"),
        (f'RUN ["{MARK}"]', 'RUN ["x"]\nRUN id', 'x"]\nRUN id'),
        (f'RUN ["sh", "-ec", "a {MARK}"]', 'RUN ["sh", "-ec", "a b c"]', "b c"),
        (f'RUN ["sh", "-ec", "a {MARK}"]', 'RUN ["sh", "-ec", "a $x"]', "$x"),
        (f'RUN ["sh", "-ec", "a {MARK}"]', 'RUN ["sh", "-ec", "a *"]', "*"),
        (f'RUN ["sh", "-ec", "a {MARK}"]', 'RUN ["sh", "-ec", "a b;c"]', "b;c"),
        (f'RUN --mount=from={MARK} ["a"]', 'RUN --mount=from=x,rw ["a"]', "x,rw"),
        (f"USER {MARK}", "USER y", "x"),
    ):
        try:
            difference_ = difference(read_one(marked), read_one(found), text)
        except AssertionError:
            continue  # `unquoted` found a variable, or a quote that ends early
        assert difference_, found
    good = read_one(f'RUN ["sh", "-ec", "a {MARK}"]'), read_one('RUN ["sh", "-ec", "a \'b c\'"]')
    assert not difference(*good, "b c")
    assert file("a").sha256 != file("b").sha256
