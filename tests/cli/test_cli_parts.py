"""`diff`, `tree`, `why`, `export` and `explain` of a lock that has extensions and packages of the
distribution, as a user runs them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from test_cli_reading import envspec

sys.path.insert(0, str(Path(__file__).parents[1] / "golden"))

from golden import compare as golden

from envspec.language.parse import parse
from envspec.language.resolve import resolve
from envspec.lock import file as lock_file
from envspec.lock.model import Artefact, Deb, Lock, LockedExtension, LockedPackage, Nixpkgs, System
from envspec.lock.spec_inputs import resolution_inputs
from envspec.lsp.hover import hover
from envspec.lsp.locks import Locks
from envspec.lsp.tree import Tree
from envspec.source import SourceFile

TEXTS = Path(__file__).parent / "texts"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
SPEC = f"""envspec 1
project demo {{
  source archive "demo-1.0.tar.gz" sha256 "{"c" * 64}" from pypi
}}
platform linux/amd64 {{
  base   "python:3.11-slim-bookworm@sha256:{"b" * 64}"
  devel  "nvidia/cuda:12.8.1-devel-ubuntu22.04@sha256:{"d" * 64}"
  python 3.11
}}
accelerator cuda 12.8 {{
  gpus sm_80
}}
packages {{
  torch ==2.8.0
}}
system {{
  runtime libgl1 libglib2.0-0
  build   ninja-build
}}
extension fast-ops ==1.0 {{
  needs torch setuptools wheel
}}
extension deep-ops {{
  source git "https://code.example/deep-ops" at "{COMMIT}"
  needs torch setuptools
}}
entry run {{
  level c1
  run "python"
}}
"""


def package(name: str, version: str, *why: str, requires: tuple[str, ...] = ()) -> LockedPackage:
    file = f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
    sha = f"{sum(map(ord, file)):064x}"
    return LockedPackage(name, version, Artefact("pypi", file, sha, 2_000_000), requires, why)


def deb(name: str, version: str, architecture: str = "amd64") -> Deb:
    file = f"{name}_{version.partition(':')[2] or version}_{architecture}.deb"
    sha = f"{sum(map(ord, file)):064x}"
    return Deb(name, version, architecture, file, f"pool/main/{file}", sha, 50_000)


TORCH = package("torch", "2.8.0", "spec", requires=("sympy",))
SYMPY = package("sympy", "1.14.0", "torch")
TOOLS = (
    package("packaging", "25.0", "wheel"),
    package("setuptools", "80.9.0", "spec"),
    SYMPY,
    TORCH,
    package("wheel", "0.45.1", "spec", requires=("packaging",)),
)


def make() -> Lock:
    source = SourceFile("spec.env", SPEC)
    spec = resolve(parse(source), source)
    return Lock(
        inputs=resolution_inputs(spec),
        base_name="python:3.11-slim-bookworm",
        base_digest="sha256:" + "b" * 64,
        source=Artefact("pypi", "demo-1.0.tar.gz", "c" * 64, 10),
        installer=package("uv", "0.9.0"),
        packages=(package("einops", "0.8.1", "fast-ops"), SYMPY, TORCH),
        resolver="uv",
        resolver_version="0.9.0",
        nixpkgs=Nixpkgs("NixOS", "nixpkgs", "1" * 40, f"sha256-{'A' * 43}=", 1),
        devel_name="nvidia/cuda:12.8.1-devel-ubuntu22.04",
        devel_digest="sha256:" + "d" * 64,
        system=System(
            (("bookworm", "2026-01-02T03:04:05Z"),),
            "",
            (deb("libgl1", "1.6.0-1"), deb("libglib2.0-0", "2.74.6-2"), deb("libx11-6", "2:1.8-2")),
            (deb("ninja-build", "1.10.1-1"), deb("libre2-9", "2022-3")),
        ),
        extensions=(
            LockedExtension(
                "fast-ops",
                "1.0",
                Artefact("pypi", "fast_ops-1.0.tar.gz", "e" * 64, 8_400_000),
                ("einops", "torch"),
                TOOLS,
            ),
            LockedExtension(
                "deep-ops",
                "0.2",
                Artefact("", "deep-ops-0123456789ab.tar", "f" * 64, 9_000_000),
                ("fast-ops",),
                (TOOLS[1], SYMPY, TORCH),
            ),
        ),
    )


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "spec.env").write_text(SPEC, encoding="utf-8")
    (tmp_path / "spec.lock").write_text(lock_file.dumps(make()), encoding="utf-8")
    return tmp_path


def good(home: Path, *argv: str) -> str:
    done = envspec(home, *argv)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def data(home: Path, *argv: str) -> Any:
    return json.loads(good(home, *argv, "--format", "json"))


def test_a_tree_has_extensions_under_the_spec_and_debs_below(home: Path) -> None:
    golden(TEXTS / "tree.txt", good(home, "tree"), folder="tests/cli")


def test_a_tree_as_data(home: Path) -> None:
    found = data(home, "tree")
    assert {row["name"]: row["layer"] for row in found["tree"]}["fast-ops"] == "extension"
    assert found["builds"]["deep-ops"]["setuptools"] == "80.9.0"
    debs = {(d["stage"], d["name"]): d["named"] for d in found["system"]}
    assert debs["runtime", "libgl1"] is True
    assert debs["runtime", "libx11-6"] is debs["build", "libre2-9"] is False


def test_inverted_a_tool_ends_at_the_builds_that_import_it(home: Path) -> None:
    assert (
        good(home, "tree", "--invert", "setuptools")
        == """\
setuptools 80.9.0 2.0 MB
└─ the build of fast-ops

setuptools 80.9.0 2.0 MB
└─ the build of deep-ops
"""
    )
    (build,) = data(home, "tree", "--invert", "packaging")["builds"]
    assert build["extension"] == "fast-ops"
    assert [row["name"] for row in build["tree"]] == ["packaging", "wheel", "spec"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "setuptools",
            "setuptools 80.9.0: only the build of fast-ops imports it\n"
            "  the spec → the build of fast-ops → setuptools\n"
            "setuptools 80.9.0: only the build of deep-ops imports it\n"
            "  the spec → the build of deep-ops → setuptools\n",
        ),
        (
            "packaging",
            "packaging 25.0: only the build of fast-ops imports it\n"
            "  the spec → the build of fast-ops → wheel → packaging\n",
        ),
        (
            "Fast_Ops",
            "fast-ops 1.0 [extension]\n  the spec → fast-ops\n  the spec → deep-ops → fast-ops\n",
        ),
        (
            "einops",
            "einops 0.8.1\n  the spec → fast-ops → einops\n"
            "  the spec → deep-ops → fast-ops → einops\n",
        ),
        (
            "libgl1",
            "libgl1 1.6.0-1 amd64, a package of the distribution\n"
            "  the spec → system runtime: it is named there\n",
        ),
        (
            "libx11-6",
            "libx11-6 2:1.8-2 amd64, a package of the distribution\n"
            "  comes with the packages of system runtime: libgl1 and libglib2.0-0\n",
        ),
        (
            "libglib2.0-0",
            "libglib2.0-0 2.74.6-2 amd64, a package of the distribution\n"
            "  the spec → system runtime: it is named there\n",
        ),
    ],
)
def test_why(home: Path, name: str, said: str) -> None:
    assert good(home, "why", name) == said


def test_why_torch_tells_builds_as_well(home: Path) -> None:
    lines = good(home, "why", "torch").splitlines()
    assert lines[1] == "  the spec → torch"
    assert lines[-2:] == [
        f"  the build of {name} imports it too" for name in ("fast-ops", "deep-ops")
    ]


def test_a_deb_of_a_single_named_package_was_brought_with_it(home: Path) -> None:
    text = SPEC.replace("libgl1 libglib2.0-0", "libgl1")
    source = SourceFile("spec.env", text)
    lock = make()._replace(inputs=resolution_inputs(resolve(parse(source), source)))
    (home / "spec.env").write_text(text, encoding="utf-8")
    (home / "spec.lock").write_text(lock_file.dumps(lock), encoding="utf-8")
    assert good(home, "why", "libx11-6").endswith(
        "the spec → system runtime: brought with libgl1\n"
    )
    assert good(home, "why", "libre2-9").endswith("system build: brought with ninja-build\n")


def test_why_as_data(home: Path) -> None:
    found = data(home, "why", "libx11-6")
    assert (found["version"], found["chains"]) == ("2:1.8-2", [])
    assert found["system"][0]["by"] == ["libgl1", "libglib2.0-0"]
    found = data(home, "why", "setuptools")
    assert [b["only"] for b in found["builds"]] == [True, True]


def test_a_name_near_a_tool_or_a_deb_gets_a_guess(home: Path) -> None:
    for word, near in (("setuptool", "setuptools"), ("libgl", "libgl1")):
        done = envspec(home, "why", word)
        assert (done.returncode, f"Did you mean `{near}`?" in done.stderr) == (1, True)


def test_requirements_stay_a_list_of_hashes(home: Path) -> None:
    lines = good(home, "export", "--format", "requirements").splitlines()
    listed = [line for line in lines if not line.startswith("#")]
    assert [line.partition("==")[0] for line in listed] == ["einops", "sympy", "torch"]
    assert all("--hash=sha256:" in line for line in listed)
    assert any("fast-ops 1.0: pypi: fast_ops-1.0.tar.gz" in line for line in lines)
    assert lines[-1].endswith("libgl1=1.6.0-1 libglib2.0-0=2.74.6-2 libx11-6=2:1.8-2")


def test_the_other_exports(home: Path) -> None:
    text = good(home, "export", "--format", "pylock")
    assert 'path = "wheels/extension-deep-ops/deep-ops-0123456789ab.tar"' in text
    bom = json.loads(good(home, "export", "--format", "cyclonedx"))
    purls = {c["name"]: c["purl"] for c in bom["components"]}
    assert purls["libgl1"] == "pkg:deb/debian/libgl1@1.6.0-1?arch=amd64&distro=debian-12"
    assert f"code.example/deep-ops%40{COMMIT}" in purls["deep-ops"]


def test_a_diff_tells_what_was_recorded(home: Path) -> None:
    lock = make()
    first = lock.extensions[0]._replace(
        wheel="fast_ops-1.0-py3-none-any.whl", wheel_sha256="1" * 64
    )
    recorded = lock._replace(extensions=(first, *lock.extensions[1:]))
    (home / "after.lock").write_text(lock_file.dumps(recorded), encoding="utf-8")
    text = good(home, "diff", "spec.lock", "after.lock")
    assert "Extensions\n  ~ fast-ops 1.0: its wheel is recorded now: sha256 111111111111…\n" in text
    assert data(home, "diff", "spec.lock", "after.lock")["extensions"][0]["kind"] == "wheel"


def test_an_extension_is_explained(home: Path) -> None:
    text = good(home, "explain", "spec.env", "deep-ops")
    assert "its source is https://code.example/deep-ops at 0123456789ab, packed as" in text
    assert "it is locked against torch 2.8.0, the one that is installed" in text
    assert "only the build of fast-ops imports packaging 25.0, by way of wheel" in good(
        home, "explain", "spec.env", "packaging"
    )


def test_an_editor_shows_the_locked_version_of_an_extension(home: Path) -> None:
    locked = dict(Locks().beside(home / "spec.env").versions)
    assert (locked["deep-ops"], locked["torch"]) == ("0.2", "2.8.0")
    found = hover(Tree(SPEC), SPEC.index("deep-ops {"), locked)
    assert found is not None
    assert "- Locked at `0.2`" in found.markdown
