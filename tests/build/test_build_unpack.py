"""Archives: what is unpacked, and what is refused."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from envspec.build import unpack
from envspec.build.unpack import Refused

Member = tuple[str, bytes, str]  # name, type, link target or content


def tar(path: Path, *members: Member, mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as archive:
        for name, kind, rest in members:
            info = tarfile.TarInfo(name)
            info.type = kind
            if kind == tarfile.REGTYPE:
                info.size = len(rest)
                info.mode = 0o777 if name.endswith(".sh") else 0o4600
                archive.addfile(info, io.BytesIO(rest.encode()))
            else:
                info.linkname = rest
                archive.addfile(info)
    return path


FILE, LINK, HARD, FOLDER = tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE


@pytest.mark.parametrize("mode", ["w:", "w:gz", "w:bz2", "w:xz"])
def test_unpacks_without_the_top_folder(tmp_path: Path, mode: str) -> None:
    archive = tar(
        tmp_path / "a",
        ("demo-1", FOLDER, ""),
        ("demo-1/run.sh", FILE, "#!/bin/sh\n"),
        ("demo-1/pkg/mod.py", FILE, "x = 1\n"),
        ("demo-1/pkg/same.py", HARD, "demo-1/pkg/mod.py"),
        ("demo-1/link.py", LINK, "pkg/mod.py"),
        ("demo-1/pkg/up.sh", LINK, "../run.sh"),
        mode=mode,
    )
    unpack.unpack(archive, tmp_path / "out")
    out = tmp_path / "out"
    assert sorted(p.relative_to(out).as_posix() for p in out.rglob("*")) == [
        *("link.py", "pkg", "pkg/mod.py", "pkg/same.py", "pkg/up.sh", "run.sh"),
    ]
    assert (out / "link.py").read_text() == (out / "pkg/same.py").read_text() == "x = 1\n"
    assert (out / "run.sh").stat().st_mode & 0o7777 == 0o755
    assert (out / "pkg/mod.py").stat().st_mode & 0o7777 == 0o644
    assert not (tmp_path / "out.unpacking").exists()


def test_archive_without_one_top_folder_is_kept_whole(tmp_path: Path) -> None:
    unpack.unpack(
        tar(tmp_path / "a", ("one.py", FILE, "1"), ("two/x.py", FILE, "2")), tmp_path / "o"
    )
    assert (tmp_path / "o" / "one.py").read_text() == "1"
    assert (tmp_path / "o" / "two" / "x.py").read_text() == "2"


def test_unpacks_zip(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as packed:
        packed.writestr("demo-1/pkg/mod.py", "x = 1\n")
    unpack.unpack(tmp_path / "a.zip", tmp_path / "out")
    assert (tmp_path / "out" / "pkg" / "mod.py").read_text() == "x = 1\n"


@pytest.mark.parametrize(
    "members",
    [
        pytest.param([("../out.txt", FILE, "x")], id="parent"),
        pytest.param([("top/../../out.txt", FILE, "x")], id="parent-inside"),
        pytest.param([("/tmp/out.txt", FILE, "x")], id="absolute"),
        pytest.param([("top/link", LINK, "/etc/passwd")], id="absolute-link"),
        pytest.param([("top/link", LINK, "../../etc")], id="link-out"),
        pytest.param(
            [("top/a/x", FILE, "x"), ("top/a/link", LINK, "../../x")], id="link-out-of-what-is-kept"
        ),
        pytest.param([("top/link", LINK, "sub/../../../x")], id="link-winding-out"),
        pytest.param([("top/l", LINK, "."), ("top/l/x", FILE, "x")], id="link-to-itself"),
        pytest.param(
            [("top/sub", FOLDER, ""), ("top/l", LINK, "sub"), ("top/l/x", FILE, "x")],
            id="through-link",
        ),
        pytest.param(
            [("a/b", FOLDER, ""), ("a/m", LINK, "b"), ("a/l", LINK, "m/../../x")], id="link-chain"
        ),
        pytest.param([("top/hard", HARD, "../../etc/passwd")], id="hard-link-out"),
        pytest.param([("top/hard", HARD, "top/none")], id="hard-link-to-nothing"),
        pytest.param([("top/l", LINK, "x"), ("top/h", HARD, "top/l")], id="hard-link-to-link"),
        pytest.param([("top/null", tarfile.CHRTYPE, "")], id="device"),
        pytest.param([("top/pipe", tarfile.FIFOTYPE, "")], id="pipe"),
        pytest.param([("a", FILE, "x"), ("a/b", FILE, "x")], id="file-as-folder"),
        pytest.param([("a/b", FILE, "x"), ("a", FILE, "x")], id="folder-as-file"),
        pytest.param([("n" * 300, FILE, "x")], id="long-name"),
    ],
)
def test_refused(tmp_path: Path, members: list[Member]) -> None:
    archive = tar(tmp_path / "bad.tar.gz", *members)
    inside = tmp_path / "deep" / "er"
    inside.mkdir(parents=True)
    with pytest.raises(Refused):
        unpack.unpack(archive, inside / "out")
    assert not (inside / "out").exists()
    assert {p.name for p in tmp_path.iterdir()} == {"bad.tar.gz", "deep"}


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("untouched")
    archive = tar(tmp_path / "a", ("top/f", FILE, "1"), ("top/l", LINK, "f"), ("top/l", FILE, "2"))
    unpack.unpack(archive, tmp_path / "out")
    assert (tmp_path / "out" / "f").read_text() == "1"
    assert (tmp_path / "out" / "l").read_text() == "2"


def zip_with(name: str, mode: int) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        info = zipfile.ZipInfo(name)
        info.external_attr = mode << 16
        with zipfile.ZipFile(path, "w") as packed:
            packed.writestr(info, "x")

    return write


@pytest.mark.parametrize(
    "write",
    [
        pytest.param(zip_with("../out", 0o100644), id="zip-parent"),
        pytest.param(zip_with("/out", 0o100644), id="zip-absolute"),
        pytest.param(zip_with("top/link", 0o120777), id="zip-link"),
        pytest.param(lambda p: p.write_bytes(b""), id="empty"),
        pytest.param(lambda p: p.write_bytes(b"not an archive" * 100), id="text"),
        pytest.param(
            lambda p: p.write_bytes(
                tar(p.with_suffix(".x"), ("a/b", FILE, "x" * 9999)).read_bytes()[:60]
            ),
            id="cut-short",
        ),
    ],
)
def test_refused_files(tmp_path: Path, write: Callable[[Path], None]) -> None:
    write(tmp_path / "bad")
    with pytest.raises(Refused):
        unpack.unpack(tmp_path / "bad", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpack, "LARGEST", 100)
    with pytest.raises(Refused, match="8 GiB"):
        unpack.unpack(tar(tmp_path / "a", ("a/b", FILE, "x" * 101)), tmp_path / "out")
