"""Exports: valid by their own specifications, the same bytes twice, no host named."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from local_index import make_wheel
from packaging.pylock import Pylock

from envspec.diagnostics import DiagnosticError
from envspec.lock import file as lock_file
from envspec.lock.exports.cyclonedx import cyclonedx
from envspec.lock.exports.pylock import pylock
from envspec.lock.layers import layer
from envspec.lock.model import Artefact, Lock, LockedPackage
from envspec.lock.uvrun import uv_binary
from envspec.source import SourceFile

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*/spec.lock"))
HOSTILE = ['"', "\\", "'''", "]\n[x", "\x7f", "é\u202e", "${x}", "#", "{x}", "\x00", "a b"]


def example(path: Path) -> Lock:
    text = path.read_text(encoding="utf-8")
    return lock_file.loads(text, SourceFile(str(path), text))


def made(*packages: LockedPackage) -> Lock:
    uv = LockedPackage(
        "uv", "1.0", Artefact("pypi", "uv-1.0-py3-none-any.whl", "a" * 64, 1), (), ()
    )
    return Lock(
        inputs=(
            ("platform", "linux/amd64"),
            ("python", f"{sys.version_info[0]}.{sys.version_info[1]}"),
        ),
        base_name="python:3.11-slim-bookworm",
        base_digest="sha256:" + "b" * 64,
        source=Artefact("", "demo-1.0.tar.gz", "c" * 64, 10),
        installer=uv,
        packages=packages,
        resolver="uv",
        resolver_version="1",
    )


def read(text: str) -> Pylock:
    found = Pylock.from_dict(tomllib.loads(text))
    found.validate()
    return found


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.parent.name)
def test_a_pylock_is_valid_and_whole(path: Path) -> None:
    lock = example(path)
    found = read(pylock(lock))
    assert [(p.name, str(p.version)) for p in found.packages] == sorted(
        (p.name, p.version) for p in lock.packages
    )
    files = {w.name: w for p in found.packages for w in p.wheels or ()}
    for package in lock.packages:
        wheel = files[package.artefact.file]
        assert wheel.hashes == {"sha256": package.artefact.sha256}
        assert wheel.path == f"wheels/{layer(package.name)}/{package.artefact.file}"
        assert wheel.url is None
    assert "://" not in pylock(lock)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.parent.name)
def test_the_same_lock_gives_the_same_bytes(path: Path) -> None:
    lock = example(path)
    turned = lock._replace(packages=lock.packages[::-1])
    assert pylock(lock) == pylock(turned)
    assert cyclonedx(lock, "demo") == cyclonedx(turned, "demo")


@pytest.mark.parametrize("word", HOSTILE)
def test_hostile_words_stay_in_their_strings(word: str) -> None:
    wheel = Artefact(word, "x-1.0-py3-none-any.whl", "a" * 64, 1)
    lock = made(LockedPackage("x", "1.0", wheel, (), ("spec",)))
    found = read(pylock(lock, wheelhouse=word))
    (package,) = found.packages
    assert package.tool == {"envspec": {"index": word}}
    assert (package.wheels or ())[0].path == f"{word}/packages/x-1.0-py3-none-any.whl"
    bom = json.loads(cyclonedx(lock._replace(base_name=word), word))
    assert bom["metadata"]["component"]["name"] == word
    assert bom["components"][0]["name"] == word
    purls = [c["purl"] for c in bom["components"]]
    assert all(p.isascii() and p.isprintable() and " " not in p for p in purls)


@pytest.mark.parametrize("file", ["y-1.0-py3-none-any.whl", "x-2.0-py3-none-any.whl", "x.whl", "x"])
def test_a_file_that_is_not_its_packages_is_refused(file: str) -> None:
    lock = made(LockedPackage("x", "1.0", Artefact("pypi", file, "a" * 64, 1), (), ("spec",)))
    with pytest.raises(DiagnosticError) as caught:
        pylock(lock)
    assert caught.value.diagnostics[0].code == "E0407"


def test_an_empty_lock_and_an_unknown_size() -> None:
    assert list(read(pylock(made())).packages) == []
    archive = Artefact("pypi", "x-1.0.tar.gz", "a" * 64, 0)
    (package,) = read(pylock(made(LockedPackage("x", "1.0", archive, (), ("spec",))))).packages
    assert package.sdist is not None
    assert package.sdist.size is None


@pytest.mark.parametrize("damage", [False, True])
def test_uv_installs_a_pylock_and_refuses_a_flipped_byte(tmp_path: Path, damage: bool) -> None:
    wheels = [make_wheel("alpha", "1.0", ("beta-x",)), make_wheel("beta-x", "2.0+cpu")]
    packages = []
    for wheel, name, version in zip(wheels, ("alpha", "beta-x"), ("1.0", "2.0+cpu"), strict=True):
        folder = tmp_path / "wheels" / layer(name)
        folder.mkdir(parents=True, exist_ok=True)
        data = bytearray(wheel.data)
        if damage:
            data[len(data) // 2] ^= 1
        (folder / wheel.name).write_bytes(data)
        packages.append(LockedPackage(name, version, wheel.artefact(), (), ("spec",)))
    (tmp_path / "pylock.toml").write_text(pylock(made(*packages)), encoding="utf-8")
    venv, cache = tmp_path / "venv", tmp_path / "cache"

    def uv(*argv: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [uv_binary() or "uv", "--offline", "--no-config", "--cache-dir", str(cache), *argv],
            cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip

    assert uv("venv", "--python", sys.executable, str(venv)).returncode == 0
    done = uv("pip", "install", "--python", str(venv), "-r", "pylock.toml")
    assert (done.returncode == 0) is not damage, done.stderr
    listed = uv("pip", "list", "--python", str(venv), "--format", "json")
    names = {(p["name"], p["version"]) for p in json.loads(listed.stdout)}
    assert names == (set() if damage else {("alpha", "1.0"), ("beta-x", "2.0+cpu")})
    done = uv("pip", "sync", "--python", str(venv), "pylock.toml")
    assert (done.returncode == 0) is not damage, done.stderr


# --- CycloneDX ----------------------------------------------------------------------------


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.parent.name)
def test_a_bill_of_materials_is_whole(path: Path) -> None:
    lock = example(path)
    bom = json.loads(cyclonedx(lock, "demo"))
    refs = ["project", *(c["bom-ref"] for c in bom["components"])]
    assert len(set(refs)) == len(refs) == len(lock.packages) + 3
    assert [d["ref"] for d in bom["dependencies"]] == refs
    named = {name for d in bom["dependencies"] for name in d.get("dependsOn", ())}
    assert named <= set(refs)
    by_name = {c["name"]: c for c in bom["components"] if c.get("scope") == "required"}
    for package in lock.packages:
        hashes = by_name[package.name]["hashes"]
        assert hashes == [{"alg": "SHA-256", "content": package.artefact.sha256}]
    assert bom["components"][0]["type"] == "container"
    assert lock.base_digest.replace(":", "%3A") in bom["components"][0]["purl"]
    assert "timestamp" not in bom["metadata"]


def test_the_serial_number_follows_the_content() -> None:
    lock = example(EXAMPLES[0])
    serials = {
        json.loads(text)["serialNumber"]
        for text in (
            cyclonedx(lock, "demo"),
            cyclonedx(lock, "demo"),
            cyclonedx(lock, "other"),
            cyclonedx(lock, "demo", "2026-01-01T00:00:00Z"),
            cyclonedx(lock._replace(packages=lock.packages[1:]), "demo"),
        )
    }
    assert len(serials) == 4


def test_a_local_version_and_a_registry_stand_encoded_in_urls() -> None:
    wheel = Artefact("pytorch-cpu", "torch-2.9.1+cpu-py3-none-any.whl", "a" * 64, 1)
    lock = made(LockedPackage("torch", "2.9.1+cpu", wheel, (), ("spec",)))
    lock = lock._replace(base_name="registry.example:5000/team/Base:1.0")
    bom = json.loads(cyclonedx(lock, "demo"))
    base, _, torch = (c["purl"] for c in bom["components"])
    assert torch.startswith("pkg:pypi/torch@2.9.1%2Bcpu?file_name=torch-2.9.1%2Bcpu-")
    assert base.startswith("pkg:oci/base@sha256%3Abbbb")
    assert base.endswith("?repository_url=registry.example%3A5000/team/Base&tag=1.0")


@pytest.mark.skipif(
    importlib.util.find_spec("cyclonedx") is None, reason="needs cyclonedx-python-lib"
)
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.parent.name)
def test_the_official_schema_takes_it(path: Path) -> None:
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    validator: Any = JsonStrictValidator(SchemaVersion.V1_6)
    text = cyclonedx(example(path), "demo", "2026-01-01T00:00:00Z")
    assert validator.validate_str(text) is None
    assert validator.validate_str(text.replace('"SHA-256"', '"SHA-257"')) is not None
