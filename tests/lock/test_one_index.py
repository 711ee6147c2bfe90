"""Dependency confusion: a private package never comes from the public index, whatever it has."""

from __future__ import annotations

import io
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from local_index import LocalIndex, Wheel, serving

from envspec.diagnostics import DiagnosticError
from envspec.lock.request import PackageRequest, Request
from envspec.lock.resolve import resolve
from envspec.source import Span

HERE = f"{sys.version_info.major}.{sys.version_info.minor}"


@pytest.fixture
def lab() -> Iterator[LocalIndex]:
    """A second index, the private one."""
    with serving() as index:
        yield index


def request(lab: LocalIndex, *packages: tuple[str, str, str], **more: Any) -> Request:
    lines = tuple(
        PackageRequest(name, specifier, index, span=Span(i, i + 1))
        for i, (name, specifier, index) in enumerate(packages)
    )
    return Request(HERE, "linux/amd64", "2.28", lines, {"lab": lab.url}, **more)


def files(done: Any) -> dict[str, tuple[str, str]]:
    return {p.name: (p.version, p.artefact.index) for p in done.packages}


# (how the public copy is made to look better, its version): all stand on the default index.
BAITS = [
    ("higher", "9.0"),
    ("far higher", "99999.0"),
    ("same", "1.0"),
    ("post release", "1.0.post1"),
    ("local label", "1.0+better"),
]
SHAPES = [
    ("named with a range", ">=1", ""),
    ("named without a condition", "", ""),
    ("pinned", "==1.0", ""),
    ("required by a public package as well", ">=1", "public"),
    ("required by another private package as well", ">=1", "private"),
]


@pytest.mark.parametrize("bait", BAITS, ids=lambda b: b[0])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: s[0])
@pytest.mark.parametrize("resolver", ["uv", "pip-tools"])
def test_50_baits(
    local_index: Any,
    lab: LocalIndex,
    kit: Any,
    resolver: str,
    bait: tuple[str, str],
    shape: tuple[str, str, str],
) -> None:
    """0 wrong of 50: 5 baits, 5 ways to ask, 2 resolvers. What the package needs is read off the
    private file too: the public one would bring `evil`."""
    mine = kit.wheel("thing", "1.0", ("good",))
    lab.add(mine)
    local_index.add(kit.wheel("thing", bait[1], ("evil",), tag="py3-none-any"))
    local_index.add(kit.wheel("good", "1.0"), kit.wheel("evil", "1.0"))
    asked = [("thing", shape[1], "lab")]
    if shape[2] == "public":
        local_index.add(kit.wheel("app", "1.0", ("thing",)))
        asked.append(("app", "", ""))
    elif shape[2] == "private":
        lab.add(kit.wheel("app", "1.0", ("thing",)))
        asked.append(("app", "", "lab"))
    wanted = request(lab, *asked)
    done = resolve(wanted, resolver, kit.notes(), kit.indexes(wanted.indexes))
    found = {p.name: p for p in done.packages}
    assert found["thing"].artefact == mine.artefact("lab")
    assert "evil" not in found
    assert found["thing"].requires == ("good",)


@pytest.mark.parametrize("resolver", ["uv", "pip-tools"])
@pytest.mark.parametrize("named", [True, False])
def test_e0410_a_name_that_both_have(
    local_index: Any, lab: LocalIndex, kit: Any, resolver: str, named: bool
) -> None:
    """What a private package requires is not taken from whoever registered the name in public."""
    lab.add(kit.wheel("thing", "1.0", ("core",)), kit.wheel("core", "1.0"))
    local_index.add(kit.wheel("core", "9.0"))
    asked = [("thing", "", "lab"), ("core", "", "")][: 2 if named else 1]
    wanted = request(lab, *asked)
    with pytest.raises(DiagnosticError) as caught:
        resolve(wanted, resolver, kit.notes(), kit.indexes(wanted.indexes))
    (found,) = caught.value.diagnostics
    assert found.code == "E0410"
    assert found.title.startswith("`core` is on the index `lab` and on `pypi`")
    assert found.span == (Span(1, 2) if named else Span(0, 1))
    assert "`core from lab`" in found.hint
    for index, version in (("lab", "1.0"), ("pypi", "9.0")):
        settled = request(lab, ("thing", "", "lab"), ("core", "", index))
        done = resolve(settled, resolver, kit.notes(), kit.indexes(settled.indexes))
        assert files(done)["core"] == (version, index)


def test_a_mirror_raises_no_doubt(local_index: Any, lab: LocalIndex, kit: Any) -> None:
    """The same file on both indexes is the same package."""
    core = kit.wheel("core", "1.0")
    lab.add(kit.wheel("thing", "1.0", ("core",)), core)
    local_index.add(core)
    wanted = request(lab, ("thing", "", "lab"))
    done = resolve(wanted, "uv", kit.notes(), kit.indexes(wanted.indexes))
    assert files(done)["core"] == ("1.0", "pypi")


def test_an_index_that_no_package_uses_is_not_asked(
    local_index: Any, lab: LocalIndex, kit: Any
) -> None:
    lab.add(kit.wheel("core", "1.0"))
    local_index.add(kit.wheel("core", "9.0"))
    wanted = request(lab, ("core", "", ""))
    resolve(wanted, "uv", kit.notes(), kit.indexes(wanted.indexes))
    assert lab.asked == []


def make_sdist(name: str, version: str, marker: Path) -> Wheel:
    """A source archive that writes a marker when anybody asks it what it needs."""
    buffer = io.BytesIO()
    stem = f"{name}-{version}"
    members = {
        "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        "setup.py": f"open({str(marker)!r}, 'w').write('x')\n"
        f"from setuptools import setup\nsetup(name={name!r}, version={version!r})\n",
    }
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for path, text in members.items():
            member = tarfile.TarInfo(f"{stem}/{path}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return Wheel(f"{stem}.tar.gz", buffer.getvalue())


@pytest.mark.parametrize("resolver", ["uv", "pip-tools"])
@pytest.mark.parametrize("allowed", [True, False])
def test_archives_that_nobody_allowed_are_not_run(
    local_index: Any, lab: LocalIndex, kit: Any, tmp_path: Path, resolver: str, allowed: bool
) -> None:
    """A newer release without a wheel is passed over, also where another package, which has a
    wheel that does, may come as an archive."""
    marker = tmp_path / "marker"
    local_index.projects["lib"] = [kit.wheel("lib", "1.0"), make_sdist("lib", "2.0", marker)]
    local_index.projects["app"] = [
        kit.wheel("app", "1.0", ("lib",)),
        make_sdist("app", "2.0", marker),
    ]
    sdists = frozenset({"app"}) if allowed else frozenset()
    wanted = request(lab, ("app", "", ""), sdists_allowed=sdists)
    done = resolve(wanted, resolver, kit.notes(), kit.indexes(wanted.indexes))
    assert files(done) == {"app": ("1.0", "pypi"), "lib": ("1.0", "pypi")}
    assert not marker.exists()


def test_the_marker_would_be_written(tmp_path: Path) -> None:
    """The archive of the test above does what it is feared for."""
    import subprocess

    data = make_sdist("lib", "2.0", tmp_path / "marker").data
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        archive.extractall(tmp_path, filter="data")
    run = [sys.executable, "setup.py", "--version"]
    subprocess.run(run, cwd=tmp_path / "lib-2.0", capture_output=True, check=False)
    assert (tmp_path / "marker").exists()


def test_variables_are_not_sent_to_an_index(
    local_index: Any, lab: LocalIndex, kit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pip fills in `${NAME}` where a requirement is an address; an index must not write one."""
    monkeypatch.setenv("TOKEN", "s3cret")
    thing = kit.wheel("thing", "1.0")
    lab.add(thing)
    href = f"../../files/${{TOKEN}}/{thing.name}"
    page = f'<a href="{href}">{thing.name}</a>'.encode()
    lab.bend["thing/"] = lambda h: kit.send(h, page, 200, "text/html")
    wanted = request(lab, ("thing", "", "lab"))
    resolve(wanted, "pip-tools", kit.notes(), kit.indexes(wanted.indexes))
    assert any("TOKEN" in path for path in lab.asked)
    assert not any("s3cret" in path for path in lab.asked)
