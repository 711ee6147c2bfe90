"""A user with an extension and a folder for a source: lock, compile, verify, record the wheel."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from local_index import Wheel, make_wheel
from sdists import pack, pkg_info
from user_room import Room

from envspec.report import reader

# A backend of the package's own, so that nothing real has to be fetched; it tells what it saw.
BACKEND = """
import base64, hashlib, os, zipfile
import helper

def build_wheel(folder, settings=None, metadata=None):
    info = "native-1.5.dist-info"
    odd = os.urandom(8) if os.environ.get("ODD") else b""
    files = {
        "native_module.py": f"import tiny\\nMADE_WITH = {helper.NAME!r}\\nODD = {odd!r}\\n",
        f"{info}/METADATA": "Metadata-Version: 2.1\\nName: native\\nVersion: 1.5\\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    }
    def line(name, data):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data.encode()).digest()).decode()
        return f"{name},sha256={digest.rstrip('=')},{len(data)}\\n"
    files[f"{info}/RECORD"] = "".join(line(*i) for i in files.items()) + f"{info}/RECORD,,\\n"
    name = "native-1.5-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(folder, name), "w") as wheel:
        for path, data in files.items():
            wheel.writestr(zipfile.ZipInfo(path), data)
    return name
"""
PYPROJECT = '[build-system]\nrequires = []\nbuild-backend = "back"\nbackend-path = ["."]\n'
SPEC = """
extension native ==1.5 {
  needs  helper
  env    A="1"
  module native_module
}
"""
SMOKE = "import native_module\nassert native_module.MADE_WITH == 'helper'\n"


def with_extension(room: Room, more: str = SPEC) -> Room:
    files = {
        "PKG-INFO": pkg_info("native", "1.5", ("other>=1",)),
        "pyproject.toml": PYPROJECT,
        "back.py": BACKEND,
    }
    sdist = Wheel("native-1.5.tar.gz", pack(files, "native-1.5"))
    room.index.add(sdist, make_wheel("helper", "1.0"), make_wheel("other", "1.2"))
    (room.home / "smoke.py").write_text(SMOKE)
    room.write(more=more)
    return room


def lock_of(room: Room) -> dict[str, object]:
    return json.loads((room.home / "spec.lock").read_text())


def report_of(room: Room) -> dict[str, object]:
    return reader.read(room.home / "report.json")


def test_the_lock_holds_the_source_and_what_builds_it(room: Room) -> None:
    with_extension(room).good("lock")
    (found,) = lock_of(room)["extensions"]
    assert (found["name"], found["version"], found["file"]) == (
        *("native", "1.5", "native-1.5.tar.gz"),
    )
    assert [p["name"] for p in found["build"]] == ["helper"]
    assert found["requires"] == ["other"]
    packages = {p["name"]: p["why"] for p in lock_of(room)["packages"]}
    assert packages == {"tiny": ["spec"], "other": ["native"]}
    assert "unchanged" in room.good("lock").stdout
    room.good("lock", "--check")


def test_a_changed_extension_makes_the_lock_stale(room: Room) -> None:
    with_extension(room).good("lock")
    room.write(more=SPEC.replace('A="1"', 'A="2"'))
    found = room.refused("compile", "spec.env", code="E0402", at="extension native")
    assert "extension native env A" in found["cause"]


def test_the_local_engine_compiles_it(room: Room) -> None:
    done = with_extension(room).good("verify", "--engine", "local")
    assert "C0 live" in done.stdout
    report = report_of(room)
    assert report["rungs"]["c0_live"]["details"]["imports"] == ["tiny", "native_module"]
    (wheel,) = report["extensions"]
    assert wheel["file"] == "native-1.5-py3-none-any.whl"
    assert len(wheel["sha256"]) == 64
    assert wheel["recorded"] is None
    refused = room.run("lock", "--built", "report.json")
    assert refused.returncode == 1
    assert "error[E0436]" in refused.stderr
    assert "not built in an image" in refused.stderr
    room.no_remains()


def test_a_module_that_does_not_load_fails_c0(room: Room) -> None:
    with_extension(room, SPEC.replace("module native_module", "module native_module absent_one"))
    done = room.run("verify", "--engine", "local")
    assert done.returncode == 1
    assert "`absent_one` is not installed" in report_of(room)["rungs"]["c0_live"]["reason"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no report of `envspec verify`"),
        ("{}", "no report of `envspec verify`"),
        ('{"engine": {"name": "docker"}, "spec": {}, "extensions": []}', "another environment"),
        ('{"engine": {}, "spec": {}, "extensions": [1]}', "no report"),
    ],
)
def test_e0436_what_is_no_report_of_this_lock(room: Room, text: str, words: str) -> None:
    with_extension(room).good("lock")
    (room.home / "r.json").write_text(text)
    found = room.refused("lock", "--built", "r.json", code="E0436", at="project")
    assert words in found["title"]


@pytest.mark.engine
def test_a_recorded_wheel_is_held_to(docker_room: Room) -> None:
    """Built in an image, recorded, met again; and refused where other bytes come out."""
    room = with_extension(docker_room)
    room.good("verify", "--engine", "docker")
    (wheel,) = report_of(room)["extensions"]
    done = room.good("lock", "--built", "report.json")
    assert wheel["sha256"] in done.stdout
    assert lock_of(room)["extensions"][0]["wheel_sha256"] == wheel["sha256"]
    room.good("lock", "--check")
    room.good("compile")
    sums = (room.home / "generated" / room.project / "checksums.wheel-native.lock").read_text()
    assert sums == f"{wheel['sha256']}  native-1.5-py3-none-any.whl\n"
    room.good("verify", "--engine", "docker")
    assert report_of(room)["extensions"][0]["recorded"] == wheel["sha256"]

    lock = room.home / "spec.lock"
    lock.write_text(lock.read_text().replace(wheel["sha256"], "0" * 64))
    refused = room.run("verify", "--engine", "docker")
    assert refused.returncode == 1
    assert "error[E0703]" in refused.stderr
    assert ":".join(("spec.env", str(room.at("extension native")[0]))) in refused.stderr
    assert "computed checksum did NOT match" in refused.stderr


@pytest.mark.engine
def test_an_extension_that_is_another_each_time_is_told(docker_room: Room) -> None:
    room = with_extension(docker_room, SPEC.replace('A="1"', 'ODD="1"'))
    done = room.run("verify", "--engine", "docker", "--rebuild")
    assert done.returncode == 1
    rebuild = report_of(room)["rebuild"]
    assert rebuild["verdict"] == "fail"
    line = room.at("extension native")[0]
    assert {d["line"] for d in rebuild["differences"]} == {line}
    assert any(d["file"].endswith("native_module.py") for d in rebuild["differences"])
    assert f"spec.env:{line} " in done.stdout


def test_a_folder_is_a_source(room: Room, tmp_path: Path) -> None:
    """Locked by what it holds: a change is told, and a new lock takes it."""
    (room.home / "demo.py").write_text("import tiny\n")
    text = room.spec.read_text()
    start, end = text.index("  source archive"), text.index("\n}")
    room.spec.write_text(text[:start] + '  source path "."' + text[end:])
    room.good("lock")
    assert lock_of(room)["source"]["index"] == ""
    room.good("verify", "--engine", "local")
    room.good("lock", "--check")  # nothing that envspec wrote counts
    (room.home / "demo.py").write_text("import tiny\nX = 1\n")
    found = room.refused("compile", "--frozen", code="E0426", at='source path "."')
    assert "changed: 'demo.py'" in found["cause"]
    assert "source" in room.good("lock").stdout
    room.good("verify", "--engine", "local")
