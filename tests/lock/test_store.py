"""The store: only the right bytes come in, from the nearest place, and every failure is named."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from envspec.diagnostics import Diagnostic, DiagnosticError
from envspec.lock.indexes import Indexes
from envspec.lock.model import Artefact
from envspec.lock.places import Locations
from envspec.lock.store import Store, cache_folder
from envspec.source import SourceFile, Span

SPEC = SourceFile("spec.env", "packages {\n  einops >=0.8\n}\n")


def failed(store: Store, artefact: Artefact, locations: Locations, notes: Any) -> Diagnostic:
    with pytest.raises(DiagnosticError) as caught:
        store.fetch(artefact, locations, notes)
    (finding,) = caught.value.diagnostics
    text = f"{finding.title} {finding.cause} {finding.hint}"
    assert "127.0.0.1" not in text
    assert text.isprintable()
    return finding


def remains(root: Path) -> list[str]:
    """Every file below the store that is no stamp."""
    return sorted(
        str(p.relative_to(root)) for p in root.rglob("*") if p.is_file() and "stamps" not in p.parts
    )


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "cache" / "store")


@pytest.fixture
def wheel(kit: Any) -> Any:
    return kit.wheel("einops", "0.8.2")


@pytest.fixture
def locations(kit: Any, local_index: Any, wheel: Any) -> Locations:
    local_index.add(wheel)
    spans = {wheel.name: Span(13, 24)}
    return Locations(kit.indexes(), source=SPEC, spans=spans)


def test_from_the_index(
    store: Store, wheel: Any, locations: Locations, local_index: Any, kit: Any
) -> None:
    """A file is fetched once, verified, and told of by bytes."""
    notes = kit.notes()
    path = store.fetch(wheel.artefact(), locations, notes)
    assert path == store.root / "sha256" / wheel.sha256[:2] / wheel.sha256 / wheel.name
    assert path.read_bytes() == wheel.data
    assert notes.stages == ["fetching 1 file"]
    assert notes.amounts[-1] == (len(wheel.data), len(wheel.data), "B")
    assert store.has(wheel.artefact())
    asked = len(local_index.asked)
    again = kit.notes()
    assert store.fetch(wheel.artefact(), locations, again) == path
    assert len(local_index.asked) == asked
    assert again.stages == []
    assert list((store.root / "tmp").iterdir()) == []


def test_an_index_that_says_nothing_but_names(
    store: Store, wheel: Any, locations: Locations, local_index: Any, kit: Any
) -> None:
    """Neither hash nor size from the index, nor size in the lock: the bytes decide."""
    local_index.hashes = False
    artefact = wheel.artefact()._replace(size=0)
    assert store.fetch(artefact, locations, kit.notes()).read_bytes() == wheel.data


@pytest.mark.parametrize("size_known", [True, False])
@pytest.mark.parametrize("change", [lambda d: d[:-1] + b"?", lambda d: d + b"?", lambda d: d[:-9]])
def test_wrong_bytes_are_set_aside(
    store: Store,
    wheel: Any,
    locations: Locations,
    local_index: Any,
    kit: Any,
    change: Any,
    size_known: bool,
) -> None:
    wrong = change(wheel.data)
    local_index.bend[wheel.name] = lambda h: kit.send(h, wrong)
    artefact = wheel.artefact() if size_known else wheel.artefact()._replace(size=0)
    finding = failed(store, artefact, locations, kit.notes())
    assert finding.code == "E0502"
    assert "the index `pypi`" in finding.title
    assert wheel.sha256 in finding.cause
    (kept,) = (store.root / "rejected").iterdir()
    assert str(kept) in finding.cause
    assert kept.name.startswith(wheel.name + ".")
    assert wrong.startswith(kept.read_bytes())
    assert finding.span == Span(13, 24)
    assert not store.path(artefact).exists()


def test_not_found_names_the_places(
    store: Store,
    wheel: Any,
    locations: Locations,
    kit: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    other = kit.wheel("einops", "9.9").artefact()
    finding = failed(store, other, locations, kit.notes())
    assert finding.code == "E0503"
    assert f"the find-links folder {tmp_path}" in finding.cause
    assert "the index `pypi`, which lists no such file" in finding.cause
    unknown = kit.wheel("nobody", "1").artefact()
    assert "does not know the project" in failed(store, unknown, locations, kit.notes()).cause


def test_gone_from_under_its_page(
    store: Store, wheel: Any, locations: Locations, local_index: Any, kit: Any
) -> None:
    local_index.bend[wheel.name] = lambda h: kit.send(h, b"", 404)
    assert failed(store, wheel.artefact(), locations, kit.notes()).code == "E0503"


def test_a_server_in_trouble_is_asked_again(
    store: Store, wheel: Any, locations: Locations, local_index: Any, kit: Any
) -> None:
    answers = [500, 503, 500, 502]

    def sometimes(handler: Any) -> None:
        if len(answers) % 3:
            kit.send(handler, b"", answers.pop())
        else:
            answers.append(0)
            del local_index.bend["einops/"]
            local_index.answer(handler)

    local_index.bend["einops/"] = sometimes
    tries = [500, 500]
    local_index.bend[wheel.name] = lambda h: kit.send(
        h, *((b"", tries.pop()) if tries else (wheel.data, 200))
    )
    assert store.fetch(wheel.artefact(), locations, kit.notes()).read_bytes() == wheel.data


@pytest.mark.parametrize(
    ("bend", "reason"),
    [
        (lambda kit, h: kit.send(h, b"", 500), "HTTP 500"),
        (lambda kit, h: kit.send(h, b"", 403), "refused access"),
        (lambda kit, h: kit.drip(h), "bytes in"),
        (lambda kit, h: kit.send(h, b"PK", length=500), "broke off"),
        (lambda kit, h: kit.send(h, b"PK", length=-1), "broke off after 2 of"),
        (lambda kit, h: h.connection.close(), "broke"),
        (lambda kit, h: time.sleep(1.5), "in time"),
    ],
    ids=["500", "403", "drip", "truncated", "truncated-unannounced", "closed", "silent"],
)
def test_an_index_that_gives_no_whole_file(
    store: Store,
    wheel: Any,
    locations: Locations,
    local_index: Any,
    kit: Any,
    bend: Any,
    reason: str,
) -> None:
    """After the retries: E0501 (E0416 where access is refused), by alias, and nothing is left
    behind."""
    local_index.bend[wheel.name] = lambda h: bend(kit, h)
    notes = kit.notes()
    finding = failed(store, wheel.artefact(), locations, notes)
    assert finding.code == ("E0416" if "access" in reason else "E0501")
    assert "`pypi`" in finding.title
    assert reason in finding.title + finding.cause
    assert "ENVSPEC_INDEX_PYPI" in finding.hint
    assert remains(store.root) == []


def test_nobody_listens(
    store: Store, wheel: Any, kit: Any, local_index: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Credentials in an address never get into a message."""
    monkeypatch.setenv("ENVSPEC_INDEX_LAB_MIRROR", "http://user:s3cret@127.0.0.1:9/simple")
    finding = failed(store, wheel.artefact("lab-mirror"), Locations(kit.indexes()), kit.notes())
    assert finding.code == "E0501"
    assert "`lab-mirror`" in finding.title
    assert "refused the connection" in finding.cause
    assert "s3cret" not in repr(finding)


@pytest.mark.parametrize(
    "address", ["ftp://127.0.0.1/x", "http://[", "", "http://127.0.0.1:9/\x1b[31m"]
)
def test_an_address_that_is_none(
    store: Store, wheel: Any, kit: Any, local_index: Any, address: str
) -> None:
    finding = failed(
        store, wheel.artefact("lab"), Locations(kit.indexes({"lab": address})), kit.notes()
    )
    assert finding.code == "E0501"


def test_declared_address(store: Store, wheel: Any, kit: Any, local_index: Any) -> None:
    local_index.add(wheel)
    local_index.json = True
    locations = Locations(kit.indexes({"lab": local_index.url + "/"}))
    assert store.fetch(wheel.artefact("lab"), locations, kit.notes()).exists()


def test_find_links_come_before_the_index(
    store: Store,
    wheel: Any,
    locations: Locations,
    local_index: Any,
    kit: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    links = tmp_path / "links"
    links.mkdir()
    (links / wheel.name).write_bytes(wheel.data)
    monkeypatch.setenv("PIP_FIND_LINKS", f"{tmp_path / 'none'} {links.as_uri()}")
    path = store.fetch(wheel.artefact(), locations, kit.notes())
    assert local_index.asked == []
    assert path.samefile(links / wheel.name)


def test_wrong_in_find_links_right_on_the_index(
    store: Store,
    wheel: Any,
    locations: Locations,
    kit: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """A file the user built under the same name does not stop the work, and is not lost."""
    links = tmp_path / "links"
    links.mkdir()
    (links / wheel.name).write_bytes(b"home made")
    monkeypatch.setenv("PIP_FIND_LINKS", str(links))
    notes = kit.notes()
    assert store.fetch(wheel.artefact(), locations, notes).read_bytes() == wheel.data
    assert "another hash" in notes.lines[0]
    assert (links / wheel.name).read_bytes() == b"home made"


def test_extra_index_only_by_hash(
    store: Store, wheel: Any, local_index: Any, kit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    local_index.add(wheel)
    monkeypatch.setenv("ENVSPEC_INDEX_PYPI", "http://127.0.0.1:9/")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", local_index.url)
    assert store.fetch(wheel.artefact(), Locations(kit.indexes()), kit.notes()).exists()


def test_beside_the_spec(
    store: Store, kit: Any, local_index: Any, tmp_path: Path, wheel: Any
) -> None:
    (tmp_path / "src.tar.gz").write_bytes(wheel.data)
    artefact = Artefact("", "src.tar.gz", wheel.sha256, 0)
    locations = Locations(kit.indexes(), beside=(tmp_path,))
    assert store.fetch(artefact, locations, kit.notes()).read_bytes() == wheel.data
    missing = artefact._replace(file="other.tar.gz")
    finding = failed(store, missing, locations, kit.notes())
    assert (finding.code, str(tmp_path) in finding.cause) == ("E0503", True)


def test_a_pipe_under_the_right_name(
    store: Store, kit: Any, local_index: Any, tmp_path: Path, wheel: Any
) -> None:
    os.mkfifo(tmp_path / "src.tar.gz")
    artefact = Artefact("", "src.tar.gz", wheel.sha256, 0)
    assert (
        failed(store, artefact, Locations(kit.indexes(), (tmp_path,)), kit.notes()).code == "E0503"
    )


@pytest.mark.parametrize("damage", [b"", b"x" * 100, None])
def test_damage_in_the_store_is_seen_on_use(
    store: Store, wheel: Any, locations: Locations, kit: Any, damage: bytes | None
) -> None:
    path = store.fetch(wheel.artefact(), locations, kit.notes())
    path.write_bytes(wheel.data[:-1] + b"?" if damage is None else damage)
    assert not store.has(wheel.artefact())
    notes = kit.notes()
    assert store.fetch(wheel.artefact(), locations, notes).read_bytes() == wheel.data
    assert "damaged" in notes.lines[0]


def test_a_touched_file_is_hashed_again_and_kept(
    store: Store, wheel: Any, locations: Locations, local_index: Any, kit: Any
) -> None:
    path = store.fetch(wheel.artefact(), locations, kit.notes())
    os.utime(path, (1, 1))
    asked = len(local_index.asked)
    assert store.fetch(wheel.artefact(), locations, kit.notes()) == path
    assert len(local_index.asked) == asked


@pytest.mark.parametrize("file", ["../../x.whl", "a/b", "-r", "..", "a\x1b", ""])
def test_names_that_lead_out(
    store: Store, kit: Any, wheel: Any, local_index: Any, file: str
) -> None:
    artefact = wheel.artefact()._replace(file=file)
    assert failed(store, artefact, Locations(kit.indexes()), kit.notes()).code == "E0503"
    with pytest.raises(ValueError, match="plain file name"):
        store.path(artefact)


def test_many_at_once_in_order(store: Store, local_index: Any, kit: Any) -> None:
    wheels = [kit.wheel(f"pkg{i}", "1.0") for i in range(12)]
    local_index.add(*wheels)
    notes = kit.notes()
    artefacts = [w.artefact() for w in wheels] + [wheels[0].artefact()]
    paths = store.fetch_all(artefacts, Locations(kit.indexes()), notes)
    assert [p.name for p in paths] == [a.file for a in artefacts]
    total = sum(len(w.data) for w in wheels)
    assert notes.amounts[-1] == (total, total, "B")
    assert notes.stages == ["fetching 12 files"]


def test_one_bad_of_many_stops_all(store: Store, local_index: Any, kit: Any) -> None:
    wheels = [kit.wheel(f"pkg{i}", "1.0") for i in range(6)]
    local_index.add(*wheels)
    local_index.bend[wheels[3].name] = lambda h: kit.send(h, b"no")
    with pytest.raises(DiagnosticError, match="E0502"):
        store.fetch_all([w.artefact() for w in wheels], Locations(kit.indexes()), kit.notes())
    assert not any(p.is_file() for p in (store.root / "tmp").rglob("*"))


def test_wheelhouse(store: Store, local_index: Any, kit: Any, tmp_path: Path) -> None:
    wheels = [kit.wheel(f"pkg{i}", "1.0") for i in range(3)]
    local_index.add(*wheels)
    artefacts = [w.artefact() for w in wheels]
    store.fetch_all(artefacts, Locations(kit.indexes()), kit.notes())
    folder = tmp_path / "house"
    for _ in range(2):
        store.wheelhouse(artefacts, folder)
        assert sorted(p.name for p in folder.iterdir()) == [w.name for w in wheels]
        assert all((folder / a.file).samefile(store.path(a)) for a in artefacts)
    other = kit.wheel("pkg0", "1.0", extra="x")
    (store.root / "x").mkdir()
    (folder / wheels[0].name).unlink()
    (folder / wheels[0].name).write_bytes(other.data)
    store.wheelhouse(artefacts, folder)
    assert (folder / wheels[0].name).read_bytes() == wheels[0].data


def test_cache_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("ENVSPEC_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_folder() == tmp_path / ".cache" / "envspec"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder() == tmp_path / ".cache" / "envspec"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "envspec"
    monkeypatch.setenv("ENVSPEC_CACHE", str(tmp_path / "own"))
    assert Store().root == tmp_path / "own" / "store"


CHILD = """
import sys, threading
from pathlib import Path
from envspec.lock.indexes import Indexes
from envspec.lock.model import Artefact
from envspec.lock.places import Locations
from envspec.lock.store import Store
class Quiet:
    def stage(self, title): print("stage", flush=True)
    def advance(self, done, total, unit=""): print("moving", flush=True)
    def line(self, text): pass
root, file, sha256, size = sys.argv[1:]
Store(Path(root)).fetch(Artefact("pypi", file, sha256, int(size)), Locations(Indexes()), Quiet())
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_interrupted_in_the_middle(
    store: Store,
    wheel: Any,
    locations: Locations,
    local_index: Any,
    kit: Any,
    number: signal.Signals,
) -> None:
    """Whatever ends a download, no part of it stands under the file's name, and the next
    start finds nothing left behind but what it sweeps."""

    def stall(handler: Any) -> None:
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(wheel.data[:100])
        handler.wfile.flush()
        time.sleep(20)

    local_index.bend[wheel.name] = stall
    artefact = wheel.artefact()
    argv = [
        sys.executable,
        "-c",
        CHILD,
        str(store.root),
        artefact.file,
        artefact.sha256,
        str(artefact.size),
    ]
    with subprocess.Popen(
        argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "stage\n"
        assert child.stdout.readline() == "moving\n"
        child.send_signal(number)
        child.wait(timeout=10)
    assert not store.path(artefact).exists()
    if number == signal.SIGINT:
        assert remains(store.root) == []
    else:
        assert len(remains(store.root)) == 2  # the half file and its lock
    del local_index.bend[wheel.name]
    assert store.fetch(artefact, locations, kit.notes()).read_bytes() == wheel.data
    assert remains(store.root) == [str(store.path(artefact).relative_to(store.root))]


def test_two_at_once(store: Store, wheel: Any, local_index: Any) -> None:
    """Two processes fetch the same file; neither sweeps the other's work."""
    local_index.add(wheel)
    artefact = wheel.artefact()

    def slowly(handler: Any) -> None:
        handler.send_response(200)
        handler.end_headers()
        for at in range(0, len(wheel.data), 100):
            handler.wfile.write(wheel.data[at : at + 100])
            handler.wfile.flush()
            time.sleep(0.1)

    local_index.bend[wheel.name] = slowly
    argv = [
        sys.executable,
        "-c",
        CHILD,
        str(store.root),
        artefact.file,
        artefact.sha256,
        str(artefact.size),
    ]
    children = []
    for _ in range(2):
        children.append(subprocess.Popen(argv, stdout=subprocess.PIPE, text=True))
        assert children[-1].stdout is not None
        children[-1].stdout.readline()
        children[-1].stdout.readline()
    for child in children:
        child.communicate(timeout=30)
        assert child.returncode == 0
    assert store.has(artefact)
    assert len(remains(store.root)) == 1


def in_small_disk(script: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """Run Python in its own mount namespace with a disk of 64 KiB at ``tmp_path/small``."""
    (tmp_path / "small").mkdir()
    mount = f"mount -t tmpfs -o size=64k none {tmp_path}/small"
    probe = ["unshare", "-rm", "sh", "-c", mount]
    if (
        shutil.which("unshare") is None
        or subprocess.run(probe, capture_output=True, check=False).returncode
    ):
        pytest.skip("no mount namespaces here: a full disk cannot be made")
    (tmp_path / "script.py").write_text(script)
    argv = ["unshare", "-rm", "sh", "-c", f"{mount} && exec {sys.executable} {tmp_path}/script.py"]
    return subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("size_known", [True, False])
def test_full_disk(local_index: Any, kit: Any, tmp_path: Path, size_known: bool) -> None:
    """A full disk is E0504 with both numbers, and leaves nothing behind."""
    wheel = kit.wheel("einops", "0.8.2", requires=tuple(f"dependency-{i}" for i in range(9000)))
    local_index.add(wheel)
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / wheel.name).write_bytes(wheel.data)
    artefact = wheel.artefact() if size_known else wheel.artefact()._replace(size=0)
    script = (
        "import os\n"
        "from pathlib import Path\n"
        "from envspec.diagnostics import DiagnosticError\n"
        "from envspec.lock.indexes import Indexes\n"
        "from envspec.lock.model import Artefact\n"
        "from envspec.lock.places import Locations\n"
        "from envspec.lock.store import Store\n"
        "class Quiet:\n"
        "    def stage(self, title): pass\n"
        "    advance = line = stage\n"
        "    def advance(self, done, total, unit=''): pass\n"
        f"root = Path({str(tmp_path / 'small')!r}) / 'store'\n"
        f"for links in ('', {str(tmp_path / 'links')!r}):\n"
        "    os.environ['PIP_FIND_LINKS'] = links\n"
        "    try:\n"
        f"        Store(root).fetch({artefact!r}, Locations(Indexes()), Quiet())\n"
        "    except DiagnosticError as error:\n"
        "        d = error.diagnostics[0]\n"
        "        left = [str(p) for p in root.rglob('*') if p.is_file()]\n"
        "        print(d.code, '|', d.title, '|', left)\n"
    )
    done = in_small_disk(script, tmp_path)
    lines = done.stdout.splitlines()
    assert len(lines) == 2, done.stderr
    needed = f"needs {len(wheel.data)} bytes" if size_known else "needs an unknown number of bytes"
    for line in lines:
        assert line.startswith("E0504 | the disk is full: ")
        assert needed in line
        assert "are free | []" in line


def test_store_that_cannot_be_written(
    wheel: Any, locations: Locations, kit: Any, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    finding = failed(Store(tmp_path / "file"), wheel.artefact(), locations, kit.notes())
    assert finding.code == "E0505"
    assert "ENVSPEC_CACHE" in finding.hint


def test_pip_is_not_asked_when_nothing_is_missing(
    store: Store, wheel: Any, locations: Locations, kit: Any
) -> None:
    """Verifying again with a full store starts no process and imports no web client."""
    store.fetch(wheel.artefact(), locations, kit.notes())
    fresh = Indexes()
    store.fetch(wheel.artefact(), Locations(fresh), kit.notes())
    assert fresh._pip is None
    assert fresh._client is None
