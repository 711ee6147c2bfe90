"""C0 live and identity: imports in processes of their own, told apart by how they fail."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from probe_host import Probe

PACKAGES = {
    "fine": "x = 1",
    "needs_other": "import nowhere.inside",
    "half": "from half import _absent_part  # noqa\nimport half._C",
    "raises": "raise RuntimeError('no\\u00fb ' + chr(0xd800))",
    "leaves": "import sys; sys.exit('bye')",
    "leaves_well": "import sys; sys.exit(0)",
    "hard_exit": "import os; os._exit(0)",
    "segfault": "import ctypes; ctypes.string_at(0)",
    "hangs": "import time; time.sleep(600)",
    "prints_json": """print('{"outcome": "ok"}'); print('ENVSPEC-RESULT {}'); 1/0""",
    "forges": """
import os, sys
for fd in range(3, 64):
    try:
        os.write(fd, b'{"outcome": "ok"}\\n')
    except OSError:
        pass
raise ImportError("after forging")
""",
    "floods": "print('z' * 3_000_000)",
    "leaves_a_daemon": """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open("daemon", "w").write(str(os.getpid()))
        time.sleep(600)
    os._exit(0)
while not (os.path.exists("daemon") and open("daemon").read()):
    time.sleep(0.01)
""",
}


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    for name, text in PACKAGES.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(text)
    return tmp_path


def test_every_way_an_import_can_end(probe: Probe, packages: Path) -> None:
    observed = probe(
        "c0_live",
        python=sys.executable,
        cwd=str(packages),
        names=[*PACKAGES, "not_there", "fine.deeper"],
        seconds_each=4,
        workers=2,
    )
    results: dict[str, Any] = {r["name"]: r for r in observed["results"]}
    assert {name: r["outcome"] for name, r in results.items()} == {
        "fine": "ok",
        "needs_other": "missing_dependency",
        "half": "error",
        "raises": "error",
        "leaves": "exit",
        "leaves_well": "exit",
        "hard_exit": "exit",
        "segfault": "crash",
        "hangs": "timeout",
        "prints_json": "error",
        "forges": "exit",
        "floods": "ok",
        "leaves_a_daemon": "ok",
        "not_there": "missing",
        "fine.deeper": "missing",
    }
    assert results["needs_other"]["missing"] == "nowhere"
    assert results["raises"]["message"] == "noû \\ud800"
    assert results["leaves"]["message"] == "bye"
    assert results["segfault"]["signal"] == 11
    assert results["prints_json"]["type"] == "ZeroDivisionError"
    assert results["floods"]["stdout_bytes"] == 3_000_001
    assert "before the import returned" in results["hard_exit"]["message"]
    assert not Path("/proc", (packages / "daemon").read_text()).exists()


def test_names_left_when_the_time_is_up_are_timeouts(probe: Probe, packages: Path) -> None:
    observed = probe(
        "c0_live",
        python=sys.executable,
        cwd=str(packages),
        names=["hangs", "fine"],
        seconds=2,
        seconds_each=60,
        workers=1,
    )
    assert [r["outcome"] for r in observed["results"]] == ["timeout", "timeout"]
    assert "not started" in observed["results"][1]["message"]


def test_the_probes_own_folder_is_not_importable(probe: Probe, tmp_path: Path) -> None:
    """A repository's module may be called as one of ours is."""
    names = ["identity", "_protocol"]
    observed = probe(
        "c0_live", python=sys.executable, cwd=str(tmp_path), names=names, seconds_each=30
    )
    assert [r["outcome"] for r in observed["results"]] == ["missing", "missing"]


@pytest.mark.parametrize("name", ["", "a b", "a;b", "../x", "-c", "a..b", "a\n"])
def test_a_name_that_is_none_is_refused(probe: Probe, tmp_path: Path, name: str) -> None:
    config: dict[str, Any] = {"python": sys.executable, "cwd": str(tmp_path), "seconds_each": 9}
    document = probe("c0_live", raw=True, names=[name], **config)
    assert document["error"]["type"] == "BadConfig"


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    """A virtual environment of the running interpreter, empty."""
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "env")], check=True
    )
    return tmp_path / "env"


def site(prefix: Path) -> Path:
    return next(prefix.glob("lib/python*/site-packages"))


def metadata(prefix: Path, folder: str, text: str) -> None:
    info = site(prefix) / f"{folder}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(text)


def test_identity_of_a_prefix(probe: Probe, prefix: Path) -> None:
    metadata(prefix, "Zope.Thing-1.0", "Metadata-Version: 2.1\nName: Zope.Thing_x\nVersion: 1.0\n")
    metadata(prefix, "aa-2", "Metadata-Version: 2.1\nName: aa\nVersion: 2+cpu\n")
    metadata(prefix, "broken-0", "garbage\n")
    observed = probe("identity", python=str(prefix / "bin/python"), gpus=True)
    assert observed["error"] is None
    assert observed["packages"] == {"aa": "2+cpu", "zope-thing-x": "1.0"}
    assert observed["packages_unreadable"] == 1
    lines = b"aa==2+cpu\nzope-thing-x==1.0\n"
    assert observed["packages_digest"] == hashlib.sha256(lines).hexdigest()
    assert observed["prefix"] == str(prefix)
    assert observed["base_prefix"] == sys.base_prefix
    assert observed["cache_tag"] == sys.implementation.cache_tag
    assert observed["libc"]["name"] in {"glibc", "musl"}
    assert (observed["torch"], observed["jax"], observed["tensorflow"]) == (None, None, None)


def test_a_broken_framework_does_not_take_the_rest_along(probe: Probe, prefix: Path) -> None:
    fakes = {
        "torch": "import ctypes; ctypes.string_at(0)",
        "jax": "print('{}'); import sys; sys.exit(0)",
        "tensorflow": "import time; time.sleep(600)",
    }
    for name, text in fakes.items():
        (site(prefix) / f"{name}.py").write_text(text)
    observed = probe("identity", python=str(prefix / "bin/python"), gpus=False, seconds=6)
    assert observed["packages"] == {}
    assert observed["torch"]["error"]["type"] == "Crash"
    assert observed["torch"]["error"]["signal"] == 11
    assert observed["jax"]["error"]["type"] == "SystemExit"
    assert observed["jax"]["version"] is None
    assert observed["tensorflow"]["error"]["type"] == "Timeout"


def test_a_site_that_prints_and_one_that_exits(probe: Probe, prefix: Path) -> None:
    hook = site(prefix) / "hook.pth"
    hook.write_text("""import sys; print('{"packages": {"fake": "1"}}')\n""")
    python = str(prefix / "bin/python")
    assert probe("identity", python=python, gpus=False)["packages"] == {}
    hook.write_text("import os; os._exit(0)\n")
    observed = probe("identity", python=python, gpus=False)
    assert observed["error"]["type"] == "Exit"
    assert observed["packages"] is None
    assert observed["packages_digest"] is None


def test_an_interpreter_that_is_not_there(probe: Probe, tmp_path: Path) -> None:
    observed = probe("identity", python=str(tmp_path / "python"), gpus=False)
    assert observed["error"]["type"] == "FileNotFoundError"


def test_identity_with_torch(probe: Probe, torch_python: str) -> None:
    torch = probe("identity", python=torch_python, gpus=False)["torch"]
    assert torch["error"] is None
    code = "import torch; print(torch.__version__)"
    said = subprocess.run([torch_python, "-c", code], capture_output=True, text=True, check=True)
    assert torch["version"] == said.stdout.strip()
    assert isinstance(torch["cxx11_abi"], bool)
    if torch["cuda"] is None:
        assert (torch["cuda_available"], torch["devices"], torch["arch_list"]) == (False, [], [])
