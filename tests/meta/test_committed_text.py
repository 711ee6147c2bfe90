"""What may stand in no committed file: indexes are named by alias, and no path of a machine."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from pip._internal.models.index import PyPI, TestPyPI

ROOT = Path(__file__).parents[2]


def host(*labels: str) -> str:
    """A host name, put together so that this file is no exception to its own rule."""
    return ".".join(labels)


HOSTS = (
    PyPI.netloc,
    PyPI.file_storage_domain,
    TestPyPI.netloc,
    host("registry", "npmjs", "org"),
    host("registry", "yarnpkg", "com"),
    host("deb", "debian", "org"),
    host("security", "debian", "org"),
    host("snapshot", "debian", "org"),
    host("archive", "ubuntu", "com"),
)


def committed() -> list[Path]:
    """Files that git knows or would add."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    done = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    paths = (ROOT / name for name in done.stdout.decode().split("\0") if name)
    return [p for p in paths if p.is_file() and not p.is_symlink()]


def naming(words: tuple[str, ...], files: list[Path]) -> list[str]:
    """Files that hold one of the words, in any case."""
    wanted = [word.lower().encode() for word in words]
    return [
        str(path.relative_to(ROOT))
        for path in files
        if any(word in path.read_bytes().lower() for word in wanted)
    ]


def test_no_package_registry_is_named_by_host() -> None:
    assert len(set(HOSTS)) == len(HOSTS)
    assert naming(HOSTS, committed()) == []


def test_no_file_names_the_place_it_was_written_at() -> None:
    assert naming((f"{ROOT}/", f"{ROOT}\n"), committed()) == []


def test_a_file_that_names_one_would_be_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(naming.__globals__, "ROOT", tmp_path)
    path = tmp_path / "x.toml"
    path.write_text(f'url = "https://{PyPI.netloc.upper()}/simple"\n')
    assert naming(HOSTS, [path]) == ["x.toml"]
