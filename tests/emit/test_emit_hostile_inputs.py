"""Hostile texts in a spec, a lock and the tables of facts: refused, or harmless in what is emitted.

`ENVSPEC_PROPERTY_EXAMPLES=100000` reads that many locks and as many specs.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from hostile_places import hostile, marked, put, texts
from hostile_reading import difference, reader

from envspec.diagnostics import DiagnosticError
from envspec.emit.outputs import outputs
from envspec.language.parse import parse
from envspec.language.resolve import resolve
from envspec.lock import file as lock_file
from envspec.lock.model import Artefact, Deb, Lock, LockedExtension, LockedPackage, Nixpkgs, System
from envspec.lock.spec_inputs import resolution_inputs
from envspec.plan import extensions
from envspec.plan import model as plan
from envspec.plan.lower import lower
from envspec.source import SourceFile

EXAMPLES = int(os.environ.get("ENVSPEC_PROPERTY_EXAMPLES", "1600")) // 4
KNOWN = {"refused", "kept", "refused by an emitter"}
DIGEST = "0123456789abcdef" * 4

TEXT = f"""envspec 1

project Every_Thing {{
  source archive "every-1.0.tar.gz" sha256 "{DIGEST}"
  pythonpath "src" "."
}}

platform linux/amd64 {{
  base   "python:3.11-bookworm@sha256:{DIGEST}"
  python 3.11
}}

accelerator cuda 12.8 {{
  driver >=525.60.13
  gpus   sm_80 sm_90
}}

index lab "https://example.org/simple"

packages {{
  torch   ==2.9.1
  lab-kit ==1.0 from lab because "our own"
}}

extension flash-attn ==2.8.3 {{
  needs  torch ninja
  env    FLASH_ATTENTION_FORCE_BUILD="TRUE"
  module flash_attn_2_cuda
}}

system {{
  runtime libgl1
  build   g++
}}

step compile {{
  run "python" "setup.py" "build_ext" "$HOME \\"quoted\\" \\\\ back"
  env FLAG="x y"
}}

env {{
  GREETING="it's $HOME, \\"said\\" \\\\ `id` ${{x}}"
}}

imports {{
  optional flash_attn because "only on a GPU"
}}

entry smoke {{
  level   c1
  script  "smoke.py" "--steps" "1"
  timeout 90s
  env     SEED="0"
}}

claims {{
  torch_version 2.9.1 because "seen once"
}}
"""
SCRIPTS = {"smoke.py": b"print(1)\n"}


def artefact(file: str, index: str = "pypi") -> Artefact:
    return Artefact(index, file, DIGEST, 1000)


def package(name: str, version: str, *requires: str, index: str = "pypi") -> LockedPackage:
    file = f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
    return LockedPackage(name, version, artefact(file, index), requires, ("spec",))


def deb(name: str) -> Deb:
    file = f"{name}_1.0-1_amd64.deb"
    return Deb(name, "1.0-1", "amd64", file, f"pool/main/x/{file}", DIGEST, 1000)


def read_spec(text: str) -> tuple[Any, SourceFile]:
    source = SourceFile("spec.env", text)
    return resolve(parse(source), source), source


SPEC, SOURCE = read_spec(TEXT)
TORCH = package("torch", "2.9.1", "numpy")
LOCK = Lock(
    inputs=resolution_inputs(SPEC),
    base_name="python:3.11-bookworm",
    base_digest=f"sha256:{DIGEST}",
    source=artefact("every-1.0.tar.gz", ""),
    installer=package("uv", "0.13.9"),
    packages=(package("lab-kit", "1.0", index="lab"), package("numpy", "2.4.6"), TORCH),
    resolver="uv",
    resolver_version="0.13.9",
    tools=(("envspec", "0.1.0"),),
    facts=DIGEST,
    nixpkgs=Nixpkgs("NixOS", "nixpkgs", "b" * 40, "sha256-" + "A" * 43 + "=", 1_700_000_000),
    cuda="12.8",
    driver_floor="525.60.13",
    devel_name="nvidia/cuda:12.8.1-devel-ubuntu22.04",
    devel_digest=f"sha256:{DIGEST}",
    system=System(
        (("bookworm", "2026-01-01T00:00:00Z"),), "debian:bookworm", (deb("libgl1"),), (deb("g++"),)
    ),
    extensions=(
        LockedExtension(
            "flash-attn", "2.8.3", artefact("flash_attn-2.8.3.tar.gz"), ("torch",),
            (package("ninja", "1.13.0"), package("numpy", "2.4.6"), TORCH),
        ),
    ),
)  # fmt: skip


def lowered(spec: Any, lock: Lock, source: SourceFile) -> plan.Plan:
    return lower(spec, lock, SCRIPTS, lock.nixpkgs, source)


PLAN = lowered(SPEC, LOCK, SOURCE)
HARMLESS = frozenset(text for _, text in texts(PLAN))


def codes(error: DiagnosticError) -> set[str]:
    return {d.code for d in error.diagnostics}


def read_back(value: plan.Plan) -> dict[str, Any]:
    files = outputs(value, "", "", ("docker", "compose", "kubernetes"))
    return {name: reader(name)(text) for name, text in files.items()}


def compare(value: plan.Plan, text: str) -> str:
    """Emit a plan with a hostile text somewhere, beside the same with a plain word there."""
    assert re.search("[\ud800-\udfff]", text) is None, "half a character got through"
    try:
        files = read_back(value)
    except DiagnosticError as error:
        return "refused by an emitter" if codes(error) == {"E0603"} else str(error)
    expected = read_back(marked(value, text, HARMLESS) if text else value)
    for (_, a), (name, b) in zip(expected.items(), files.items(), strict=True):
        found = difference(a, b, text)
        assert not found, f"{text!r:.200} in {name}: {found}"
    return "kept"


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where the texts of JSON data stand."""
    if isinstance(value, str):
        yield path
    elif isinstance(value, (dict, list)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, (*path, key))


def test_hostile_texts_in_a_lock() -> None:
    written = lock_file.dumps(LOCK)
    assert lock_file.loads(written, SourceFile("spec.lock", written)) == LOCK
    places = list(leaves(json.loads(written)))
    random, said = Random(0), Counter[str]()
    for number in range(max(EXAMPLES, 3 * len(places))):
        data = json.loads(written)
        path, text = places[number % len(places)], hostile(random)
        at = data
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = text
        changed = json.dumps(data, ensure_ascii=random.random() < 0.5)
        try:
            lock = lock_file.loads(changed, SourceFile("spec.lock", changed))
        except DiagnosticError as error:
            said["refused" if codes(error) == {"E0407"} else str(error)] += 1
            continue
        said[compare(lowered(SPEC, lock, SOURCE), text)] += 1
    assert said["refused"] > said["kept"] > 0, said
    assert said.keys() <= KNOWN


STRINGS = [m.span() for m in re.finditer(r'"(?:[^"\\]|\\.)*"', TEXT)]
WORDS = [m.span() for m in re.finditer(r"(?<= )[\w.=>-]+(?=\n)", TEXT)]


def test_hostile_texts_in_a_spec() -> None:
    """In quotes, escaped or as they are, and in place of words."""
    random, said = Random(1), Counter[str]()
    for number in range(max(EXAMPLES, 20 * len(STRINGS))):
        text = hostile(random)
        escaped = text.replace("\\", "\\\\").replace('"', '\\"')
        if number % 5:
            start, end = STRINGS[number % len(STRINGS)]
            inside = f'"{escaped if number % 3 else text}"'
        else:
            start, end = random.choice(WORDS)
            inside = text
        changed = TEXT[:start] + inside + TEXT[end:]
        try:
            spec, source = read_spec(changed)
        except DiagnosticError as error:
            said["refused" if codes(error) else "refused without a finding"] += 1
            continue
        known = {e.name for e in spec.extensions} >= {e.name for e in LOCK.extensions}
        value = lowered(spec, LOCK, source) if known else PLAN
        said[compare(value, text)] += 1
    assert min(said["refused"], said["kept"]) > EXAMPLES // 10, said
    assert said.keys() <= KNOWN


def test_hostile_texts_in_the_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of extensions are the facts that reach an output other than through the lock."""
    row = extensions._facts(SPEC.extensions[0], "2.8.3")
    assert row is not None
    random, said = Random(2), Counter[str]()
    places = [path for path, _ in texts(row)]
    for number in range(max(EXAMPLES // 4, 4 * len(places))):
        text = hostile(random)
        bad = put(row, places[number % len(places)], text)
        monkeypatch.setattr(extensions, "_facts", lambda *_, bad=bad: bad)
        try:
            value = lowered(SPEC, LOCK, SOURCE)
        except DiagnosticError:
            said["refused"] += 1
            continue
        if re.search("[\ud800-\udfff]", text):
            continue  # TOML holds none
        said[compare(value, text)] += 1
    assert said["kept"] > 0, said
    assert said.keys() <= KNOWN
