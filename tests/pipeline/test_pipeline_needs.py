"""What `doctor` says a spec lacks here: engines, compilers, packages of the distribution."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from envspec.build import host as host_room
from envspec.build.host import Engine, Host, Nvidia, Program
from envspec.language.parse import parse
from envspec.language.resolve import resolve
from envspec.lock.debian.container import run
from envspec.lock.model import Artefact, Deb, Lock, LockedPackage, System
from envspec.model import Spec
from envspec.pipeline import debs, needs
from envspec.report.health import BROKEN, GOOD, NOTE, UNKNOWN, Finding
from envspec.source import SourceFile

PROGRAMS = (
    Program("docker", True, "28.2.2"),
    Program("buildx", True, "0.12.1"),
    Program("git", True, "2.39.5"),
    Program("cc", True, "12.2.0"),
    Program("nvcc", True, "12.8"),
)
HOST = Host(
    "Linux", "x86_64", "6.1", "2.36", 16 << 30, "v2", (), "bwrap", Engine("Docker 28.2.2", ""),
    PROGRAMS, Nvidia("", (), ""),
)  # fmt: skip
IMAGE = os.environ.get("ENVSPEC_TEST_IMAGE", "envspec-test/debian:bookworm")
NO_ENGINE = Engine("", "there is no socket")
COMMIT = "0123456789abcdef0123456789abcdef01234567"
EVERYTHING = f"""envspec 1
project p {{
  source git "https://code.example/p" at "{COMMIT}"
}}
platform linux/amd64 {{
  base "debian:12"
  devel "nvidia/cuda:12.8.1-devel-ubuntu22.04"
  python 3.11
}}
accelerator cuda 12.8 {{ }}
packages {{
  torch ==2.8.0
}}
system {{
  runtime libgl1
}}
extension fast-ops ==1.0
entry e {{
  level c1
  run "true"
}}
"""


def spec(text: str = EVERYTHING) -> Spec:
    source = SourceFile("spec.env", text)
    return resolve(parse(source), source)


def lock(**more: Any) -> Lock:
    file = Artefact("pypi", "a-1-py3-none-any.whl", "b" * 64, 1)
    tool = LockedPackage("uv", "1", file, (), ("spec",))
    return Lock((), "debian:12", "sha256:" + "0" * 64, file, tool, (), "uv", "1")._replace(**more)


def without(*names: str, engine: bool = True) -> Host:
    kept = tuple(p for p in PROGRAMS if p.name not in names)
    return HOST._replace(programs=kept, docker=HOST.docker if engine else NO_ENGINE)


def found(
    host: Host, lacking: tuple[str, ...] | None = (), *, locked: bool = True
) -> dict[str, Finding]:
    value = lock() if locked else None
    return {f.name: f for f in needs.needs(host, spec(), value, lacking)}


def test_a_machine_that_has_everything() -> None:
    states = {name: f.state for name, f in found(HOST).items()}
    assert states == dict.fromkeys(("images", "git", "system packages", "C compiler", "nvcc"), GOOD)


@pytest.mark.parametrize(
    ("gone", "name", "with_engine", "without_engine"),
    [
        ("cc", "C compiler", NOTE, BROKEN),
        ("nvcc", "nvcc", NOTE, BROKEN),
        ("git", "git", BROKEN, BROKEN),
        ("buildx", "images", NOTE, NOTE),
    ],
)
def test_a_program_that_is_missing(
    gone: str, name: str, with_engine: str, without_engine: str
) -> None:
    """What an image would have is broken only where no image can be built."""
    for engine, state in ((True, with_engine), (False, without_engine)):
        finding = found(without(gone, engine=engine))[name]
        assert (finding.state, bool(finding.hint)) == (state, True)


def test_packages_of_the_distribution_that_the_local_engine_lacks() -> None:
    assert found(HOST, ("libgl1",))["system packages"].state == NOTE
    bare = found(without(engine=False), ("libgl1", "libx11-6"))["system packages"]
    assert bare.state == BROKEN
    assert bare.hint == "sudo apt-get install --no-install-recommends libgl1 libx11-6"
    assert found(HOST, None)["system packages"].state == NOTE
    assert found(without(engine=False), None)["system packages"].state == UNKNOWN


def test_without_lock_and_engine_nothing_can_be_locked() -> None:
    assert found(without(engine=False), locked=False)["images"].state == BROKEN
    assert found(HOST, locked=False)["images"].state == GOOD


@pytest.mark.parametrize(
    ("version", "state"), [("12.8", GOOD), ("12.8.93", GOOD), ("13.0", NOTE), ("", UNKNOWN)]
)
def test_another_nvcc_than_the_spec_compiles_with(version: str, state: str) -> None:
    host = HOST._replace(programs=(*PROGRAMS[:-1], Program("nvcc", True, version)))
    assert found(host)["nvcc"].state == state


def test_a_spec_that_needs_nothing_of_it_hears_nothing_of_it() -> None:
    text = EVERYTHING.replace(f'git "https://code.example/p" at "{COMMIT}"', 'path "."')
    text = text.replace("extension fast-ops ==1.0\n", "")
    text = text.replace("system {\n  runtime libgl1\n}\n", "")
    names = [f.name for f in needs.needs(without("git", "cc", "nvcc"), spec(text), lock(), ())]
    assert names == ["images"]


@pytest.mark.skipif(shutil.which("dpkg-query") is None, reason="needs dpkg")
def test_dpkg_is_asked() -> None:
    assert needs.missing_debs(["dpkg", "envspec-no-such-package"]) == ("envspec-no-such-package",)
    assert needs.missing_debs([]) == ()


def test_a_machine_without_dpkg(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert needs.missing_debs(["dpkg"]) is None


def test_nvcc_is_found_where_builds_find_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """On PATH or in the toolkit's folder; the program is really run."""
    tool = tmp_path / "nvcc"
    tool.write_text(
        "#!/bin/sh\necho 'Cuda compilation tools, release 12.8, V12.8.93'\n", encoding="utf-8"
    )
    tool.chmod(0o755)
    monkeypatch.setattr(host_room, "_CUDA", str(tmp_path))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert host_room._program("nvcc", *host_room.PROGRAMS["nvcc"]) == Program("nvcc", True, "12.8")


# --- what the distribution offers -------------------------------------------------------------

GL = Deb("libgl1", "1.6.0-1", "amd64", "libgl1_1.6.0-1_amd64.deb", "pool/libgl1.deb", "5" * 64, 9)
X11 = GL._replace(name="libx11-6", version="2:1.8.4-2", file="libx11-6.deb", sha256="6" * 64)


def test_debs_by_what_the_lists_have() -> None:
    why, listed = debs.read(
        f"noise\n@begin\n@deb libgl1=1.6.0-1\n{'5' * 64}\n@deb libx11-6=2:1.8.4-2\n@end\n"
    )
    assert why == ""
    good, gone = debs.judged([GL, X11], listed)
    assert (good.state, good.said) == (
        GOOD,
        "1 of 2 packages of the distribution as they are locked",
    )
    assert (gone.name, gone.state) == ("libx11-6", BROKEN)
    assert "no longer in the distribution's lists" in gone.said
    (changed,) = debs.judged([GL._replace(sha256="7" * 64)], listed)
    assert (changed.state, "another hash" in changed.said) == (BROKEN, True)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("@begin\n@noapt\n", "no apt"),
        ("@begin\n@noupdate\n", "mirror"),
        ("@begin\n@deb x=1\n", "not complete"),
        ("", "not complete"),
    ],
)
def test_an_answer_that_is_none_passes_for_nothing(text: str, why: str) -> None:
    assert why in debs.read(text)[0]


def test_very_many_that_vanished_are_counted() -> None:
    many = [GL._replace(name=f"lib{number}") for number in range(25)]
    told = list(debs.judged(many, {}))
    assert len(told) == 11
    assert told[-1].said == "15 more are no longer the same"


def test_without_docker_it_is_said_that_nothing_was_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (finding,) = debs.offered(lock(system=System((), "", (GL,), ())), "linux/amd64")
    assert (finding.state, "were not asked for" in finding.said) == (UNKNOWN, True)


def test_a_real_apt_is_asked(engine_host: str) -> None:
    """The lists of the distribution tell which of three debs is as it is locked."""
    answer = run(
        IMAGE, "linux/amd64", "apt-get update -q >/dev/null 2>&1; apt-cache show libgl1", ()
    )
    fields = dict(line.split(": ", 1) for line in answer.text.splitlines() if ": " in line)
    if "SHA256" not in fields:
        pytest.skip("the distribution's mirror gives no answer here")
    good = GL._replace(version=fields["Version"], sha256=fields["SHA256"])
    held = System((), IMAGE, (good, X11._replace(version="0.0-none")), ())
    offered = {f.name: f for f in debs.offered(lock(system=held), "linux/amd64")}
    assert offered["system"].said == "1 of 2 packages of the distribution as they are locked"
    assert (offered["libx11-6"].state, len(offered)) == (BROKEN, 2)
    bent = System((), IMAGE, (good._replace(sha256="0" * 64),), ())
    (changed,) = debs.offered(lock(system=bent), "linux/amd64")
    assert "another hash" in changed.said


def test_an_image_that_is_not_here_is_not_pulled(engine_host: str) -> None:
    held = lock(base_name="envspec.invalid/none", system=System((), "", (GL,), ()))
    (finding,) = debs.offered(held, "linux/amd64")
    assert finding.said.endswith("the engine does not have the image that would be asked")
