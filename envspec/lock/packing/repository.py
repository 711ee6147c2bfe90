"""A repository at one commit: fetched by its hash, read object by object, never checked out.

What is packed is what the commit holds. Attributes, filters, line ends and hooks, which change
files on the way into a work tree, have no part in it.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from envspec.credentials import masked
from envspec.diagnostics import DiagnosticError
from envspec.lock.packing import git
from envspec.lock.packing.entries import LONGEST_NAME, Entry, checked, refused, shown
from envspec.lock.packing.tar import Reader
from envspec.reporter import Reporter

FETCH_SECONDS = 1800.0
MOST_REPOSITORIES = 100
_CHUNK = 1 << 20
_PROGRESS = re.compile(r"Receiving objects: +\d+% \((\d+)/(\d+)\)")
_ADDRESS = re.compile(r"(?:https|http|ssh|git|file)://[!-~]+")
_SHORT_ADDRESS = re.compile(r"[A-Za-z0-9._-]+@[A-Za-z0-9.-]+:[^:/-][!-~]*")
# What git says where the server does not hand out a commit by its hash, or no part of a history.
_ONLY_BY_NAME = ("unadvertised object", "does not support shallow", "dumb http transport")
_NOT_THERE = ("not our ref", "remote error: upload-pack: not our ref")


class _Wanted(NamedTuple):
    """A repository at a commit, and the folder of the source it stands in."""

    url: str
    commit: str
    prefix: bytes


def entries(url: str, commit: str, work: Path, reporter: Reporter) -> tuple[Entry, ...]:
    """What a commit and its submodules hold, checked and in order; the objects are in ``work``.

    Raises:
        DiagnosticError: E0420 (an entry that cannot be packed), E0421 (too large), E0422 (an
            empty commit), E0423 (the repository cannot be had), E0424 (it has no such commit).
    """
    try:
        # Closed here: an error's traceback would keep it, and git with it, for as long as it lives.
        with closing(_collected(_Wanted(url, commit, b""), work, reporter)) as collected:
            found = checked(collected)
    except git.GitFailed as failure:
        raise unreadable(url, commit, failure) from None
    if not found:
        raise DiagnosticError.of(
            "E0422",
            "the commit of the source holds no file",
            cause=f"commit {commit} of {masked(url)} is empty",
            hint="name a commit that holds the code",
        )
    return found


def unreadable(url: str, commit: str, failure: git.GitFailed) -> DiagnosticError:
    """E0423 for what was fetched and then cannot be read."""
    return _unfetched(_Wanted(url, commit, b""), failure, "what was fetched cannot be read")


def reader(stack: ExitStack) -> Reader:
    """What reads contents from the repositories of entries, while ``stack`` is open."""
    open_: dict[bytes, subprocess.Popen[bytes]] = {}

    def read(entry: Entry) -> Iterator[bytes]:
        if entry.place not in open_:
            folder = Path(os.fsdecode(entry.place))
            open_[entry.place] = stack.enter_context(
                git.running(["cat-file", "--batch"], folder, FETCH_SECONDS, stdin=subprocess.PIPE)
            )
        return _blob(open_[entry.place], entry)

    return read


def _blob(process: subprocess.Popen[bytes], entry: Entry) -> Iterator[bytes]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(entry.blob + b"\n")
    process.stdin.flush()
    head = process.stdout.readline()
    if head != b"%s blob %d\n" % (entry.blob, entry.size):
        return  # found too short where it is packed
    left = entry.size
    while left:
        chunk = process.stdout.read(min(left, _CHUNK))
        if not chunk:
            return
        left -= len(chunk)
        yield chunk
    process.stdout.read(1)


def _collected(first: _Wanted, work: Path, reporter: Reporter) -> Generator[Entry, None, None]:
    waiting, number = [first], 0
    while waiting:
        wanted = waiting.pop(0)
        number += 1
        if number > MOST_REPOSITORIES or wanted.prefix.count(b"/") > MOST_REPOSITORIES:
            raise _too_many()
        folder = work / f"{number}.git"
        _fetch(wanted, folder, reporter)
        modules: list[tuple[bytes, str]] = []
        with closing(_tree(wanted, folder)) as tree:
            for entry in tree:
                if entry.place:
                    yield entry
                else:
                    modules.append((entry.path, entry.blob.decode()))
                    if len(modules) > MOST_REPOSITORIES:
                        raise _too_many()
        if modules:
            waiting.extend(_submodules(wanted, folder, modules))


def _too_many() -> DiagnosticError:
    return refused(
        [f"it has more than {MOST_REPOSITORIES} submodules"],
        "pack what the code needs, and write `source archive`",
    )


def _tree(wanted: _Wanted, folder: Path) -> Generator[Entry, None, None]:
    """The files of a commit; a submodule is an entry without a place."""
    place = os.fsencode(folder)
    listing = ["ls-tree", "-r", "-z", "--long", "--full-tree", wanted.commit]
    with ExitStack() as stack:
        read = reader(stack)
        for record in stack.enter_context(closing(git.records(listing, folder))):
            head, _, name = record.partition(b"\t")
            mode, _, blob, size = head.split()
            path = wanted.prefix + name
            if mode == b"160000":
                yield Entry(name, 0, False, None, b"", blob)
            elif mode == b"120000":
                link = Entry(path, int(size), False, None, place, blob)
                # A longer one than any system takes is refused by its length.
                whole = int(size) <= LONGEST_NAME
                target = b"".join(read(link)) if whole else bytes(LONGEST_NAME + 1)
                yield link._replace(size=0, target=target)
            else:
                yield Entry(path, int(size), mode == b"100755", None, place, blob)


def _submodules(
    wanted: _Wanted, folder: Path, modules: list[tuple[bytes, str]]
) -> Iterator[_Wanted]:
    """Where the submodules of a commit come from, by its `.gitmodules`."""
    blob = f"{wanted.commit}:.gitmodules"
    listing = ["config", "--blob", blob, "-z", "--get-regexp", r"^submodule\..*\.(path|url)$"]
    try:
        said = git.output(listing, folder)
    except git.GitFailed:
        said = b""
    values: dict[bytes, dict[bytes, bytes]] = {}
    for record in said.split(b"\0"):
        key, _, value = record.partition(b"\n")
        name, _, kind = key.rpartition(b".")
        values.setdefault(name, {})[kind] = value
    urls = {
        v[b"path"].rstrip(b"/"): v[b"url"] for v in values.values() if {b"path", b"url"} <= {*v}
    }
    for path, commit in modules:
        named = urls.get(path, b"").decode("utf-8", "replace")
        url = _resolved(named, wanted.url)
        if not url:
            where = f"comes from {masked(named)!a}" if named else "comes from nowhere"
            raise refused(
                [f"the submodule {shown(wanted.prefix + path)} {where}"],
                "clone it with its submodules, and name the clone with `source path`",
            )
        yield _Wanted(url, commit, wanted.prefix + path + b"/")


def _resolved(named: str, parent: str) -> str:
    """The address of a submodule; ``""`` for one that must not be followed."""
    if named.startswith(("./", "../")):
        beginning = parent.rstrip("/")
        while named.startswith(("./", "../")):
            if named.startswith("../"):
                above, slash, _ = beginning.rpartition("/")
                if not slash or above.endswith(("/", ":")):
                    return ""
                beginning = above
            named = named.partition("/")[2]
        named = f"{beginning}/{named}"
    # A repository from elsewhere must not take in one of this machine.
    if urlsplit(parent).scheme == "file" and named.startswith("/"):
        named = f"file://{named}"
    if named.startswith("file:") and not parent.startswith("file:"):
        return ""
    if _SHORT_ADDRESS.fullmatch(named):
        return named
    return named if _ADDRESS.fullmatch(named) and "://-" not in named else ""


def _fetch(wanted: _Wanted, folder: Path, reporter: Reporter) -> None:
    """Bring one commit into a new repository of our own."""
    reporter.line(f"git: {masked(wanted.url)} at {wanted.commit[:12]}")
    try:
        folder.mkdir()
        git.output(
            ["init", "--quiet", "--bare", "--template=", "--object-format=sha1", "."], folder
        )
        try:
            _fetched(wanted, folder, reporter, "--depth=1", f"+{wanted.commit}:refs/envspec/source")
        except git.GitFailed as failure:
            if not any(clause in line for line in failure.said for clause in _ONLY_BY_NAME):
                raise
            reporter.line("git: the server hands out no single commit: fetching all of it")
            heads = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
            _fetched(wanted, folder, reporter, *heads)
    except git.GitFailed as failure:
        if any(clause in line for line in failure.said for clause in _NOT_THERE):
            raise _no_commit(wanted) from None
        raise _unfetched(wanted, failure, "git could not fetch from it") from None
    try:
        there = git.output(["rev-parse", "--verify", f"{wanted.commit}^{{commit}}"], folder)
    except git.GitFailed:
        raise _no_commit(wanted) from None
    if there.decode().strip() != wanted.commit:
        raise _no_commit(wanted)


def _fetched(wanted: _Wanted, folder: Path, reporter: Reporter, *what: str) -> None:
    def line(text: str) -> None:
        match = _PROGRESS.search(text)
        if match:
            reporter.advance(int(match[1]), int(match[2]), "objects")

    options = [arg for arg in what if arg.startswith("--")]
    names = [arg for arg in what if not arg.startswith("--")]
    command = ["fetch", "--progress", "--no-tags", "--no-write-fetch-head", *options, "--"]
    with git.running(
        [*command, wanted.url, *names], folder, FETCH_SECONDS, git.PROTOCOLS, line=line
    ):
        pass


def _no_commit(wanted: _Wanted) -> DiagnosticError:
    return DiagnosticError.of(
        "E0424",
        f"the repository has no commit {wanted.commit}",
        cause=f"looked for it in {masked(wanted.url)}",
        hint="check that the commit was pushed there, and that it was not rewritten since",
    )


def _unfetched(wanted: _Wanted, failure: git.GitFailed, why: str) -> DiagnosticError:
    late = f"it did not end within {FETCH_SECONDS / 60:.0f} minutes" if failure.late else why
    return DiagnosticError.of(
        "E0423",
        f"the repository {masked(wanted.url)} cannot be had",
        cause=late,
        hint="try `git ls-remote` with the address: it must answer without asking for anything",
        excerpt=failure.said,
    )
