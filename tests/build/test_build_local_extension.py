"""Extensions of the local engine, and building twice: real uv, a real build backend."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from local_room import Room, Silent, make_tar, make_wheel, python

from envspec.build.failure import BuildFailed
from envspec.plan import model as plan

# A backend of the package's own: nothing has to be fetched for it. It writes what it saw.
BACKEND = """
import base64, hashlib, os, socket, zipfile
import helper

def build_wheel(folder, settings=None, metadata=None):
    if os.environ.get("FAIL"):
        raise SystemExit("this build was asked to fail")
    try:
        socket.create_connection(("192.0.2.1", 80), timeout=2)
        network = True
    except OSError:
        network = False
    text = f"HELPER = {helper.VALUE!r}\\nJOBS = {os.environ['MAX_JOBS']!r}\\nNETWORK = {network}\\n"
    if os.environ.get("RANDOM"):
        text += f"ODD = {os.urandom(8)!r}\\n"
    info = "ext-1.0.dist-info"
    files = {
        "ext_native.py": text,
        f"{info}/METADATA": "Metadata-Version: 2.1\\nName: ext\\nVersion: 1.0\\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    }
    def line(name, data):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data.encode()).digest()).decode()
        return f"{name},sha256={digest.rstrip('=')},{len(data)}\\n"
    files[f"{info}/RECORD"] = "".join(line(*i) for i in files.items()) + f"{info}/RECORD,,\\n"
    name = "ext-1.0-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(folder, name), "w") as wheel:
        for path, data in files.items():
            wheel.writestr(zipfile.ZipInfo(path), data)
    return name
"""
PYPROJECT = '[build-system]\nrequires = []\nbuild-backend = "back"\nbackend-path = ["."]\n'


def extension(room: Room, *variables: tuple[str, str]) -> plan.BuildExtension:
    helper = make_wheel(room.files / "build-ext", "helper", "1.0", {"helper.py": "VALUE = 7\n"})
    members = {"ext-1.0/pyproject.toml": PYPROJECT, "ext-1.0/back.py": BACKEND}
    archive = make_tar(room.files / "extension-ext" / "ext-1.0.tar.gz", members)
    environment = (("MAX_JOBS", "3"), *variables)
    return plan.BuildExtension("ext", "1.0", archive, (helper,), environment, ("ext",), "", "", 12)


def rebuilt(room: Room, made: plan.Plan) -> tuple[tuple[str, str], list[str]]:
    found = room.engine().rebuild(made, room.context, room.files, Silent(), room.log)
    return found.digests, [d.file for d in found.differences]


def test_an_extension_is_compiled_against_what_is_locked_and_installed(room: Room) -> None:
    built = room.build(room.plan(extension(room)))
    code = "import ext_native as e; print(e.HELPER, e.JOBS, e.NETWORK)"
    done = python(room.engine(), built, code)
    assert done.stdout.split() == [b"7", b"3", b"False"], done.stderr
    assert sorted(p.name for p in Path(built.reference).iterdir()) == ["built.json", "env", "src"]


def test_what_builds_an_extension_is_not_in_the_environment(room: Room) -> None:
    built = room.build(room.plan(extension(room)))
    done = python(room.engine(), built, "import helper")
    assert b"ModuleNotFoundError" in done.stderr


def test_a_build_that_fails_names_its_line(room: Room) -> None:
    with pytest.raises(BuildFailed) as caught:
        room.build(room.plan(extension(room, ("FAIL", "1"))))
    assert (caught.value.code, caught.value.line) == ("E0703", 12)
    assert any("asked to fail" in text for text in caught.value.excerpt)


def test_another_archive_than_the_plan_names_is_refused(room: Room) -> None:
    step = extension(room)
    wrong = hashlib.sha256(b"other").hexdigest()
    helper = step.wheels[0]
    other = helper._replace(file=helper.file._replace(sha256=wrong))
    with pytest.raises(BuildFailed, match="E0703"):
        room.build(room.plan(step._replace(wheels=(other,))))


@pytest.mark.parametrize("which", ["extension", "source"])
def test_an_archive_that_was_changed_in_the_store_is_refused(room: Room, which: str) -> None:
    """One flipped byte after the last look at the store: the archive is looked at again."""
    step = extension(room)
    name = f"extension-ext/{step.archive.file}" if which == "extension" else "source/demo-1.tar.gz"
    path = room.files / name
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(BuildFailed, match="E0706") as caught:
        room.build(room.plan(step))
    assert "its sha256 is another one" in caught.value.cause


def test_two_builds_are_compared_and_neither_stays(room: Room) -> None:
    (first, second), names = rebuilt(room, room.plan(extension(room)))
    assert first == second
    assert names == []
    assert [p.name for p in (room.cache / "prefixes").iterdir() if p.is_dir()] == []


def test_a_build_that_is_another_each_time_is_told(room: Room) -> None:
    (first, second), names = rebuilt(room, room.plan(extension(room, ("RANDOM", "1"))))
    assert first != second
    module = [n for n in names if n.endswith("ext_native.py")]
    assert len(module) == 1
    assert all("ext" in n for n in names)
