"""Folders and repositories as sources of a lock: kept, made again, compared, and told apart."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from packing_kit import Told, git, members, repository, spec_of, write

from envspec.diagnostics import DiagnosticError
from envspec.lock.indexes import Indexes
from envspec.lock.model import Artefact
from envspec.lock.places import Locations
from envspec.lock.sources import (
    changed_source,
    folder_artefact,
    git_artefact,
    origins_of,
)
from envspec.lock.spec_inputs import resolution_inputs
from envspec.lock.store import Store
from envspec.model import GitSource
from envspec.source import Span

ROOT = Path(__file__).parents[2]
EXTENSION = """
extension fast {{
  source git "file://{}" at "{}"
}}
"""


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    return Store(tmp_path / "store")


def of(folder: Path, made: str) -> GitSource:
    return GitSource(f"file://{folder}", made, Span(3, 6))


def left_in(store: Store) -> list[Path]:
    return list((store.root / "tmp").rglob("*"))


def test_a_folder(tmp_path: Path, store: Store) -> None:
    """The same each time, and whatever envspec writes beside the spec."""
    write(tmp_path / "p", {"a.py": "1"})
    spec, source = spec_of(tmp_path / "p", 'path "."')
    first = folder_artefact(spec, source)
    assert (first.index, first.file) == ("", "demo.tar")
    write(tmp_path / "p", {"spec.lock": "x", "generated/demo/Dockerfile": "x", "report.json": ""})
    write(tmp_path / "p", {"spec.env": source.text + "# a word more\n"})
    assert folder_artefact(spec, source) == first
    assert changed_source(spec, source, first, store) is None
    to = tmp_path / "again.tar"
    origins_of(spec, source, Told())["demo.tar"](to)
    assert to.stat().st_size == first.size
    assert [*members(to)] == ["demo", "demo/a.py"]


def test_a_folder_below(tmp_path: Path) -> None:
    write(tmp_path, {"src/in/a.py": "1", "other": ""})
    spec, source = spec_of(tmp_path, 'path "src/in"')
    to = tmp_path / "x.tar"
    origins_of(spec, source, Told())["demo.tar"](to)
    assert [*members(to)] == ["demo", "demo/a.py"]


@pytest.mark.parametrize("target", ["/etc", "../elsewhere"])
def test_a_folder_that_leads_elsewhere(tmp_path: Path, target: str) -> None:
    write(tmp_path, {"elsewhere/secret": "", "p/x": ""})
    (tmp_path / "p/src").symlink_to(target)
    spec, source = spec_of(tmp_path / "p", 'path "src"')
    with pytest.raises(DiagnosticError) as caught:
        folder_artefact(spec, source)
    (finding,) = caught.value.diagnostics
    assert (finding.code, finding.span) == ("E0422", spec.project.source.span)


def test_a_folder_that_changed(tmp_path: Path, store: Store) -> None:
    """Both digests; the files where the store has what was locked."""
    write(tmp_path / "p", {"a.py": "1", "b.py": "1", "c.py": "1", "same": ""})
    spec, source = spec_of(tmp_path / "p", 'path "."')
    locked = folder_artefact(spec, source)
    write(tmp_path / "p", {"a.py": "2", "new.py": ""})
    finding = changed_source(spec, source, locked, store)
    assert finding is not None
    assert finding.code == "E0426"
    assert locked.sha256 in finding.cause
    assert folder_artefact(spec, source).sha256 in finding.cause
    write(tmp_path / "p", {"a.py": "1"})
    (tmp_path / "p/new.py").unlink()
    locations = Locations(Indexes({}), origins=origins_of(spec, source, Told()))
    store.fetch(locked, locations, Told())
    write(tmp_path / "p", {"a.py": "2", "new.py": ""})
    (tmp_path / "p/b.py").unlink()
    (tmp_path / "p/c.py").chmod(0o755)
    finding = changed_source(spec, source, locked, store)
    assert finding is not None
    assert finding.cause == "changed: 'a.py', 'c.py'; new: 'new.py'; gone: 'b.py'"
    assert finding.span == spec.project.source.span


def test_the_store_refuses_another_folder(tmp_path: Path, store: Store) -> None:
    write(tmp_path / "p", {"a.py": "1"})
    spec, source = spec_of(tmp_path / "p", 'path "."')
    locked = folder_artefact(spec, source)
    write(tmp_path / "p", {"a.py": "2"})
    locations = Locations(Indexes({}), origins=origins_of(spec, source, Told()))
    with pytest.raises(DiagnosticError) as caught:
        store.fetch(locked, locations, Told())
    assert caught.value.diagnostics[0].code == "E0502"


def test_a_commit_is_kept(tmp_path: Path, store: Store) -> None:
    """It is in the store after it was locked, and an earlier lock spares the fetch."""
    made = repository(tmp_path / "r", {"a.py": "1"})
    spec, source = spec_of(tmp_path, f'git "file://{tmp_path}/r" at "{made}"')
    where = spec.project.source
    assert isinstance(where, GitSource)
    found = git_artefact("demo", where, source, Told(), store=store)
    assert (found.index, found.file) == ("", f"demo-{made[:12]}.tar")
    assert store.has(found)
    assert left_in(store) == []
    (tmp_path / "r").rename(tmp_path / "gone")
    assert git_artefact("demo", where, source, Told(), found, store) == found
    with pytest.raises(DiagnosticError) as caught:
        git_artefact("demo", where, source, Told(), store=store)
    (finding,) = caught.value.diagnostics
    assert (finding.code, finding.span) == ("E0423", where.span)
    assert left_in(store) == []
    assert changed_source(spec, source, found, store) is None


def test_a_commit_is_fetched_again(tmp_path: Path, store: Store) -> None:
    """On another machine, whose store is empty; an extension's too."""
    made = repository(tmp_path / "r", {"a.py": "1"})
    other = repository(tmp_path / "x", {"setup.py": "1"})
    more = EXTENSION.format(tmp_path / "x", other)
    spec, source = spec_of(tmp_path, f'git "file://{tmp_path}/r" at "{made}"', more)
    (extension,) = spec.extensions
    assert extension.git is not None
    assert isinstance(spec.project.source, GitSource)
    artefacts = [
        git_artefact("demo", spec.project.source, source, Told(), store=Store(tmp_path / "first")),
        git_artefact("fast", extension.git, source, Told(), store=Store(tmp_path / "first")),
    ]
    locations = Locations(Indexes({}), origins=origins_of(spec, source, Told()))
    paths = store.fetch_all(artefacts, locations, Told())
    assert [p.name for p in paths] == [f"demo-{made[:12]}.tar", f"fast-{other[:12]}.tar"]
    assert left_in(store) == []


def test_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: Store) -> None:
    made = repository(tmp_path / "r", {"a.py": "1"})
    write(tmp_path, {"file": ""})
    _, source = spec_of(tmp_path, 'path "."')
    with pytest.raises(DiagnosticError) as caught:
        git_artefact(
            "demo", of(tmp_path / "r", made), source, Told(), store=Store(tmp_path / "file/x")
        )
    assert caught.value.diagnostics[0].code == "E0505"

    def full(*_: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr("envspec.lock.sources.move", full)
    with pytest.raises(DiagnosticError) as caught:
        git_artefact("demo", of(tmp_path / "r", made), source, Told(), store=store)
    assert caught.value.diagnostics[0].code == "E0504"
    assert left_in(store) == []


def test_at_once(tmp_path: Path, store: Store) -> None:
    """Several processes lock the same commit: each gets it, and nothing is left."""
    made = repository(tmp_path / "r", {f"{n}.py": "x" * n for n in range(200)})
    code = (
        "import sys; sys.path[:0] = sys.argv[4:]\n"
        "from pathlib import Path; from packing_kit import Told\n"
        "from envspec.lock.sources import git_artefact; from envspec.lock.store import Store\n"
        "from envspec.model import GitSource; from envspec.source import SourceFile, Span\n"
        "where = GitSource(sys.argv[1], sys.argv[2], Span(0, 0))\n"
        "print(git_artefact('demo', where, SourceFile('x', ''), Told(),"
        " store=Store(Path(sys.argv[3]))))"
    )
    command = [sys.executable, "-c", code, f"file://{tmp_path}/r", made, str(store.root)]
    command += [str(ROOT), str(Path(__file__).parent)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(6)]
    said = {process.communicate()[0] for process in running}
    assert [process.returncode for process in running] == [0] * 6
    assert len(said) == 1
    assert left_in(store) == []


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ('path "src"', "path src"),
        (f'git "https://u:s3cret@h.example/x" at "{"0" * 40}"',
         f"git https://********@h.example/x at {'0' * 40}"),
        (f'git "ssh://git@h.example/x" at "{"0" * 40}"',
         f"git ssh://git@h.example/x at {'0' * 40}"),
    ],
)  # fmt: skip
def test_inputs_of_a_source(tmp_path: Path, source: str, said: str) -> None:
    spec, _ = spec_of(tmp_path, source)
    assert ("source", said) in resolution_inputs(spec)


def test_inputs_of_what_is_installed(tmp_path: Path) -> None:
    """Everything that decides a lock, and no reason."""
    more = f"""
accelerator cuda 12.8 {{
  gpus sm_80 sm_90
}}
system {{
  runtime libgl1
  build ninja-build cmake
}}
extension flash-attn ==2.8.3 because "x" {{
  needs torch ninja
  env FORCE="1"
  module flash_attn
}}
extension fast {{
  source git "https://h.example/x" at "{"1" * 40}"
}}
"""
    spec, _ = spec_of(tmp_path, 'path "."', more)
    found = resolution_inputs(spec)
    index = found.index(("source", "path ."))
    assert found[index + 1 :] == (
        ("system runtime", "libgl1"),
        ("system build", "cmake ninja-build"),
        ("extension flash-attn", "==2.8.3"),
        ("extension flash-attn needs", "torch ninja"),
        ("extension flash-attn env FORCE", "1"),
        ("extension fast", f"git https://h.example/x at {'1' * 40}"),
        ("gpus", "sm_80 sm_90"),
    )


def test_an_earlier_lock_of_another_commit(tmp_path: Path, store: Store) -> None:
    made = repository(tmp_path / "r", {"a.py": "1"})
    git(tmp_path / "r", "status")
    old = Artefact("", "demo-000000000000.tar", "0" * 64, 1)
    _, source = spec_of(tmp_path, 'path "."')
    found = git_artefact("demo", of(tmp_path / "r", made), source, Told(), old, store)
    assert found.file == f"demo-{made[:12]}.tar"
