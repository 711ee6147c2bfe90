"""Exports: valid by their own specifications, the same bytes twice, no host named."""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from local_index import make_wheel
from packaging.pylock import Pylock
from sdists import pack

from envspec.diagnostics import DiagnosticError
from envspec.lock import file as lock_file
from envspec.lock.exports.cyclonedx import cyclonedx
from envspec.lock.exports.pylock import pylock
from envspec.lock.exports.requirements import left_out
from envspec.lock.layers import layer
from envspec.lock.model import Artefact, Deb, Lock, LockedExtension, LockedPackage, System
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


def wheel(name: str, version: str = "1.0", *requires: str, sha: str = "a") -> LockedPackage:
    file = f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
    return LockedPackage(name, version, Artefact("pypi", file, sha * 64, 9), requires, ("spec",))


OPS = LockedExtension(
    "fast-ops",
    "1.0",
    Artefact("pypi", "fast_ops-1.0.tar.gz", "e" * 64, 2_000),
    ("einops",),
    (wheel("setuptools", "80.0", sha="8"), wheel("torch", "2.9.1"), wheel("wheel", "0.45")),
)
COMMIT = "0123456789abcdef0123456789abcdef01234567"
DEEP = OPS._replace(
    name="deep-ops",
    version="0.2+g0123",
    artefact=Artefact("", "deep-ops-0123456789ab.tar", "d" * 64, 3_000),
    requires=("fast-ops",),
    build=(wheel("setuptools", "79.0", sha="7"), wheel("torch", "2.9.1")),
    wheel="deep_ops-0.2+g0123-cp311-cp311-linux_x86_64.whl",
    wheel_sha256="9" * 64,
)
GL = Deb("libgl1", "1:1.6.0-1+b1", "amd64", "libgl1_1.6.0-1+b1_amd64.deb",
         "pool/main/libgl1.deb", "5" * 64, 90_000)  # fmt: skip
GCC = GL._replace(name="gcc", version="4:12.2.0-3", file="gcc_12.deb", sha256="6" * 64)


def compiled() -> Lock:
    lock = made(wheel("einops"), wheel("torch", "2.9.1"))
    return lock._replace(
        extensions=(OPS, DEEP),
        devel_name="nvidia/cuda:12.8.1-devel-ubuntu22.04",
        devel_digest="sha256:" + "1" * 64,
        system=System((("bookworm", "2026-01-02T03:04:05Z"),), "", (GL,), (GCC,)),
        inputs=(
            *lock.inputs,
            ("source", f"git https://bob:s3cret@code.example/team/demo?token=s3cret at {COMMIT}"),
            ("extension fast-ops", "==1.0"),
            ("extension deep-ops", f"git https://****:****@code.example/deep-ops.git at {COMMIT}"),
            ("system runtime", "libgl1"),
        ),
    )


LOCKS = [*(pytest.param(path, id=path.parent.name) for path in EXAMPLES),
         pytest.param(None, id="compiled")]  # fmt: skip


def lock_at(path: Path | None) -> Lock:
    return example(path) if path else compiled()


def read(text: str) -> Pylock:
    found = Pylock.from_dict(tomllib.loads(text))
    found.validate()
    return found


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.parent.name)
def test_a_pylock_is_valid_and_whole(path: Path) -> None:
    lock = example(path)
    found = read(pylock(lock))
    locked = [(p.name, p.version) for p in lock.packages]
    compiled_ones = [(e.name, e.version) for e in lock.extensions]
    assert [(p.name, str(p.version)) for p in found.packages] == sorted(locked + compiled_ones)
    files = {w.name: w for p in found.packages for w in p.wheels or ()}
    for package in lock.packages:
        wheel = files[package.artefact.file]
        assert wheel.hashes == {"sha256": package.artefact.sha256}
        assert wheel.path == f"wheels/{layer(package.name)}/{package.artefact.file}"
        assert wheel.url is None
    assert "://" not in pylock(lock)


@pytest.mark.parametrize("path", LOCKS)
def test_the_same_lock_gives_the_same_bytes(path: Path | None) -> None:
    lock = lock_at(path)
    turned = lock._replace(packages=lock.packages[::-1], extensions=lock.extensions[::-1])
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


def test_an_extension_stands_as_its_source_with_its_tools_in_a_comment() -> None:
    text = pylock(compiled(), wheelhouse="../wheels/")
    deep, _, fast, _ = read(text).packages
    assert fast.sdist is not None
    assert fast.sdist.path == "../wheels/extension-fast-ops/fast_ops-1.0.tar.gz"
    assert (fast.sdist.hashes, fast.sdist.size) == ({"sha256": "e" * 64}, 2_000)
    assert [d["name"] for d in fast.dependencies or ()] == ["einops"]
    # What is packed from a repository is not named as an sdist has to be.
    assert deep.sdist is None
    assert deep.archive is not None
    assert deep.archive.path == "../wheels/extension-deep-ops/deep-ops-0123456789ab.tar"
    assert "\n# `--no-build-isolation`: setuptools 80.0, torch 2.9.1, wheel 0.45\n[[pack" in text
    assert "s3cret" not in text


def test_a_list_of_requirements_tells_what_it_leaves_out() -> None:
    lines = left_out(compiled()).splitlines()
    assert all(line.startswith("# ") for line in lines)
    text = "\n".join(lines)
    assert f"fast-ops 1.0: pypi: fast_ops-1.0.tar.gz sha256:{'e' * 64}" in text
    assert f"deep-ops==0.2+g0123 --hash=sha256:{'9' * 64}" in text
    assert text.endswith("it comes from the distribution: libgl1=1:1.6.0-1+b1")
    assert left_out(made()) == ""
    hostile = OPS._replace(artefact=OPS.artefact._replace(file="x\u2028\ny\rz.tar.gz"))
    told = left_out(made()._replace(extensions=(hostile,)))
    assert all(line.startswith("# ") for line in told.splitlines())


@pytest.mark.parametrize("tool", ["pip", "uv"])
def test_what_is_left_out_leaves_a_list_installable_by_hashes(tmp_path: Path, tool: str) -> None:
    made_wheel = make_wheel("einops", "1.0")
    (tmp_path / made_wheel.name).write_bytes(made_wheel.data)
    digest = hashlib.sha256(made_wheel.data).hexdigest()
    lines = f"einops==1.0 --hash=sha256:{digest}\n{left_out(compiled())}"
    assert "fast-ops" in lines
    (tmp_path / "requirements.lock").write_text(lines, encoding="utf-8")
    head = {
        "pip": [sys.executable, "-m", "pip", "--isolated", "install", "--no-cache-dir"],
        "uv": [uv_binary() or "uv", "--offline", "--no-config", "pip", "install", "--python",
               sys.executable],
    }[tool]  # fmt: skip
    done = subprocess.run(
        [*head, "--dry-run", "--no-index", "--find-links", str(tmp_path), "--require-hashes",
         "--target", str(tmp_path / "out"), "-r", "requirements.lock"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "einops" in done.stdout + done.stderr
    assert "fast-ops" not in done.stdout + done.stderr


BACKEND = """\
import os, zipfile
NAME, VERSION = {name!r}, "1.0"
def build_wheel(folder, settings=None, metadata=None):
    file = f"{{NAME}}-{{VERSION}}-py3-none-any.whl"
    info = f"{{NAME}}-{{VERSION}}.dist-info"
    with zipfile.ZipFile(os.path.join(folder, file), "w") as wheel:
        wheel.writestr(f"{{NAME}}.py", "")
        wheel.writestr(f"{{info}}/METADATA", f"Metadata-Version: 2.1\\nName: {{NAME}}\\nVersion: 1.0\\n")
        wheel.writestr(f"{{info}}/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(f"{{info}}/RECORD", "")
    return file
"""  # noqa: E501 - the code of a build
PROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'


@pytest.mark.parametrize("damage", [False, True])
def test_uv_compiles_the_extensions_of_a_pylock_and_refuses_other_bytes(
    tmp_path: Path, damage: bool
) -> None:
    """An archive of an index and one that was packed from a repository."""
    extensions = []
    for name, file in (("fast_ops", "fast_ops-1.0.tar.gz"), ("deep_ops", "deep-ops-0123.tar")):
        files = {
            "pyproject.toml": f'{PROJECT}[project]\nname = "{name}"\nversion = "1.0"\n',
            "backend.py": BACKEND.format(name=name),
        }
        data = pack(files, f"{name}-1.0")
        data = gzip.decompress(data) if file.endswith(".tar") else data
        dashed = name.replace("_", "-")
        artefact = Artefact("", file, hashlib.sha256(data).hexdigest(), len(data))
        extensions.append(OPS._replace(name=dashed, artefact=artefact, requires=(), build=()))
        folder = tmp_path / "wheels" / f"extension-{dashed}"
        folder.mkdir(parents=True)
        (folder / file).write_bytes(data[:-1] + b"x" if damage else data)
    text = pylock(made()._replace(extensions=tuple(extensions)))
    (tmp_path / "pylock.toml").write_text(text, encoding="utf-8")
    venv, cache = tmp_path / "venv", tmp_path / "cache"

    def uv(*argv: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [uv_binary() or "uv", "--offline", "--no-config", "--cache-dir", str(cache), *argv],
            cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip

    assert uv("venv", "--python", sys.executable, str(venv)).returncode == 0
    refused = uv("pip", "install", "--python", str(venv), "--no-build", "-r", "pylock.toml")
    assert refused.returncode != 0
    done = uv("pip", "install", "--python", str(venv), "-r", "pylock.toml")
    assert (done.returncode == 0) is not damage, done.stderr
    listed = uv("pip", "list", "--python", str(venv), "--format", "json")
    names = {p["name"] for p in json.loads(listed.stdout)}
    assert names == (set() if damage else {"fast-ops", "deep-ops"})


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


@pytest.mark.parametrize("path", LOCKS)
def test_a_bill_of_materials_is_whole(path: Path | None) -> None:
    lock = lock_at(path)
    bom = json.loads(cyclonedx(lock, "demo"))
    refs = ["project", *(c["bom-ref"] for c in bom["components"])]
    tools = {p.artefact for e in lock.extensions for p in e.build}
    tools -= {p.artefact for p in lock.packages}
    parts = (lock.packages, lock.extensions, lock.system.runtime, lock.system.build, tools)
    devel = 1 if lock.devel_name else 0
    assert len(set(refs)) == len(refs) == sum(map(len, parts)) + 3 + devel
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


def component(bom: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = (c for c in bom["components"] if c["name"] == name)
    return dict(found)


def test_what_is_compiled_and_what_compiles_it_stand_in_the_bill() -> None:
    bom = json.loads(cyclonedx(compiled(), "demo"))
    fast, deep = component(bom, "fast-ops"), component(bom, "deep-ops")
    assert fast["purl"] == "pkg:pypi/fast-ops@1.0?file_name=fast_ops-1.0.tar.gz"
    assert (fast["scope"], fast["hashes"][0]["content"]) == ("required", "e" * 64)
    assert deep["purl"] == (
        "pkg:generic/deep-ops@0.2%2Bg0123?vcs_url="
        f"git%2Bhttps%3A//code.example/deep-ops.git%40{COMMIT}"
    )
    (reference,) = deep["externalReferences"]
    assert (reference["type"], reference["url"]) == ("vcs", "https://code.example/deep-ops.git")
    assert {p["name"]: p["value"] for p in deep["properties"]}["envspec:wheel-sha256"] == "9" * 64
    devel = component(bom, "nvidia/cuda:12.8.1-devel-ubuntu22.04")
    assert (devel["type"], devel["scope"]) == ("container", "excluded")
    needs = {d["ref"]: d.get("dependsOn", []) for d in bom["dependencies"]}
    assert needs["package:deep-ops"] == [
        "package:fast-ops", f"tool:setuptools:{'7' * 64}", "package:torch",
    ]  # fmt: skip
    tools = [c for c in bom["components"] if c["bom-ref"].startswith("tool:")]
    assert {(c["version"], c["scope"]) for c in tools if c["name"] == "setuptools"} == {
        ("79.0", "excluded"), ("80.0", "excluded"),
    }  # fmt: skip
    assert [c["name"] for c in tools].count("torch") == 0
    assert "s3cret" not in json.dumps(bom)
    assert "bob" not in json.dumps(bom)


@pytest.mark.parametrize(
    ("suites", "base", "purl"),
    [
        ("bookworm bookworm-security", "debian:12", "deb/debian/{}?arch=amd64&distro=debian-12"),
        ("", "python:3.11-slim-bookworm", "deb/debian/{}?arch=amd64&distro=debian-12"),
        ("", "nvidia/cuda:12.8.1-base-ubuntu22.04", "deb/ubuntu/{}?arch=amd64&distro=ubuntu-22.04"),
        ("", "ubuntu:24.04", "deb/ubuntu/{}?arch=amd64&distro=ubuntu-24.04"),
        ("", "debian:trixie-slim", "deb/debian/{}?arch=amd64&distro=debian-13"),
        ("stable", "registry.example/own:1", "generic/{}?file_name=libgl1_1.6.0-1%2Bb1_amd64.deb"),
        ("", "python:3.11", "generic/{}?file_name=libgl1_1.6.0-1%2Bb1_amd64.deb"),
    ],
)
def test_a_package_of_the_distribution_names_its_vendor_where_it_is_known(
    suites: str, base: str, purl: str
) -> None:
    moments = tuple((name, "2026-01-02T03:04:05Z") for name in suites.split())
    lock = made()._replace(base_name=base, system=System(moments, "", (GL,), ()))
    found = component(json.loads(cyclonedx(lock, "demo")), "libgl1")
    assert found["purl"] == "pkg:" + purl.format("libgl1@1%3A1.6.0-1%2Bb1")
    assert (found["scope"], found["hashes"][0]["content"]) == ("required", "5" * 64)


def test_debs_of_builds_are_of_the_image_that_compiles_and_excluded() -> None:
    lock = compiled()
    lock = lock._replace(system=lock.system._replace(suites=()))
    gcc = component(json.loads(cyclonedx(lock, "demo")), "gcc")
    assert gcc["scope"] == "excluded"
    assert gcc["purl"] == "pkg:deb/ubuntu/gcc@4%3A12.2.0-3?arch=amd64&distro=ubuntu-22.04"


@pytest.mark.skipif(
    importlib.util.find_spec("cyclonedx") is None, reason="needs cyclonedx-python-lib"
)
@pytest.mark.parametrize("path", LOCKS)
def test_the_official_schema_takes_it(path: Path | None) -> None:
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    validator: Any = JsonStrictValidator(SchemaVersion.V1_6)
    text = cyclonedx(lock_at(path), "demo", "2026-01-01T00:00:00Z")
    assert validator.validate_str(text) is None
    assert validator.validate_str(text.replace('"SHA-256"', '"SHA-257"')) is not None
