"""Which files of a folder are its source, and that no repository makes git run anything."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from packing_kit import commit, git, repository, write

from envspec.diagnostics import Diagnostic, DiagnosticError
from envspec.lock.packing import folder as module
from envspec.lock.packing.folder import entries, written_beside


def names(folder: Path, left_out: tuple[Path, ...] = ()) -> list[str]:
    return [os.fsdecode(entry.path) for entry in entries(folder, left_out)]


def refused(folder: Path) -> Diagnostic:
    with pytest.raises(DiagnosticError) as caught:
        entries(folder)
    (finding,) = caught.value.diagnostics
    return finding


def test_a_plain_folder(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "", "b/c.py": "", "b/.hidden": "", "empty/x.pyc": ""})
    junk = [".mypy_cache/x", "b/__pycache__/c.pyc", "c.pyc", "env/pyvenv.cfg", "env/lib/x.py"]
    write(tmp_path, dict.fromkeys(junk, ""))
    assert names(tmp_path) == ["a.py", "b/.hidden", "b/c.py"]


def test_a_work_tree(tmp_path: Path) -> None:
    """Tracked, and untracked where git does not ignore it; taken away is away."""
    repository(tmp_path, {".gitignore": "*.log\nout/\n", "a.py": "", "gone.py": "", "b/c.py": ""})
    write(tmp_path, {"new.py": "", "x.log": "", "out/y": "", "b/__pycache__/c.py": "", "é\n": ""})
    (tmp_path / "gone.py").unlink()
    assert names(tmp_path) == [".gitignore", "a.py", "b/c.py", "new.py", "é\n"]
    assert names(tmp_path / "b") == ["c.py"]


def test_tracked_though_ignored(tmp_path: Path) -> None:
    repository(tmp_path, {"x.pyc": "", "a.log": ""})
    write(tmp_path, {".gitignore": "*.log\n"})
    assert names(tmp_path) == [".gitignore", "a.log", "x.pyc"]


def test_repositories_inside(tmp_path: Path) -> None:
    """Submodules, and clones that the outer one does not know."""
    repository(tmp_path / "sub", {"s.py": "", ".gitignore": "no\n"})
    top = tmp_path / "top"
    repository(top, {"a.py": ""})
    git(top, "submodule", "add", "-q", str(tmp_path / "sub"), "lib/sub")
    commit(top)
    repository(top / "clone", {"c.py": ""})
    write(top, {"lib/sub/new.py": "", "lib/sub/no": ""})
    inside = ["lib/sub/.gitignore", "lib/sub/new.py", "lib/sub/s.py"]
    assert names(top) == [".gitmodules", "a.py", "clone/c.py", *inside]
    git(top, "submodule", "deinit", "-q", "--force", "--all")
    assert "'lib/sub' is not checked out" in refused(top).cause


def test_what_envspec_writes(tmp_path: Path) -> None:
    """Whether git tracks it or not; the same names elsewhere are nobody's outputs."""
    own = ["spec.env", "spec.lock", ".spec.lock.x1", "report.json", "report.logs/build.log"]
    own += ["attestation.json", "attestation.json.sig"]
    own += ["wheels/packages/x.whl", "generated/demo/Dockerfile", "generated/.demo.envspec-x/y"]
    others = ["a/spec.lock", "generated/other/x", "spec.lock2", "wheels2/x"]
    write(tmp_path, dict.fromkeys(own + others, ""))
    left_out = written_beside(tmp_path / "spec.env", "demo")
    assert names(tmp_path, left_out) == others
    repository(tmp_path, {})
    assert names(tmp_path, left_out) == others
    assert names(tmp_path / "a", left_out) == ["spec.lock"]
    assert names(tmp_path / "wheels", left_out) == ["packages/x.whl"]


def hostile(top: Path, marker: Path) -> None:
    """A repository whose configuration would run something at every turn."""
    script = top / ".git" / "run"
    script.write_text(f"#!/bin/sh\ntouch '{marker}'\ncat\n")
    script.chmod(0o755)
    for hook in ("post-index-change", "post-checkout", "reference-transaction", "pre-auto-gc"):
        (top / ".git/hooks").mkdir(exist_ok=True)
        (top / ".git/hooks" / hook).write_text(f"#!/bin/sh\ntouch '{marker}'\n")
        (top / ".git/hooks" / hook).chmod(0o755)
    for key in (
        *("core.fsmonitor", "core.pager", "core.sshCommand", "core.askPass", "core.editor"),
        *("filter.x.clean", "filter.x.smudge", "filter.x.process", "diff.x.textconv"),
        *("uploadpack.packObjectsHook", "credential.helper", "core.alternateRefsCommand"),
    ):
        git(top, "config", key, str(script))
    git(top, "config", "core.hooksPath", str(top / ".git/hooks"))
    git(top, "config", "filter.x.required", "true")


def test_nothing_of_a_repository_runs(tmp_path: Path) -> None:
    top, marker = tmp_path / "top", tmp_path / "marker"
    repository(top, {"a.py": "a", ".gitattributes": "* filter=x diff=x\n"})
    hostile(top, marker)
    write(top, {"a.py": "changed", "new.py": ""})
    assert names(top) == [".gitattributes", "a.py", "new.py"]
    assert not marker.exists()
    # What it is spared: git as it is runs the monitor of the repository.
    git(top, "ls-files", "--others")
    assert marker.exists()


def test_a_variable_of_git_does_not_lead_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a hook of git, where these are set."""
    repository(tmp_path / "a", {"a.py": ""})
    repository(tmp_path / "b", {"b.py": ""})
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "b/.git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "b/.git/index"))
    assert names(tmp_path / "a") == ["a.py"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_repository_of_somebody_else(tmp_path: Path) -> None:
    repository(tmp_path, {"a.py": ""})
    for path in (tmp_path, tmp_path / ".git"):
        os.chown(path, 12345, 12345)
    assert names(tmp_path) == ["a.py"]


def test_links(tmp_path: Path) -> None:
    write(tmp_path, {"d/a.py": ""})
    (tmp_path / "inside").symlink_to("d/a.py")
    (tmp_path / "d/up").symlink_to("../inside")
    (tmp_path / "folder").symlink_to("d")
    assert names(tmp_path) == ["d/a.py", "d/up", "folder", "inside"]
    (tmp_path / "out").symlink_to("/etc/passwd")
    finding = refused(tmp_path)
    assert (finding.code, "'out' is a link to '/etc/passwd'" in finding.cause) == ("E0420", True)


def test_a_tracked_folder_became_a_link(tmp_path: Path) -> None:
    """Nothing is read through it."""
    secret = tmp_path / "secret"
    write(secret, {"key": "k"})
    top = tmp_path / "top"
    repository(top, {"d/key": "", "a.py": ""})
    (top / "d/key").unlink()
    (top / "d").rmdir()
    (top / "d").symlink_to("../secret")
    assert "'d' is a link" in refused(top).cause
    (top / "d").unlink()
    (top / "d").symlink_to("e")
    assert names(top) == ["a.py", "d"]


def test_pipes_and_sockets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"a.py": ""})
    os.mkfifo(tmp_path / "pipe")
    assert "'pipe' is a device" in refused(tmp_path).cause
    (tmp_path / "pipe").unlink()
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind("socket")
        assert "'socket' is a device" in refused(tmp_path).cause


def test_no_folder_and_no_file(tmp_path: Path) -> None:
    assert refused(tmp_path / "x").code == "E0422"
    (tmp_path / "empty/in").mkdir(parents=True)
    assert refused(tmp_path / "empty").code == "E0422"
    repository(tmp_path / "r", {".gitignore": "*\n"})
    (tmp_path / "r/.gitignore").unlink()
    git(tmp_path / "r", "config", "core.excludesFile", str(tmp_path / "all"))
    write(tmp_path, {"all": "*\n", "r/a.py": ""})
    assert "git ignores every one" in refused(tmp_path / "r").cause


def test_no_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository(tmp_path, {"a.py": ""})
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "not installed" in refused(tmp_path).title


def test_a_damaged_repository(tmp_path: Path) -> None:
    repository(tmp_path, {"a.py": ""})
    (tmp_path / ".git/index").write_bytes(b"DIRC nonsense")
    finding = refused(tmp_path)
    assert (finding.code, bool(finding.excerpt)) == ("E0423", True)


def test_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {f"d/{n}": "" for n in range(20)})
    monkeypatch.setattr(module, "_MOST_SEEN", 10)
    assert refused(tmp_path).code == "E0421"


@pytest.mark.parametrize("tracked", [True, False])
def test_a_hundred_thousand_files(tmp_path: Path, tracked: bool) -> None:
    if tracked:
        git(tmp_path, "init", "-q")
    for n in range(100_001):
        if n % 1000 == 0:
            folder = tmp_path / str(n)
            folder.mkdir()
        os.close(os.open(f"{folder}/{n}", os.O_CREAT | os.O_WRONLY, 0o644))
    finding = refused(tmp_path)
    assert (finding.code, "100001 files" in finding.cause) == ("E0421", True)
