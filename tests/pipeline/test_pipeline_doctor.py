"""What `doctor` says of what was seen: judged without a machine that has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from envspec.build import host as host_room
from envspec.build.host import (
    Engine,
    Gpu,
    Host,
    Nvidia,
    Program,
    read_module,
    read_smi,
    read_version,
    size,
)
from envspec.language.parse import parse
from envspec.language.resolve import resolve
from envspec.lock.model import Artefact, Lock, LockedPackage
from envspec.lock.offered import CHANGED, GONE, SAME, SILENT, UNTOLD, YANKED, Offer
from envspec.lock.pipconfig import PipConfig
from envspec.lock.surroundings import Tool, settings, tools
from envspec.model import Spec
from envspec.pipeline import doctor, machine
from envspec.report import health
from envspec.report.health import BROKEN, GOOD, NOTE, UNKNOWN, Finding
from envspec.source import SourceFile

HOST = Host(
    system="Linux",
    machine="x86_64",
    kernel="6.1",
    glibc="2.36",
    memory=16 << 30,
    cgroup="v2",
    namespaces=("mnt", "net", "pid", "user"),
    isolation="bwrap",
    docker=Engine("Docker 28.2.2", ""),
    programs=(Program("git", True, "2.39.5"),),
    nvidia=Nvidia("570.86.15", (Gpu("NVIDIA H100", "sm_90", 81559),), ""),
)
SMI = """\
NVIDIA H100 80GB HBM3, 9.0, 81559, 570.86.15
NVIDIA A100-SXM4-40GB, 8.0, 40960, 570.86.15
"""


def by_name(found: object) -> dict[str, Finding]:
    return {f.name: f for f in found}  # type: ignore[attr-defined]


def spec(accelerator: str, more: str = "") -> Spec:
    text = (
        f'envspec 1\nproject p {{\n  source archive "p-1.tar.gz" sha256 "{"a" * 64}"\n}}\n'
        'platform linux/amd64 {\n  base "debian:12"\n  python 3.11\n}\n'
        f"{accelerator}\n{more}\npackages {{\n  torch ==2.9.1+cu128 from pytorch-cu128\n}}\n"
        'entry e {\n  level c1\n  run "true"\n  timeout 1m\n}\n'
    )
    source = SourceFile("spec.env", text)
    return resolve(parse(source), source)


def lock(floor: str) -> Lock:
    file = Artefact("pypi", "a-1-py3-none-any.whl", "b" * 64, 1)
    tool = LockedPackage("uv", "1", file, (), ("spec",))
    return Lock((), "", "", file, tool, (), "uv", "1", driver_floor=floor)


# --- texts of the driver --------------------------------------------------------------------


def test_gpus_from_nvidia_smi() -> None:
    gpus, driver = read_smi(SMI)
    assert driver == "570.86.15"
    assert gpus == (
        Gpu("NVIDIA H100 80GB HBM3", "sm_90", 81559),
        Gpu("NVIDIA A100-SXM4-40GB", "sm_80", 40960),
    )


@pytest.mark.parametrize(
    "text",
    [
        "No devices were found\n",
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n",
        "",
        "a,b,c,d\n",
        "1, 2\n",
    ],
)
def test_other_texts_of_nvidia_smi_name_nothing(text: str) -> None:
    assert read_smi(text) == ((), "")


def test_fields_that_the_tool_does_not_know() -> None:
    gpus, driver = read_smi("Old \x1bcard, [N/A], [N/A], 390.157\n")
    assert (gpus, driver) == ((Gpu("Old ?card", "", 0),), "390.157")


@pytest.mark.parametrize(
    ("text", "driver"),
    [
        (
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 19:39:15 UTC\n"
            "GCC version:  gcc version 12.2.0\n",
            "535.183.01",
        ),
        (
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build\n",
            "570.86.15",
        ),
        ("GCC version:  gcc version 12.2.0\n", ""),
    ],
)
def test_driver_from_the_kernel(text: str, driver: str) -> None:
    assert read_module(text) == driver


@pytest.mark.parametrize(
    ("text", "word", "number"),
    [
        ("Docker version 28.2.2, build e6534b4", "version", "28.2.2"),
        ("github.com/docker/buildx v0.12.1 abc", "buildx", "0.12.1"),
        ("Name: default\nNodes:\nBuildKit version: v0.13.1\n", "BuildKit", "0.13.1"),
        ("runc version 1.1.5+ds1\ncommit: 1.1.5+ds1-1", "version", "1.1.5"),
        ("NVIDIA Container Toolkit CLI version 1.17.8\ncommit: f2", "version", "1.17.8"),
        ("nix (Nix) 2.18.1", "nix", "2.18.1"),
        ("bubblewrap 0.8.0", "bubblewrap", "0.8.0"),
        ("nothing here", "version", ""),
    ],
)
def test_versions_that_programs_print(text: str, word: str, number: str) -> None:
    assert read_version(text, word) == number


def test_nvidia_smi_that_hangs_or_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The program is really run, and its failure is no absence of GPUs."""
    monkeypatch.setattr(host_room, "PROC_DRIVER", tmp_path / "version")
    (tmp_path / "version").write_text("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.1.2  x")
    tool = tmp_path / "nvidia-smi"
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    tool.write_text("#!/bin/sh\nexit 9\n")
    tool.chmod(0o755)
    assert host_room._nvidia() == Nvidia("535.1.2", (), "`nvidia-smi` cannot speak to the driver")
    tool.write_text(f"#!/bin/sh\nprintf '{SMI.splitlines()[0]}\\n'\n")
    assert host_room._nvidia().gpus == (Gpu("NVIDIA H100 80GB HBM3", "sm_90", 81559),)


# --- the machine ------------------------------------------------------------------------------


def test_this_machine_is_looked_at() -> None:
    """Every question has an answer or an empty one; none raises."""
    seen = host_room.look()
    assert seen.kernel
    assert {p.name for p in seen.programs} == set(host_room.PROGRAMS) == set(machine.USES)
    assert seen.isolation in {"bwrap", "namespaces", "child"}


def test_programs_missing_old_and_silent() -> None:
    host = HOST._replace(
        programs=(
            Program("nix", True, "2.3.16"),
            Program("runc", True, "1.1.5"),
            Program("git", False, ""),
            Program("BuildKit", True, ""),
            Program("docker", True, "28.2.2"),
        )
    )
    old, missing, good = (
        Tool("uv", "0.1.0", ">=0.9.0", False),
        Tool("pip-tools", "", ">=7.5.0", False),
        Tool("pip", "26.3", ">=24.2", True),
    )
    listed = machine.programs(host, [old, missing, good])
    found = by_name(f for f in listed if f.section == "programs")
    assert {name: f.state for name, f in found.items()} == {
        "uv": BROKEN,
        "pip-tools": BROKEN,
        "pip": GOOD,
        "nix": BROKEN,
        "runc": NOTE,
        "git": NOTE,
        "BuildKit": UNKNOWN,
        "docker": GOOD,
    }
    assert found["pip-tools"].hint == "python -m pip install 'pip-tools>=7.5.0'"
    assert "2.3.16, needed: 2.4 or newer" in found["nix"].said


def test_no_engine_at_all() -> None:
    host = HOST._replace(docker=Engine("", "there is no socket"), system="Darwin", programs=())
    found = by_name(machine.programs(host, []))
    assert (found["docker"].state, found["local"].state) == (NOTE, BROKEN)


def test_tools_of_this_installation_are_good() -> None:
    assert all(tool.good for tool in tools())
    assert next(t for t in tools() if t.name == "uv").needed


@pytest.mark.parametrize(
    ("driver", "floor", "state"),
    [
        ("570.86.15", "525.60.13", GOOD),
        ("525.60.13", "525.60.13", GOOD),
        ("520.61.05", "525.60.13", BROKEN),
        ("", "525.60.13", UNKNOWN),
        ("570.86.15", "", UNKNOWN),
    ],
)
def test_driver_against_the_floor(driver: str, floor: str, state: str) -> None:
    host = HOST._replace(nvidia=HOST.nvidia._replace(driver=driver))
    found = by_name(doctor.against_lock(host, spec("accelerator cuda 12.8 { }"), lock(floor)))
    assert found["driver"].state == state


def test_the_higher_floor_counts() -> None:
    wanted = spec("accelerator cuda 12.8 {\n  driver >=575.10\n}")
    found = by_name(doctor.against_lock(HOST, wanted, lock("525.60.13")))
    assert found["driver"].state == BROKEN
    assert found["driver"].said == "575.10 or newer is needed, 570.86.15 is here"


@pytest.mark.parametrize(
    ("here", "state"),
    [(("sm_90",), GOOD), (("sm_90", "sm_75"), BROKEN), ((), UNKNOWN), (("",), UNKNOWN)],
)
def test_gpus_against_the_spec(here: tuple[str, ...], state: str) -> None:
    gpus = tuple(Gpu("x", architecture, 0) for architecture in here)
    host = HOST._replace(nvidia=HOST.nvidia._replace(gpus=gpus))
    wanted = spec("accelerator cuda 12.8 {\n  gpus sm_80 sm_90\n}")
    found = by_name(doctor.against_lock(host, wanted, lock("525.60.13")))
    assert found["gpus"].state == state


def test_a_spec_without_gpu_asks_for_none() -> None:
    bare = HOST._replace(nvidia=Nvidia("", (), "`nvidia-smi` is not installed"))
    cpu = spec("accelerator none")
    assert list(doctor.against_lock(bare, cpu, lock(""))) == []
    assert [f.state for f in machine.graphics(bare, cpu)] == [NOTE]
    assert {f.state for f in machine.graphics(bare, spec("accelerator cuda 12.8 { }"))} == {UNKNOWN}


def test_memory_that_the_spec_states() -> None:
    wanted = spec("accelerator none", "resources {\n  memory 64GiB\n}")
    assert by_name(doctor.against_lock(HOST, wanted, lock("")))["memory"].state == BROKEN


def test_disks_that_are_full_and_that_do_not_tell() -> None:
    found = by_name(machine.disks([("a", (1, 0)), ("b", None), ("c", (5 << 30, 0))], 3 << 20))
    assert [found[n].state for n in "abc"] == [BROKEN, UNKNOWN, GOOD]
    assert found["in the cache"].said == "3.0 MiB"


def test_size_counts_a_file_with_two_names_once(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 1000)
    (tmp_path / "b").hardlink_to(tmp_path / "a")
    assert size(tmp_path) == 1000


def test_no_secret_and_no_host_of_the_settings_is_said() -> None:
    secrets = ("s3cret", "alice", "wheels.lab")
    address = "https://alice:s3cret@wheels.lab/simple"
    pip = PipConfig((address,), address, (address, address), "/nowhere/ca.pem", address)
    environ = {"HTTPS_PROXY": address, "ENVSPEC_INDEX_LAB": address, "SSL_CERT_FILE": "/nowhere"}
    found = list(machine.network(settings(pip, environ)))
    assert len(found) == 8
    text = health.text(found, 80, colour=False) + str(health.document(found))
    assert not [s for s in secrets if s in text]
    assert "with credentials" in text
    assert {f.name for f in found if f.state == BROKEN} == {"SSL_CERT_FILE", "pip cert"}


# --- pins -------------------------------------------------------------------------------------


def test_pins_by_what_became_of_them() -> None:
    def offer(name: str, state: str, index: str = "pypi") -> Offer:
        artefact = Artefact(index, f"{name}-1.0-py3-none-any.whl", "a" * 64, 1)
        return Offer(artefact, state, "it did not answer in time")

    states = {
        "fine": SAME, "withdrawn": YANKED, "lost": GONE, "other": CHANGED, "mute": UNTOLD,
        "slow": SILENT,
    }  # fmt: skip
    found = by_name(doctor.pins([offer(name, state) for name, state in states.items()]))
    assert found["offered"].said == "1 of 6 as they are locked"
    assert {name: f.state for name, f in found.items() if name != "offered"} == {
        "withdrawn": BROKEN, "lost": BROKEN, "other": BROKEN, "mute": UNKNOWN, "slow": UNKNOWN,
    }  # fmt: skip
    assert "run `envspec lock -P withdrawn`" in found["withdrawn"].hint
    assert found["slow"].said.endswith("it did not answer in time")


def test_text_and_document() -> None:
    found = [Finding("s", "one", GOOD, "fine"), Finding("s", "two", BROKEN, "not", "mend it")]
    text = health.text(found, 60, colour=False)
    assert text.splitlines() == [
        "s",
        "  ok           one  fine",
        "  BROKEN       two  not",
        "                    → mend it",
        "",
        "1 broken",
    ]
    assert "\x1b" in health.text(found, 60, colour=True)
    document = health.document(found)
    assert document["schema"] == 1
    assert document["counts"] == {"good": 1, "note": 0, "broken": 1, "unknown": 0}
