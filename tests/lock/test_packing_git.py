"""A repository at one commit: what is fetched, what is packed, and what is refused."""

from __future__ import annotations

import functools
import http.server
import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from packing_kit import Told, commit, content, git, members, repository, tree_commit, write

from envspec.diagnostics import Diagnostic, DiagnosticError
from envspec.lock.packing import git as running
from envspec.lock.packing import repository as module
from envspec.lock.packing.packed import pack_commit
from envspec.lock.packing.tar import Packed
from envspec.model import GitSource
from envspec.source import Span

NOBODY = "da39a3ee5e6b4b0d3255bfef95601890afd80709"


class Place:
    """Packs into a folder of its own, which must be as empty afterwards as before."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.told, self.count = folder, Told(), 0

    def pack(self, url: str | Path, commit: str) -> tuple[Packed, Path]:
        self.count += 1
        work = self.folder / f"work{self.count}"
        work.mkdir(parents=True)
        source = GitSource(f"file://{url}" if isinstance(url, Path) else url, commit, Span(0, 0))
        archive = self.folder / f"{self.count}.tar"
        return pack_commit("demo", source, work, archive, self.told), archive

    def refused(self, url: str | Path, commit: str) -> Diagnostic:
        with pytest.raises(DiagnosticError) as caught:
            self.pack(url, commit)
        (finding,) = caught.value.diagnostics
        assert not (self.folder / f"{self.count}.tar").exists()
        return finding


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    return Place(tmp_path / "place")


def names(archive: Path, commit: str) -> list[str]:
    top = f"demo-{commit[:12]}"
    return [n.removeprefix(f"{top}/") for n, info in members(archive).items() if not info.isdir()]


def test_one_commit_of_many(tmp_path: Path, place: Place) -> None:
    """Not the newest, and nothing of its history."""
    first = repository(tmp_path / "r", {"a.py": "1\r\n", "bin/run": "x"})
    (tmp_path / "r/bin/run").chmod(0o755)
    (tmp_path / "r/link").symlink_to("bin/run")
    second = commit(tmp_path / "r")
    write(tmp_path / "r", {"a.py": "3"})
    commit(tmp_path / "r")
    packed, archive = place.pack(tmp_path / "r", second)
    assert names(archive, second) == ["a.py", "bin/run", "link"]
    assert content(archive, f"demo-{second[:12]}/a.py") == b"1\r\n"
    info = members(archive)
    assert info[f"demo-{second[:12]}/bin/run"].mode == 0o755
    assert info[f"demo-{second[:12]}/link"].linkname == "bin/run"
    assert place.pack(tmp_path / "r", second)[0] == packed
    assert first not in git(place.folder / "work1/1.git", "rev-list", "--all")


def test_what_attributes_say_changes_nothing(tmp_path: Path, place: Place) -> None:
    text = "* text=auto eol=crlf ident filter=x export-subst\na.py export-ignore\n"
    made = repository(tmp_path / "r", {".gitattributes": text, "a.py": "$Id$ $Format:%H$\n"})
    _, archive = place.pack(tmp_path / "r", made)
    assert content(archive, f"demo-{made[:12]}/a.py") == b"$Id$ $Format:%H$\n"


def test_submodules(tmp_path: Path, place: Place) -> None:
    """At the commits that are recorded, not at their newest, and those inside of them too."""
    repository(tmp_path / "inner", {"i.py": "old"})
    repository(tmp_path / "middle", {"m.py": ""})
    git(tmp_path / "middle", "submodule", "add", "-q", "../inner", "lib")
    commit(tmp_path / "middle")
    repository(tmp_path / "top", {"a.py": ""})
    git(tmp_path / "top", "submodule", "add", "-q", str(tmp_path / "middle"), "deep/mid")
    made = commit(tmp_path / "top")
    write(tmp_path / "inner", {"i.py": "new"})
    commit(tmp_path / "inner")
    _, archive = place.pack(tmp_path / "top", made)
    inside = ["deep/mid/.gitmodules", "deep/mid/lib/i.py", "deep/mid/m.py"]
    assert names(archive, made) == [".gitmodules", "a.py", *inside]
    assert content(archive, f"demo-{made[:12]}/deep/mid/lib/i.py") == b"old"


@pytest.mark.parametrize(
    ("named", "parent", "url"),
    [
        ("../x.git", "https://h.example/a/b.git", "https://h.example/a/x.git"),
        ("./x", "https://h.example/a/b.git/", "https://h.example/a/b.git/x"),
        ("../../../../x", "https://h.example/a/b.git", ""),
        ("https://h.example/x", "https://h.example/a", "https://h.example/x"),
        ("git@h.example:a/b", "https://h.example/a", "git@h.example:a/b"),
        ("/srv/x", "file:///srv/a", "file:///srv/x"),
        ("/srv/x", "https://h.example/a", ""),
        ("file:///srv/x", "https://h.example/a", ""),
        ("FILE:///srv/x", "https://h.example/a", ""),
        ("ext::sh -c touch% x", "https://h.example/a", ""),
        ("ext::x", "file:///srv/a", ""),
        ("--upload-pack=x", "https://h.example/a", ""),
        ("ssh://-oProxyCommand=x/y", "https://h.example/a", ""),
        ("git@-oProxyCommand=x:y", "https://h.example/a", ""),
        ("", "https://h.example/a", ""),
    ],
)
def test_addresses_of_submodules(named: str, parent: str, url: str) -> None:
    assert module._resolved(named, parent) == url


def test_a_submodule_from_nowhere(tmp_path: Path, place: Place) -> None:
    repository(tmp_path / "r", {})
    made = tree_commit(tmp_path / "r", ("160000", b"sub", bytes.fromhex(NOBODY)))
    finding = place.refused(tmp_path / "r", made)
    assert (finding.code, "'sub' comes from nowhere" in finding.cause) == ("E0420", True)


@pytest.mark.parametrize(
    "name", [b"..", b".git", b".GIT", b".", b"a/b"], ids=["dots", "git", "GIT", "dot", "slash"]
)
def test_names_that_git_would_not_write(tmp_path: Path, place: Place, name: bytes) -> None:
    repository(tmp_path / "r", {})
    inner = bytes.fromhex(git(tmp_path / "r", "hash-object", "-w", "--stdin", data=b"x"))
    tree = b"100644 x\0" + inner
    made = tree_commit(tmp_path / "r", ("40000", name, tree), ("100644", b"z", b""))
    if name == b"a/b":
        assert names(place.pack(tmp_path / "r", made)[1], made) == ["a/b/x", "z"]
        return
    finding = place.refused(tmp_path / "r", made)
    assert (finding.code, "no name of a file" in finding.cause) == ("E0420", True)


def test_odd_names(tmp_path: Path, place: Place) -> None:
    """A line break, an option, no UTF-8, a tabulator: names as good as any other."""
    repository(tmp_path / "r", {})
    odd = [b"-x", b"a\nb", b"caf\xe9", b"t\tt"]
    made = tree_commit(tmp_path / "r", *[("100644", name, b"x") for name in odd])
    _, archive = place.pack(tmp_path / "r", made)
    found = [name.encode("utf-8", "surrogateescape") for name in names(archive, made)]
    assert found == odd


def test_a_link_and_a_folder_of_one_name(tmp_path: Path, place: Place) -> None:
    repository(tmp_path / "r", {})
    inner = bytes.fromhex(git(tmp_path / "r", "hash-object", "-w", "--stdin", data=b"x"))
    folder = ("40000", b"a", b"100644 x\0" + inner)
    made = tree_commit(tmp_path / "r", ("120000", b"a", b"b"), folder)
    assert "'a/x' is below 'a'" in place.refused(tmp_path / "r", made).cause


@pytest.mark.parametrize("target", ["/etc/passwd", "../../x", "a/../../x", "x" * 5000])
def test_links_that_lead_outside(tmp_path: Path, place: Place, target: str) -> None:
    repository(tmp_path / "r", {})
    made = tree_commit(tmp_path / "r", ("120000", b"l", target.encode()))
    finding = place.refused(tmp_path / "r", made)
    assert (finding.code, "'l' is a link" in finding.cause) == ("E0420", True)


def test_a_tree_that_unfolds_without_end(tmp_path: Path, place: Place) -> None:
    """Ten folders that hold the same ten folders, ten deep: 10^10 files in a few kilobytes."""
    top = tmp_path / "r"
    repository(top, {})
    held = bytes.fromhex(git(top, "hash-object", "-w", "--stdin", data=b"x"))
    mode = b"100644"
    for _ in range(10):
        tree = b"".join(mode + b" %d\0" % n + held for n in range(10))
        held = bytes.fromhex(git(top, "hash-object", "-w", "--stdin", "-t", "tree", data=tree))
        mode = b"40000"
    made = git(top, "commit-tree", held.hex(), "-m", "x")
    git(top, "update-ref", "refs/heads/main", made)
    begun = time.monotonic()
    assert place.refused(top, made).code == "E0421"
    assert time.monotonic() - begun < 20


def test_pointers_of_lfs(tmp_path: Path, place: Place) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n"
    made = repository(tmp_path / "r", {"a.py": "", "model.bin": pointer})
    finding = place.refused(tmp_path / "r", made)
    assert (finding.code, "'model.bin'" in finding.cause) == ("E0425", True)


def test_nothing_runs(tmp_path: Path, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither what the user's git would run on a checkout, nor a template's hooks."""
    marker, template = tmp_path / "marker", tmp_path / "template"
    script = f"#!/bin/sh\ntouch '{marker}'\ncat\n"
    write(template / "hooks", dict.fromkeys(("reference-transaction", "post-checkout"), script))
    for hook in (template / "hooks").iterdir():
        hook.chmod(0o755)
    run = template / "hooks/post-checkout"
    configuration = (
        f"[init]\ntemplateDir = {template}\n[core]\nhooksPath = {template}/hooks\n"
        f'fsmonitor = {run}\n[filter "x"]\nsmudge = {run}\nrequired = true\n'
    )
    made = repository(tmp_path / "r", {"a.py": "", ".gitattributes": "* filter=x\n"})
    write(tmp_path, {"gitconfig": configuration})
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    place.pack(tmp_path / "r", made)
    assert not marker.exists()
    # What it is spared: a clone under the same configuration runs them.
    subprocess.run(["git", "clone", "-q", tmp_path / "r", tmp_path / "clone"], check=True)
    assert marker.exists()


@pytest.mark.parametrize("what", ["tag", "nothing", "blob"])
def test_no_such_commit(tmp_path: Path, place: Place, what: str) -> None:
    repository(tmp_path / "r", {"a.py": ""})
    git(tmp_path / "r", "tag", "-a", "-m", "x", "v1")
    name = {"tag": "v1", "blob": "HEAD:a.py"}.get(what)
    wanted = git(tmp_path / "r", "rev-parse", name) if name else NOBODY
    finding = place.refused(tmp_path / "r", wanted)
    assert (finding.code, wanted in finding.title) == ("E0424", True)


def test_an_empty_commit(tmp_path: Path, place: Place) -> None:
    made = repository(tmp_path / "r", {})
    assert place.refused(tmp_path / "r", made).code == "E0422"


def test_no_repository(tmp_path: Path, place: Place) -> None:
    finding = place.refused(tmp_path / "nothing", NOBODY)
    assert (finding.code, bool(finding.excerpt)) == ("E0423", True)


@pytest.fixture
def web(tmp_path: Path) -> Iterator[str]:
    """A web server without any knowledge of git; it asks for a password below `/closed`."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.startswith("/closed"):
                self.send_response(401)
                self.send_header("WWW-Authenticate", "Basic")
                self.send_header("Content-Length", "0")
                self.end_headers()
            else:
                super().do_GET()

        def log_message(self, *_: object) -> None:
            pass

    serve = functools.partial(Handler, directory=str(tmp_path))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_server_that_knows_no_git(tmp_path: Path, place: Place, web: str) -> None:
    """It cannot hand out one commit alone: all is fetched, and the same is packed."""
    made = repository(tmp_path / "r", {"a.py": ""})
    write(tmp_path / "r", {"a.py": "2"})
    commit(tmp_path / "r")
    git(tmp_path / "r", "update-server-info")
    packed, _ = place.pack(f"{web}/r/.git", made)
    assert packed == place.pack(tmp_path / "r", made)[0]
    assert any("fetching all of it" in line for line in place.told.lines)


def test_a_server_that_hands_out_no_commit(
    tmp_path: Path, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As git was before its protocol 2."""
    made = repository(tmp_path / "r", {"a.py": ""})
    write(tmp_path / "r", {"a.py": "2"})
    commit(tmp_path / "r")
    packed, _ = place.pack(tmp_path / "r", made)
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "protocol.version")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "0")
    assert place.pack(tmp_path / "r", made)[0] == packed
    assert any("fetching all of it" in line for line in place.told.lines)
    assert place.refused(tmp_path / "r", NOBODY).code == "E0424"


def test_a_daemon(tmp_path: Path, place: Place) -> None:
    made = repository(tmp_path / "r", {"a.py": ""})
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--listen=127.0.0.1", f"--port={port}", "--export-all", f"--base-path={tmp_path}"]
    with subprocess.Popen(
        ["git", "daemon", *options, "--reuseaddr"], stderr=subprocess.DEVNULL
    ) as daemon:
        try:
            for _ in range(100):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.05)
            packed, _ = place.pack(f"git://127.0.0.1:{port}/r/.git", made)
        finally:
            daemon.terminate()
    assert packed == place.pack(tmp_path / "r", made)[0]


def test_no_credentials_in_messages(place: Place, web: str) -> None:
    """Nor is anybody asked for some."""
    token = "s3cr3tcanary"
    finding = place.refused(web.replace("://", f"://user:{token}@") + "/closed/x", NOBODY)
    assert finding.code == "E0423"
    assert token not in repr(finding) + repr(place.told.lines)
    assert "could not read Username" in repr(place.refused(f"{web}/closed/x", NOBODY).excerpt)


def test_a_server_that_never_answers(
    tmp_path: Path, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ended in time, with everything that git started."""
    ssh = tmp_path / "ssh"
    ssh.write_text(f"#!/bin/sh\necho $$ > '{tmp_path}/pid'\nsleep 60 & wait\n")
    ssh.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(ssh))
    monkeypatch.setenv("GIT_SSH_VARIANT", "simple")
    monkeypatch.setattr(module, "FETCH_SECONDS", 1.0)
    begun = time.monotonic()
    finding = place.refused("ssh://h.example/x", NOBODY)
    assert time.monotonic() - begun < 15
    assert (finding.code, "did not end within" in finding.cause) == ("E0423", True)
    pid = int((tmp_path / "pid").read_text())
    for _ in range(50):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        if Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z":
            return
        time.sleep(0.1)
    pytest.fail("a child of git was left")


@pytest.mark.parametrize("url", ["ext::sh -c 'touch {}'", "fd::3", "ftp://127.0.0.1/x"])
def test_other_protocols(tmp_path: Path, place: Place, url: str) -> None:
    assert place.refused(url.format(tmp_path / "marker"), NOBODY).code == "E0423"
    assert not (tmp_path / "marker").exists()


def test_local_commands_reach_no_server(tmp_path: Path) -> None:
    repository(tmp_path / "r", {"a": ""})
    with pytest.raises(running.GitFailed, match="not allowed"):
        running.output(["fetch", f"file://{tmp_path}/r"], tmp_path / "r")
