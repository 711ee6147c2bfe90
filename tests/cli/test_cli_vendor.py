"""`envspec vendor`: a deposit that is whole, the same each time, and enough without a network."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest
from test_cli_bad_input_disk import DRIVER, namespace
from user_room import ENVSPEC, Done, Room, end, snapshot

NAMES = {
    *("README.md", "SHA256SUMS", "deposit.json", "spec.env", "spec.lock", "smoke.py"),
    *("demo-1.0.tar.gz", "wheels/source/demo-1.0.tar.gz", "generated/bad-input/Dockerfile"),
    *("wheels/packages/tiny-1.0-py3-none-any.whl", "generated/bad-input/apptainer.def"),
}


@pytest.fixture
def deposit(room: Room, tmp_path: Path) -> Path:
    """A deposit that shares no file with the store, so that a test may damage it."""
    room.good("lock")
    room.good("vendor", "-o", str(tmp_path / "linked"))
    shutil.copytree(tmp_path / "linked", tmp_path / "deposit")
    return tmp_path / "deposit"


def cut_off() -> list[str]:
    """The command that takes a process's network away; none where this machine refuses."""
    for options in (["--net"], ["--net", "--user", "--map-root-user"]):
        argv = ["unshare", *options]
        if subprocess.run([*argv, "true"], capture_output=True, check=False).returncode == 0:
            return argv
    return []


def alone(room: Room, folder: Path, *argv: str) -> Done:
    """Run in a deposit without network, index, find-links or cache."""
    prefix = cut_off()
    if not prefix:
        pytest.skip("NOT TESTED: no network can be taken away here")
    environment = room.environment() | {"ENVSPEC_CACHE": str(room.temporary.parent / "empty")}
    del environment["ENVSPEC_INDEX_PYPI"], environment["UV_CACHE_DIR"]
    process = subprocess.Popen(
        [*prefix, ENVSPEC, *argv],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    return end(process, 240)


def test_everything_is_in_it_and_sha256sum_agrees(room: Room, deposit: Path) -> None:
    files = {n for n, what in snapshot(deposit).items() if what != "a folder"}
    assert files >= NAMES
    assert (deposit / "spec.env").read_bytes() == room.spec.read_bytes()
    argv = ["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"]
    done = subprocess.run(argv, cwd=deposit, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    listed = {line[66:] for line in (deposit / "SHA256SUMS").read_text().splitlines()}
    assert listed == files - {"SHA256SUMS"}
    assert f"whole ({len(files)} files)" in room.good("vendor", "--check", str(deposit)).stdout
    text = (deposit / "README.md").read_text()
    assert f"python:3.11-slim-bookworm@sha256:{'e' * 64}" in text
    assert "--build-context wheels=wheels" in text


def test_the_same_lock_gives_the_same_bytes(room: Room, tmp_path: Path) -> None:
    room.good("lock")
    first, second = tmp_path / "1.tar", tmp_path / "2.tar"
    room.good("vendor", "-o", str(tmp_path / "one"), "--archive", str(first))
    room.variables |= {"TZ": "Asia/Kathmandu", "LC_ALL": "C", "PYTHONHASHSEED": "7"}
    done = room.good("vendor", "--archive", str(second), "--format", "json")
    assert first.read_bytes() == second.read_bytes()
    said = json.loads(done.stdout)["deposit"]
    assert said["archive"] == str(second)
    with tarfile.open(second) as packed:
        packed.extractall(tmp_path / "unpacked", filter="data")
    assert snapshot(tmp_path / "unpacked" / "bad-input") == snapshot(tmp_path / "one")
    assert said["files"] == sum(w != "a folder" for w in snapshot(tmp_path / "one").values())
    assert "unchanged" in room.good("vendor", "-o", str(tmp_path / "one")).stdout
    room.no_remains()


def test_it_is_used_without_network_and_without_a_cache(room: Room, deposit: Path) -> None:
    before = snapshot(deposit)
    report = str(deposit.parent / "report.json")
    for argv in (
        ("lock", "--check"),
        ("compile", "--check"),
        ("fetch", "-o", str(deposit.parent / "again")),
        ("verify", "--engine", "local", "--report", report),
    ):
        done = alone(room, deposit, *argv)
        assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(Path(report).read_text())["verdict"] == "pass"
    assert snapshot(deposit) == before
    assert snapshot(deposit.parent / "again") == snapshot(deposit / "wheels")


def test_files_are_found_where_the_variable_says(room: Room, deposit: Path, tmp_path: Path) -> None:
    wheels = (deposit / "wheels").rename(tmp_path / "elsewhere")
    assert alone(room, deposit, "fetch", "-o", str(tmp_path / "out")).returncode == 1
    room.variables["ENVSPEC_WHEELS"] = str(wheels)
    done = alone(room, deposit, "fetch", "-o", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert snapshot(tmp_path / "out") == snapshot(wheels)


def verified(room: Room, deposit: Path) -> Done:
    shutil.rmtree(room.temporary.parent / "empty", ignore_errors=True)
    report = str(deposit.parent / "report.json")
    return alone(room, deposit, "verify", "--engine", "local", "--report", report)


def flipped(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


def test_one_flipped_byte_is_told_and_refused(room: Room, deposit: Path) -> None:
    """In every file: told by `--check`, and refused by `verify` with nothing built."""
    names = [n for n, what in snapshot(deposit).items() if what != "a folder"]
    for name in names:
        path = deposit / name
        good = path.read_bytes()
        path.write_bytes(flipped(good, len(good) - 2))
        done = room.run("vendor", "--check", str(deposit))
        assert done.returncode == 1, name
        assert "error[E0506]: " in done.stderr, done.stderr
        if name != "SHA256SUMS":
            assert f"changed    {name}" in done.stderr, done.stderr
        # Images in `base/` would be the only exceptions, which no build of ours reads.
        done = verified(room, deposit)
        assert done.returncode == 1, name
        assert "error[E0" in done.stderr
        path.write_bytes(good)
    room.good("vendor", "--check", str(deposit))


def test_one_flipped_byte_of_the_list_is_refused(room: Room, deposit: Path) -> None:
    """In every line: in its digest, between the two, and in its name."""
    path = deposit / "SHA256SUMS"
    good, start = path.read_bytes(), 0
    for line in good.splitlines(keepends=True):
        for place in (0, 63, 64, 65, 66, len(line) - 1):
            path.write_bytes(flipped(good, start + place))
            done = verified(room, deposit)
            assert "error[E0506]" in done.stderr, (line, place, done.stdout)
        start += len(line)
    path.write_bytes(good)
    assert verified(room, deposit).returncode == 0


def test_missing_and_left_over_files_are_told(room: Room, deposit: Path) -> None:
    (deposit / "smoke.py").unlink()
    (deposit / "report.json").write_text("{}")
    (found,) = room.findings("vendor", "--check", str(deposit))
    assert found["code"] == "E0506"
    assert found["cause"] == "1 missing, 1 left over"


def test_a_file_that_list_and_folder_lack_is_missed_by_the_lock(room: Room, deposit: Path) -> None:
    name = "wheels/packages/tiny-1.0-py3-none-any.whl"
    (deposit / name).unlink()
    lines = (deposit / "SHA256SUMS").read_text().splitlines(keepends=True)
    (deposit / "SHA256SUMS").write_text("".join(line for line in lines if name not in line))
    done = room.run("vendor", "--check", str(deposit))
    assert done.returncode == 1
    assert f"missing    {name}" in done.stderr


def test_a_folder_that_is_no_deposit_is_left_alone(room: Room, tmp_path: Path) -> None:
    room.good("lock")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    room.refused("vendor", "-o", str(tmp_path / "mine"), code="E0601", at="project bad-input")
    room.refused("vendor", "-o", ".", code="E0601", at="project bad-input")
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "years of work"


def test_an_earlier_deposit_is_replaced_unless_something_was_added(
    room: Room, deposit: Path
) -> None:
    (deposit / "README.md").write_text("torn")
    assert ": written" in room.good("vendor", "-o", str(deposit)).stdout
    room.good("vendor", "--check", str(deposit))
    (deposit / "notes.txt").write_text("mine")
    room.refused("vendor", "-o", str(deposit), code="E0601", at="project bad-input")
    assert (deposit / "notes.txt").read_text() == "mine"


def test_e0508_a_script_with_a_name_of_the_deposit(room: Room, tmp_path: Path) -> None:
    (room.home / "README.md").write_text("print(1)\n")
    room.write(entry='script "README.md"')
    room.good("lock")
    argv = ("vendor", "-o", str(tmp_path / "out"))
    room.refused(*argv, code="E0508", at="entry smoke")
    assert not (tmp_path / "out").exists()


def test_e0507_an_image_that_cannot_be_had(room: Room, tmp_path: Path) -> None:
    room.good("lock")
    argv = ("vendor", "-o", str(tmp_path / "out"), "--with-base")
    room.refused(*argv, code="E0507", at="project bad-input")
    assert not (tmp_path / "out").exists()


def test_a_lock_is_needed(room: Room, tmp_path: Path) -> None:
    room.refused("vendor", "-o", str(tmp_path / "out"), code="E0401", at="project bad-input")


@pytest.mark.parametrize("argv", [(), ("--check", "x", "-o", "y")])
def test_usage(room: Room, argv: tuple[str, ...]) -> None:
    assert room.run("vendor", *argv).returncode == 2


def test_a_full_disk_leaves_nothing(room: Room, tmp_path: Path) -> None:
    prefix = namespace()
    if not prefix:
        pytest.skip("NOT TESTED: a full disk, since no file system can be mounted here")
    room.good("lock")
    room.good("fetch")
    point = tmp_path / "disk"
    (tmp_path / "nothing").mkdir()
    point.mkdir()
    for spare, where in ((0, "-o"), (6, "-o"), (20, "-o"), (6, "--archive")):
        words = [*prefix, sys.executable, str(DRIVER), str(point), str(spare)]
        words += [str(tmp_path / "nothing"), ENVSPEC, "vendor", where, f"{point}/deposit.tar"]
        done = subprocess.run(
            words,
            cwd=room.home,
            env=room.environment(),
            capture_output=True,
            text=True,
            timeout=240,
            check=True,
        )
        found = json.loads(done.stdout)
        assert found["returncode"] == 1, (spare, where, found)
        assert "error[E0504]: " in found["stderr"], found["stderr"]
        assert found["after"] == found["before"]
    room.no_remains()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_killed_in_the_middle_nothing_is_there(
    room: Room, tmp_path: Path, number: signal.Signals
) -> None:
    """At many moments: the deposit is there and whole, or it is not there."""
    room.good("lock")
    room.good("fetch")
    place = tmp_path / "place"
    place.mkdir()
    argv = ("vendor", "-o", str(place / "d"), "--archive", str(place / "d.tar"))
    for step in range(12):
        process = room.start(*argv)
        time.sleep(0.12 + 0.05 * step)
        if process.poll() is None:
            os.killpg(process.pid, number)
        end(process, 60)
        if (place / "d").exists():
            room.good("vendor", "--check", str(place / "d"))
        if number != signal.SIGKILL:
            assert {p.name for p in place.iterdir()} <= {"d", "d.tar"}
        shutil.rmtree(place / "d", ignore_errors=True)
    room.good(*argv)
    assert {p.name for p in place.iterdir()} == {"d", "d.tar"}


@pytest.mark.engine
def test_readme_builds_the_image_of_the_example_without_network(
    tmp_path: Path, engine_host: str
) -> None:
    """Its own commands, word for word, where the base stands in by a build context."""
    from user_room import SUBSTITUTE

    spec = Path(__file__).parents[2] / "examples" / "x-transformers" / "spec.env"
    folder, tag = tmp_path / "deposit", f"envspec-vendor-test:{os.getpid()}"
    argv = [ENVSPEC, "vendor", str(spec), "-o", str(folder), "--quiet"]
    subprocess.run(argv, check=True, capture_output=True)
    text = (folder / "README.md").read_text()
    block = text.partition("## To build the image")[2].partition("```sh\n")[2].partition("```")[0]
    base = next(w for w in text.split("`") if w.startswith("python:") and "@sha256:" in w)
    words = f"--build-context {base}=docker-image://{SUBSTITUTE} --tag {tag}"
    command = block.replace("--tag x-transformers", words)
    assert tag in command
    try:
        built = subprocess.run(
            ["sh", "-ec", command], cwd=folder, capture_output=True, text=True, check=False
        )
        assert built.returncode == 0, built.stderr[-2000:]
        asked = ["docker", "run", "--rm", "--network", "none", tag, "/opt/env/bin/python", "-c"]
        done = subprocess.run(
            [*asked, "import torch, x_transformers; print(torch.__version__)"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout == "2.13.0+cpu\n", done.stderr
    finally:
        subprocess.run(["docker", "image", "rm", tag], capture_output=True, check=False)
