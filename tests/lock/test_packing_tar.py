"""A packed source: the same bytes everywhere, and only what stays inside."""

from __future__ import annotations

import hashlib
import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest
from interpreters import interpreters

from envspec.build.unpack import unpack
from envspec.diagnostics import DiagnosticError
from envspec.lock.packing import entries as module
from envspec.lock.packing.entries import Entry, checked, outside
from envspec.lock.packing.tar import Packed, pack

ROOT = Path(__file__).parents[2]
LONG = b"d" * 90 + b"/" + b"e" * 60
FILES = {
    b"a.py": (b"print(1)\n", False),
    b"bin/run": (b"#!/bin/sh\n", True),
    b"bin-x": (b"", False),
    LONG: (b"x" * 513, False),
    "ü/ñ\n \\.txt".encode(): (b"odd", False),
    b"latin-\xff": (b"not UTF-8", False),
    b"-x": (b"an option?", False),
}
LINKS = {b"bin/link": b"../a.py", b"bin/far": b"z" * 150, b"top": b"."}
SHA256 = "b36939446c3a86b9bf8d836ea6d56bd0f2449e42dbc2776318ab433f5a176e18"


def sample() -> tuple[Entry, ...]:
    made = [Entry(n, len(c), x, None, n) for n, (c, x) in FILES.items()]
    made += [Entry(n, 0, False, t, n) for n, t in LINKS.items()]
    return checked(reversed(made))


def read(entry: Entry) -> list[bytes]:
    data = FILES[entry.path][0]
    return [data[:100], data[100:]]


def refusal(*entries: Entry) -> str:
    with pytest.raises(DiagnosticError) as caught:
        checked(entries)
    (finding,) = caught.value.diagnostics
    assert finding.code == "E0420"
    return finding.cause


def test_the_bytes_are_known(tmp_path: Path) -> None:
    """Whatever changes them makes every lock with a packed source stale."""
    packed = pack("demo", sample(), read, tmp_path / "x.tar")
    data = (tmp_path / "x.tar").read_bytes()
    assert packed == Packed(hashlib.sha256(data).hexdigest(), len(data))
    assert packed == pack("demo", sample(), read)
    assert packed == Packed(SHA256, 20480)


def test_what_reads_it(tmp_path: Path) -> None:
    """GNU tar, as the Dockerfile calls it, and the local engine read the same from it."""
    archive = tmp_path / "x.tar"
    pack("demo-0123", sample(), read, archive)
    by_tar = tmp_path / "tar"
    by_tar.mkdir()
    command = ["tar", "--extract", "--file", archive, "--directory", by_tar]
    subprocess.run([*command, "--strip-components=1", "--no-same-owner"], check=True)
    unpack(archive, tmp_path / "unpacked")
    for top in (by_tar, tmp_path / "unpacked"):
        folder = os.fsencode(top)
        for name, (data, executable) in FILES.items():
            path = Path(os.fsdecode(folder + b"/" + name))
            assert path.read_bytes() == data
            assert path.stat().st_mode & 0o777 == (0o755 if executable else 0o644)
        for name, target in LINKS.items():
            assert os.readlink(folder + b"/" + name) == target  # noqa: PTH115 - bytes
    assert (by_tar / "bin").stat().st_mtime == (by_tar / "a.py").stat().st_mtime == 315532800


@pytest.mark.parametrize("version", ["3.10", "3.11", "3.12", "3.13"])
def test_every_python_packs_the_same(version: str, tmp_path: Path) -> None:
    """Also in another locale, with another umask and other seeds of hashes."""
    pythons = list(itertools.islice(interpreters(version), 1))
    if not pythons:
        pytest.skip(f"no python{version} here")
    folder = tmp_path / "src"
    for name, (data, executable) in FILES.items():
        path = Path(os.fsdecode(os.fsencode(folder) + b"/" + name))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(0o700 if executable else 0o666)
    (folder / "bin/link").symlink_to("../a.py")
    code = (
        "import os, sys; os.umask(int(sys.argv[2], 8)); from pathlib import Path\n"
        "from envspec.lock.packing import folder, tar\n"
        "found = folder.entries(Path(sys.argv[1]))\n"
        "print(*tar.pack('demo', found, folder.read, Path(sys.argv[3])))"
    )
    said = set()
    for python, locale, umask, seed in (
        (pythons[0], "C", "077", "0"),
        (pythons[0], "C.UTF-8", "000", "1"),
        (sys.executable, "C.UTF-8", "022", "2"),
    ):
        run = subprocess.run(
            [python, "-c", code, str(folder), umask, str(tmp_path / f"{seed}.tar")],
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "LC_ALL": locale,
                 "PYTHONHASHSEED": seed, "TZ": f"UTC+{seed}", "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        said.add(run.stdout)
    assert len(said) == 1


@pytest.mark.parametrize(
    "name", [b"../x", b"a/../x", b"/x", b"a//x", b"./x", b"", b"a/.git/config", b".GIT/x", b"a\0b"]
)
def test_names_that_are_no_names(name: bytes) -> None:
    assert "no name of a file inside" in refusal(Entry(name, 0, False, None, b""))


@pytest.mark.parametrize(
    ("path", "target", "leaves"),
    [
        (b"l", b"x", False), (b"a/l", b"../x", False), (b"l", b".", False), (b"a/l", b"..", False),
        (b"l", b"..", True), (b"l", b"../x", True), (b"a/l", b"../../x", True),
        (b"a/l", b"/etc/passwd", True), (b"a/b/l", b"x/../../../../y", True), (b"l", b"", True),
        (b"a/l", b".././../x", True), (b"l", b"a/./b", False),
    ],
)  # fmt: skip
def test_links(path: bytes, target: bytes, leaves: bool) -> None:
    assert outside(path.split(b"/"), target) is leaves
    if leaves:
        assert "is a link to" in refusal(Entry(path, 0, False, target, b""))


def test_contradictions() -> None:
    link, file = Entry(b"a", 0, False, b"b", b""), Entry(b"a/b", 0, False, None, b"")
    assert "below 'a'" in refusal(link, file)
    assert "twice" in refusal(link, link._replace(target=None))


def test_too_many_and_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_FILES", 3)
    many = [Entry(b"%d" % n, 0, False, None, b"") for n in range(4)]
    assert len(checked(many[:3])) == 3
    for bad in (many, [many[0]._replace(size=(2 << 30) + 1)]):
        with pytest.raises(DiagnosticError) as caught:
            checked(bad)
        (finding,) = caught.value.diagnostics
        assert (finding.code, ".gitignore" in finding.hint) == ("E0421", True)


def test_an_endless_list_ends() -> None:
    endless = (Entry(b"%d" % n, 0, False, None, b"") for n in itertools.count())
    with pytest.raises(DiagnosticError):
        checked(endless)


@pytest.mark.parametrize("data", [b"", b"short", b"much too long"])
def test_a_file_that_changes_meanwhile(data: bytes, tmp_path: Path) -> None:
    entry = Entry(b"a", 8, False, None, b"")
    with pytest.raises(DiagnosticError) as caught:
        pack("demo", [entry], lambda _: [data], tmp_path / "x.tar")
    assert caught.value.diagnostics[0].code == "E0420"
    assert list(tmp_path.iterdir()) == []


def test_pointers_of_lfs(tmp_path: Path) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n"
    entries = [Entry(n, len(pointer), False, None, b"") for n in (b"a.bin", b"b.bin")]
    with pytest.raises(DiagnosticError) as caught:
        pack("demo", entries, lambda _: [pointer[:9], pointer[9:]], tmp_path / "x.tar")
    (finding,) = caught.value.diagnostics
    assert finding.code == "E0425"
    assert "'a.bin', 'b.bin'" in finding.cause
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    """A limit on the size of files stands in for the disk."""
    code = (
        "import resource, signal, sys; sys.path[:0] = sys.argv[2:]; from pathlib import Path\n"
        "from test_packing_tar import pack, read, sample\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))\n"
        "pack('demo', sample(), read, Path(sys.argv[1]))"
    )
    path = [str(ROOT), str(ROOT / "tests"), str(Path(__file__).parent)]
    command = [sys.executable, "-c", code, str(tmp_path / "x.tar"), *path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "File too large" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_stays(tmp_path: Path) -> None:
    (tmp_path / "x.tar").write_text("mine")
    with pytest.raises(FileExistsError):
        pack("demo", sample(), read, tmp_path / "x.tar")
    assert (tmp_path / "x.tar").read_text() == "mine"
