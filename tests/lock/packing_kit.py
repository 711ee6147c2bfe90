"""Repositories and specs made on the spot, for the tests of packed sources."""

from __future__ import annotations

import os
import subprocess
import tarfile
from pathlib import Path

from envspec.language.parse import parse
from envspec.language.resolve import resolve
from envspec.model import Spec
from envspec.source import SourceFile


class Told:
    """A reporter that keeps what it is told."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def stage(self, title: str) -> None:
        self.lines.append(title)

    def advance(self, done: int, total: int, unit: str = "") -> None:
        pass

    def line(self, text: str) -> None:
        self.lines.append(text)


def git(folder: Path, *arguments: str | bytes, data: bytes = b"") -> str:
    """Run git in a folder as a user without any configuration."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")} | {
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME",)},
        **{f"GIT_{who}_EMAIL": "x@example.org" for who in ("AUTHOR", "COMMITTER")},
    }
    allowed = ("-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main")
    done = subprocess.run(
        ["git", *allowed, *arguments],
        cwd=folder,
        env=environment,
        input=data,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode("utf-8", "surrogateescape").strip()


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")


def repository(folder: Path, files: dict[str, str]) -> str:
    """A repository with one commit, whose hash is given back."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q")
    write(folder, files)
    return commit(folder)


def commit(folder: Path) -> str:
    git(folder, "add", "--all")
    git(folder, "commit", "-q", "--allow-empty", "-m", "x")
    return git(folder, "rev-parse", "HEAD")


def tree_commit(folder: Path, *entries: tuple[str, bytes, bytes]) -> str:
    """A commit of hand-made entries (mode, name, content or object), which git itself would
    refuse to make."""
    tree = b""
    for mode, name, content in entries:
        blob = content
        if mode != "160000":
            kind = "tree" if mode == "40000" else "blob"
            arguments = ("hash-object", "-w", "--literally", "--stdin", "-t", kind)
            blob = bytes.fromhex(git(folder, *arguments, data=content))
        tree += mode.encode() + b" " + name + b"\0" + blob
    made = git(folder, "hash-object", "-w", "--literally", "--stdin", "-t", "tree", data=tree)
    done = git(folder, "commit-tree", made, "-m", "x")
    git(folder, "update-ref", "refs/heads/main", done)
    return done


def members(archive: Path) -> dict[str, tarfile.TarInfo]:
    with tarfile.open(archive, "r:", encoding="utf-8", errors="surrogateescape") as tar:
        return {info.name: info for info in tar}


def content(archive: Path, name: str) -> bytes:
    with tarfile.open(archive, "r:", encoding="utf-8", errors="surrogateescape") as tar:
        file = tar.extractfile(name)
        assert file is not None
        return file.read()


def spec_of(folder: Path, source: str, more: str = "") -> tuple[Spec, SourceFile]:
    """A spec in a folder whose source is what is said."""
    text = (
        f"envspec 1\nproject demo {{\n  source {source}\n}}\n"
        'platform linux/amd64 {\n  base "python:3.11"\n  python 3.11\n}\n' + more
    )
    path = folder / "spec.env"
    path.write_text(text, encoding="utf-8")
    source_file = SourceFile(str(path), text)
    return resolve(parse(source_file), source_file), source_file
