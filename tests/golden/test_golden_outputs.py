"""The outputs of compile, byte for byte: a spec with one of everything, and the examples."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from envspec.emit.outputs import TARGETS, outputs
from envspec.facts.nixpkgs import nixpkgs
from envspec.lock import file as lock_file
from envspec.lock.model import Artefact, Lock, LockedPackage, Nixpkgs
from envspec.lock.spec_inputs import resolution_inputs
from envspec.pipeline.compile import compiled
from envspec.pipeline.load import Loaded, load, read_lock

ROOT = Path(__file__).resolve().parents[2]
CASE = Path(__file__).parent / "outputs" / "everything"
EXAMPLES = sorted(p.parent.name for p in (ROOT / "examples").glob("*/spec.env"))


def package(
    name: str, version: str, index: str, tags: str, requires: tuple[str, ...] = ()
) -> LockedPackage:
    file = f"{name.replace('-', '_')}-{version}-{tags}.whl"
    digest = hashlib.sha256(file.encode()).hexdigest()
    return LockedPackage(name, version, Artefact(index, file, digest, 1000), requires, ("spec",))


def lock_of(loaded: Loaded) -> Lock:
    source = loaded.spec.project.source
    return Lock(
        resolution_inputs(loaded.spec),
        loaded.spec.platform.base,
        loaded.spec.platform.base_digest,
        Artefact("", source.file, source.sha256, 4321),
        package("uv", "0.13.9", "pypi", "py3-none-manylinux_2_17_x86_64"),
        (
            package("lab-kit", "1.0", "lab", "py3-none-any"),
            package("numpy", "2.4.6", "pypi", "cp311-cp311-manylinux_2_27_x86_64"),
            package("nvidia-cublas-cu12", "12.8.4.1", "pypi", "py3-none-manylinux_2_27_x86_64"),
            package("torch", "2.9.1", "pypi", "cp311-cp311-manylinux_2_28_x86_64", ("numpy",)),
        ),
        "uv",
        "0.13.9",
        tools=(("envspec", "0.1.0"),),
        facts="0" * 64,
        nixpkgs=Nixpkgs(*nixpkgs()[:2], *nixpkgs()[3:6]),
        cuda="12.8",
        driver_floor="525.60.13",
    )


def test_one_of_everything() -> None:
    """`ENVSPEC_REGENERATE=1` writes the files anew; read the diff before you commit it."""
    loaded = load(CASE / "spec.env")
    text = lock_file.dumps(lock_of(loaded))
    made = compiled(loaded, lock_file.loads(text, loaded.source), text).files
    if os.environ.get("ENVSPEC_REGENERATE") == "1":
        (CASE / "expected").mkdir(exist_ok=True)
        for name, content in made.items():
            (CASE / "expected" / name).write_text(content)
    expected = {p.name: p.read_text() for p in (CASE / "expected").iterdir()}
    assert made.keys() == expected.keys()
    for name, content in made.items():
        assert content == expected[name], name


def test_the_other_targets() -> None:
    """A spec with an entry of each kind, for every target; written anew with the same switch."""
    case = CASE.with_name("targets")
    loaded = load(case / "spec.env")
    text = lock_file.dumps(lock_of(loaded))
    made = compiled(loaded, lock_file.loads(text, loaded.source), text, TARGETS).files
    for name in ("apptainer.def", "compose.yaml", "devcontainer.json", "kubernetes.yaml"):
        path = case / "expected" / name
        if os.environ.get("ENVSPEC_REGENERATE") == "1":
            path.parent.mkdir(exist_ok=True)
            path.write_text(made[name], encoding="utf-8")
        assert made[name] == path.read_text(encoding="utf-8"), name
    assert sorted(p.name for p in (case / "expected").iterdir()) == [
        "apptainer.def", "compose.yaml", "devcontainer.json", "kubernetes.yaml",
    ]  # fmt: skip
    assert compiled(loaded, lock_file.loads(text, loaded.source), text).files.keys() == {
        *(made.keys() - {"apptainer.def", "compose.yaml", "devcontainer.json", "kubernetes.yaml"})
    }, "by default the others are not written"


@pytest.mark.parametrize("name", EXAMPLES)
def test_generated_is_what_the_code_makes(name: str) -> None:
    spec = ROOT / "examples" / name / "spec.env"
    loaded = load(spec)
    found = read_lock(loaded)
    assert found is not None, f"examples/{name} has no lock"
    made = compiled(loaded, *found)
    folder = ROOT / "generated" / name
    committed = {p.name: p.read_text() for p in folder.iterdir()}
    assert made.files == committed, f"run `make generated`: generated/{name} is stale"


def test_compile_is_pure_of_its_surroundings(tmp_path: Path) -> None:
    """Same bytes under other hash seeds, locales, time zones, umasks and working folders."""
    spec = ROOT / "examples" / EXAMPLES[0] / "spec.env"
    digests = set()
    for number, (seed, extra) in enumerate(
        [("0", {}), ("1", {"LC_ALL": "C", "TZ": "Asia/Kolkata"}), ("2", {"LANG": "tr_TR.UTF-8"})]
    ):
        out = tmp_path / f"out{number}"
        argv = [sys.executable, "-m", "envspec", "compile", str(spec), "--frozen", "-o", str(out)]
        env = {**os.environ, "PYTHONHASHSEED": seed, **extra}
        subprocess.run(
            argv, check=True, env=env, cwd=tmp_path, capture_output=True, umask=0o022 + number * 0o5
        )
        digests.add(tuple((p.name, p.read_bytes()) for p in sorted(out.iterdir())))
    assert len(digests) == 1


def test_the_manifest_names_every_file() -> None:
    loaded = load(CASE / "spec.env")
    text = lock_file.dumps(lock_of(loaded))
    made = compiled(loaded, lock_file.loads(text, loaded.source), text)
    again = outputs(made.plan, loaded.source.text, text)
    assert again == made.files
    for name, content in made.files.items():
        if name != "manifest.json":
            digest = hashlib.sha256(content.encode()).hexdigest()
            assert f'"{name}": "{digest}"' in made.files["manifest.json"]
