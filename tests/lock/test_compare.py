"""Two locks compared, as text, as Markdown and as data."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "golden"))

from golden import compare as golden

from envspec.lock.compare import Setting, compare
from envspec.lock.kinds import (
    ADDED,
    BUILD,
    CHANGED,
    DOWNGRADED,
    MOVED,
    REBUILT,
    REMOVED,
    UPGRADED,
    WHEEL,
    deb_direction,
)
from envspec.lock.model import Artefact, Deb, Lock, LockedExtension, LockedPackage, System
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


TOOLS = (package("setuptools", "80.0"), package("torch", "2.9.1"))
OPS = LockedExtension(
    "fast-ops",
    "1.0",
    Artefact("pypi", "fast_ops-1.0.tar.gz", "e" * 64, 2_000),
    ("einops",),
    TOOLS,
    "fast_ops-1.0-cp311-cp311-linux_x86_64.whl",
    "f" * 64,
)
GL = Deb("libgl1", "1.6.0-1", "amd64", "libgl1_1.6.0-1_amd64.deb", "pool/libgl1_1.6.0-1_amd64.deb",
         "5" * 64, 90_000)  # fmt: skip
GCC = GL._replace(name="gcc", version="4:12.2.0-3", file="gcc_12.deb", pool="pool/gcc_12.deb")
SYSTEM = System((("bookworm", "2026-01-02T03:04:05Z"),), "", (GL,), (GCC,))
COMPILED = (
    BEFORE._replace(
        extensions=(OPS, OPS._replace(name="old-ops")),
        devel_name="nvidia/cuda:12.8.1-devel-ubuntu22.04",
        devel_digest="sha256:" + "1" * 64,
        system=SYSTEM,
        inputs=(
            *BEFORE.inputs,
            ("source", "git https://code.example/demo at " + "1" * 40),
            ("extension fast-ops", "==1.0"),
            ("extension fast-ops env TORCH_CUDA_ARCH_LIST", "8.0"),
            ("system runtime", "libgl1"),
        ),
    ),
    AFTER._replace(
        extensions=(
            OPS._replace(
                version="1.1",
                artefact=Artefact("pypi", "fast_ops-1.1.tar.gz", "d" * 64, 2_100),
                build=(package("ninja", "1.13"), package("setuptools", "81.0"),
                       package("torch", "2.11.0")),
                wheel="",
                wheel_sha256="",
            ),
            OPS._replace(name="new-ops", version="0.1"),
        ),
        devel_name="nvidia/cuda:13.0.1-devel-ubuntu24.04",
        devel_digest="sha256:" + "2" * 64,
        system=System(
            (("bookworm", "2026-02-02T03:04:05Z"),),
            "",
            (GL._replace(version="1.7.0-1", file="libgl1_1.7.deb"),
             GL._replace(name="libx11-6", file="libx11-6.deb")),
            (GCC._replace(sha256="6" * 64),),
        ),
        inputs=(
            *AFTER.inputs,
            ("source", "git https://code.example/demo at " + "2" * 40),
            ("extension fast-ops", "==1.1"),
            ("extension fast-ops env TORCH_CUDA_ARCH_LIST", "8.0;9.0"),
            ("system runtime", "libgl1 libx11-6"),
        ),
    ),
)  # fmt: skip


def test_the_texts_of_what_is_compiled_and_of_the_distribution() -> None:
    found = compare(*COMPILED)
    text = changes.text(found, "old.lock", "new.lock")
    golden(TEXTS / "compiled.txt", text, folder="tests/lock")
    text = changes.markdown(found, "old.lock", "new.lock")
    golden(TEXTS / "compiled.md.txt", text, folder="tests/lock")
    text = json.dumps(changes.document(found), indent=1, ensure_ascii=False)
    golden(TEXTS / "compiled.json.txt", text + "\n", folder="tests/lock")


def extended(now: LockedExtension, was: LockedExtension = OPS, **more: Any) -> Any:
    found = compare(lock(extensions=(was,)), lock(extensions=(now,), **more))
    return found.extensions[0]


def test_an_extension_built_with_other_tools_is_not_the_same() -> None:
    change = extended(OPS._replace(build=(package("setuptools", "81.0"), TOOLS[1])))
    assert (change.kind, change.loud) == (BUILD, False)
    assert change.notes == ("its build imports: setuptools 80.0 → 81.0",)
    change = extended(OPS._replace(build=(package("setuptools", "80.0", sha="7"), TOOLS[1])))
    assert change.notes == ("its build imports: setuptools 80.0 in another file",)


def test_a_recorded_wheel_that_changes_for_no_reason_is_loud() -> None:
    other = OPS._replace(wheel_sha256="0" * 64)
    change = extended(other)
    assert (change.kind, change.loud) == (WHEEL, True)
    assert change.notes[0].startswith("THE SAME BUILD GAVE OTHER BYTES: fast_ops-1.0-cp311")
    text = changes.text(compare(lock(extensions=(OPS,)), lock(extensions=(other,))), "a", "b")
    assert "Same version, other bytes\n  ! fast-ops 1.0: THE SAME BUILD" in text
    # Another compiler explains it, and so do other tools.
    assert not extended(other, devel_digest="sha256:" + "3" * 64).loud
    assert not extended(other._replace(build=TOOLS[:1])).loud
    assert not extended(other, system=SYSTEM).loud


def test_a_wheel_that_comes_to_be_recorded_or_goes() -> None:
    bare = OPS._replace(wheel="", wheel_sha256="")
    assert extended(OPS, bare).notes == ("its wheel is recorded now: sha256 ffffffffffff…",)
    assert extended(bare).notes == ("its wheel is no longer recorded, and is built anew",)
    assert {extended(OPS, bare).kind, extended(bare).kind} == {WHEEL}


def test_an_archive_of_the_same_name_with_other_bytes_is_loud() -> None:
    other = OPS._replace(artefact=OPS.artefact._replace(sha256="0" * 64))
    change = extended(other)
    assert (change.kind, change.loud) == (REBUILT, True)
    commit = other._replace(artefact=other.artefact._replace(file="fast-ops-0123456789ab.tar"))
    assert not extended(commit).loud


@pytest.mark.parametrize(
    ("was", "now", "kind"),
    [
        ("1.9-1", "1.10-1", UPGRADED),
        ("1.0~rc1", "1.0", UPGRADED),
        ("1.0", "1.0+b1", UPGRADED),
        ("1:1.0", "2.0", DOWNGRADED),
        ("2.36-9+deb12u13", "2.36-9+deb12u4", DOWNGRADED),
        ("1.0-0", "1.0", CHANGED),
        ("1.0a", "1.0+", UPGRADED),
    ],
)
def test_versions_of_the_distribution_have_dpkgs_order(was: str, now: str, kind: str) -> None:
    assert deb_direction(was, now) == kind
    if kind != CHANGED and shutil.which("dpkg"):
        word = "lt" if kind == UPGRADED else "gt"
        assert subprocess.run(["dpkg", "--compare-versions", was, word, now], check=False,
                              ).returncode == 0  # fmt: skip


def test_every_field_of_a_deb_and_of_an_extension_is_compared() -> None:
    for field in Deb._fields:
        other = GL._replace(**{field: 1 if field == "size" else "x" * 64})
        now = SYSTEM._replace(runtime=(other,))
        assert not compare(lock(system=SYSTEM), lock(system=now)).same, field
    for field, value in (("suites", ()), ("asked", "x"), ("runtime", ()), ("build", ())):
        now = SYSTEM._replace(**{field: value})
        assert not compare(lock(system=SYSTEM), lock(system=now)).same, field
    values: dict[str, Any] = {
        "name": "x", "version": "2", "artefact": OPS.artefact._replace(index="x"),
        "requires": (), "build": (), "wheel": "x.whl", "wheel_sha256": "0" * 64,
    }  # fmt: skip
    assert set(values) == set(LockedExtension._fields)
    for field, value in values.items():
        now_ = OPS._replace(**{field: value})
        assert not compare(lock(extensions=(OPS,)), lock(extensions=(now_,))).same, field


def test_packages_that_the_spec_names_stand_before_those_they_bring() -> None:
    more = (GL._replace(name="aaa", file="aaa.deb"), GL, GL._replace(name="zzz", file="zzz.deb"))
    now = lock(system=SYSTEM._replace(runtime=more), inputs=(("system runtime", "zzz libgl1"),))
    found = compare(lock(), now)
    assert [c.name for c in found.debs] == ["libgl1", "zzz", "aaa", "gcc"]


def test_a_source_is_told_by_its_kind() -> None:
    def with_source(stated: str, sha: str = "c") -> Lock:
        source = Artefact("", "demo.tar", sha * 64, 10)
        return lock(inputs=(("source", stated),), source=source)

    folder, other = with_source("path ."), with_source("path .", "d")
    assert compare(folder, other).settings == (
        Setting("digest of the source folder", "c" * 64, "d" * 64),
    )
    one, two = (with_source("git https://code.example/x at " + c * 40) for c in "12")
    assert compare(one, two).settings == (Setting("source commit", "1" * 40, "2" * 40),)
    (kind,) = compare(folder, one).settings
    assert kind == Setting("source", "folder .", f"repository https://code.example/x {'1' * 40}")


def test_credentials_of_a_lock_are_repeated_nowhere() -> None:
    stated = "git https://alice:s3cret@code.example/x at " + "1" * 40
    token = f"hf_{'s3cret' * 5}"
    found = compare(
        lock(inputs=(("source", stated), ("extension a", stated)), extensions=(OPS,)),
        lock(
            inputs=(
                ("extension b", stated),
                ("index x", "https://alice:s3cret@code.example"),
                ("extension fast-ops env HUB", token),
            ),
            extensions=(OPS,),
        ),
    )
    said = changes.text(found, "a", "b") + changes.markdown(found, "a", "b")
    said += json.dumps(changes.document(found))
    assert "code.example" in said
    assert "s3cret" not in said
    assert "alice" not in said


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
        "devel_name": "gcc:12",
        "devel_digest": "sha256:" + "0" * 64,
        "system": SYSTEM,
        "extensions": (OPS,),
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
