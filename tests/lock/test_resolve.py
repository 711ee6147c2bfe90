"""Resolution against a local index: the right files, and every failure in our own words."""

from __future__ import annotations

import hashlib
import io
import sys
import tarfile
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from envspec.diagnostics import Diagnostic, DiagnosticError
from envspec.lock.request import PackageRequest, Request, Resolution
from envspec.lock.resolve import installer, resolve
from envspec.source import SourceFile, Span

TEXT = "packages {\n  app >=1\n  lib\n}\n"
SPEC = SourceFile("spec.env", TEXT)
HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
FALLBACK = Span(0, 8)


def ask(*packages: tuple[str, ...], python: str = HERE, **more: Any) -> Request:
    lines = tuple(
        PackageRequest(name, specifier, index[0] if index else "", span=Span(10 + i, 12 + i))
        for i, (name, specifier, *index) in enumerate(packages)
    )
    fixed = {"platform": "linux/amd64", "glibc": "2.28", "source": SPEC, "fallback": FALLBACK}
    return Request(python=python, packages=lines, **{**fixed, **more})


class Archive(NamedTuple):
    name: str
    data: bytes

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


def make_archive(name: str, version: str) -> Archive:
    """A source archive whose metadata is static, so that nothing has to be built."""
    buffer = io.BytesIO()
    files = {
        "PKG-INFO": f"Metadata-Version: 2.2\nName: {name}\nVersion: {version}\n",
        "pyproject.toml": f'[project]\nname = "{name}"\nversion = "{version}"\n',
    }
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for path, text in files.items():
            member = tarfile.TarInfo(f"{name}-{version}/{path}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return Archive(f"{name}-{version}.tar.gz", buffer.getvalue())


@pytest.fixture(params=["uv", "pip-tools"])
def resolver(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def solve(kit: Any, local_index: Any) -> Any:
    def run(request: Request, resolver: str | None = "uv") -> Resolution:
        return resolve(request, resolver, kit.notes(), kit.indexes(request.indexes))

    return run


@pytest.fixture
def refuse(solve: Any) -> Any:
    def run(request: Request, resolver: str | None = "uv") -> Diagnostic:
        with pytest.raises(DiagnosticError) as caught:
            solve(request, resolver)
        (finding,) = caught.value.diagnostics
        assert finding.source is SPEC
        everything = " ".join((finding.title, finding.cause, finding.hint, *finding.excerpt))
        assert "127.0.0.1" not in everything
        assert "Traceback" not in everything
        assert everything.isprintable()
        return finding

    return run


@pytest.mark.parametrize("json", [True, False])
@pytest.mark.parametrize("hashes", [True, False])
def test_a_set(
    solve: Any, local_index: Any, kit: Any, resolver: str, json: bool, hashes: bool
) -> None:
    """Hash and size are always there, whether or not the index tells them."""
    local_index.json, local_index.hashes = json, hashes
    app = kit.wheel("app", "1.2", ("lib>=2", "Big.Tool[fast]; python_version >= '3'"))
    lib = kit.wheel("lib", "2.0")
    tool = kit.wheel("big-tool", "0.1", ("lib",), extra="fast")
    local_index.add(app, lib, tool, kit.wheel("lib", "1.0"), kit.wheel("unrelated", "1"))
    done = solve(ask(("app", ">=1"), ("lib", "")), resolver)
    assert done.resolver == resolver
    assert done.resolver_version
    found = [(p.name, p.version, p.artefact, p.requires, p.why) for p in done.packages]
    assert found == [
        ("app", "1.2", app.artefact(), ("big-tool", "lib"), ("spec",)),
        ("big-tool", "0.1", tool.artefact(), ("lib",), ("app",)),
        ("lib", "2.0", lib.artefact(), (), ("spec", "app", "big-tool")),
    ]


def test_all_together(solve: Any, local_index: Any, kit: Any, resolver: str) -> None:
    """The newest of one package gives way to what another accepts."""
    local_index.add(kit.wheel("lib", "1.0"), kit.wheel("lib", "2.0"))
    local_index.add(kit.wheel("app", "1.0", ("lib<2",)))
    done = solve(ask(("lib", ""), ("app", "")), resolver)
    assert [(p.name, p.version) for p in done.packages] == [("app", "1.0"), ("lib", "1.0")]


@pytest.mark.parametrize(
    ("python", "platform", "glibc", "expected"),
    [
        ("3.11", "linux/amd64", "2.28", "cp311-cp311-manylinux_2_28_x86_64"),
        ("3.11", "linux/amd64", "2.30", "cp311-cp311-manylinux_2_28_x86_64"),
        ("3.11", "linux/amd64", "2.36", "cp311-cp311-manylinux_2_34_x86_64"),
        ("3.11", "linux/amd64", "2.17", "cp311-cp311-manylinux2014_x86_64"),
        ("3.11", "linux/arm64", "2.28", "cp311-cp311-manylinux_2_28_aarch64"),
        ("3.12", "linux/amd64", "2.28", "cp39-abi3-manylinux_2_17_x86_64"),
    ],
)
def test_the_file_is_the_targets(
    solve: Any, local_index: Any, kit: Any, python: str, platform: str, glibc: str, expected: str
) -> None:
    """Not this machine's: uv resolves for any Python, platform and C library."""
    tags = [
        "cp311-cp311-manylinux_2_34_x86_64",
        "cp311-cp311-manylinux_2_28_x86_64",
        "cp311-cp311-manylinux2014_x86_64",
        "cp311-cp311-manylinux_2_28_aarch64",
        "cp39-abi3-manylinux_2_17_x86_64",
        "cp311-cp311-win_amd64",
    ]
    local_index.add(*(kit.wheel("native", "1.0", tag=tag) for tag in tags))
    done = solve(ask(("native", ""), python=python, platform=platform, glibc=glibc))
    assert done.packages[0].artefact.file == f"native-1.0-{expected}.whl"


def test_one_index_for_a_package(
    solve: Any, local_index: Any, kit: Any, resolver: str, tmp_path: Path
) -> None:
    """A package `from` an index comes from there alone, though the default has a newer one,
    and is taken from there by who requires it too."""
    folder = tmp_path / "lab" / "thing"
    folder.mkdir(parents=True)
    mine = kit.wheel("thing", "1.0+lab", ("lib",))
    (folder / mine.name).write_bytes(mine.data)
    page = f'<a href="{mine.name}">{mine.name}</a>'
    (folder / "index.html").write_text(page)
    local_index.add(
        kit.wheel("thing", "9.0"), kit.wheel("app", "1.0", ("thing",)), kit.wheel("lib", "1")
    )
    request = ask(
        ("app", ""), ("thing", ">=1", "lab"), indexes={"lab": (tmp_path / "lab").as_uri()}
    )
    packages = {p.name: p for p in solve(request, resolver).packages}
    assert packages["thing"].artefact == mine.artefact("lab")
    assert packages["app"].artefact.index == "pypi"
    assert packages["lib"].artefact.index == "pypi"


def test_find_links_stand_for_a_labelled_pin(
    solve: Any,
    local_index: Any,
    kit: Any,
    resolver: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`==X+cpu from pytorch-cpu`, and the file lies here: the index is not asked."""
    mine = kit.wheel("torch", "2.0+cpu", ("lib",))
    (tmp_path / mine.name).write_bytes(mine.data)
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    local_index.add(
        kit.wheel("lib", "1.0"), kit.wheel("torch", "3.0"), kit.wheel("app", "1.0", ("torch",))
    )
    done = solve(ask(("torch", "==2.0+cpu", "pytorch-cpu"), ("app", "")), resolver)
    packages = {p.name: p for p in done.packages}
    assert packages["torch"].artefact == mine.artefact("pytorch-cpu")
    assert packages["torch"].why == ("spec", "app")


def test_find_links_decide_nothing_else(
    solve: Any,
    local_index: Any,
    kit: Any,
    resolver: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A lock must not depend on what lies in a folder of this machine."""
    local_index.add(kit.wheel("lib", "1.0"))
    other = kit.wheel("lib", "9.0")
    (tmp_path / other.name).write_bytes(other.data)
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PIP_CONSTRAINT", str(tmp_path / "none.txt"))
    monkeypatch.setenv("UV_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("UV_EXCLUDE_NEWER", "2000-01-01")
    assert solve(ask(("lib", "")), resolver).packages[0].version == "1.0"


def test_no_such_package(refuse: Any, local_index: Any, kit: Any, resolver: str) -> None:
    local_index.add(kit.wheel("lib", "1.0"))
    finding = refuse(ask(("lib", ""), ("libb", ">=1")), resolver)
    assert finding.code == "E0403"
    assert finding.title == "the package `libb` does not exist on the index `pypi`"
    assert finding.span == Span(11, 13)
    assert "spelling" in finding.hint


def test_all_missing_packages_at_once(solve: Any, local_index: Any) -> None:
    with pytest.raises(DiagnosticError) as caught:
        solve(ask(("one", ""), ("two", "")))
    assert [d.code for d in caught.value.diagnostics] == ["E0403", "E0403"]


def test_no_such_package_further_down(
    refuse: Any, local_index: Any, kit: Any, resolver: str
) -> None:
    local_index.add(kit.wheel("app", "1.0", ("ghost>=2",)))
    finding = refuse(ask(("app", "")), resolver)
    assert finding.code == "E0403"
    assert "`ghost`" in finding.title


def test_no_such_release(refuse: Any, local_index: Any, kit: Any, resolver: str) -> None:
    local_index.add(kit.wheel("lib", "1.0"), kit.wheel("lib", "1.5"))
    finding = refuse(ask(("lib", "==99")), resolver)
    assert finding.code == "E0403"
    assert "no release of `lib`" in finding.title
    assert "1.5, 1.0" in finding.cause


@pytest.mark.parametrize(
    ("file", "cause"),
    [
        (
            "native-1.0-cp35-cp35m-manylinux_2_17_x86_64.whl",
            "wheels for cp35 on manylinux_2_17_x86_64",
        ),
        ("native-1.0-py3-none-win_amd64.whl", "wheels for py3 on win_amd64"),
        ("native-1.0.tar.gz", "only a source archive"),
    ],
)
def test_no_wheel_for_the_target(
    refuse: Any, local_index: Any, kit: Any, resolver: str, file: str, cause: str
) -> None:
    local_index.add(kit.wheel("native", "1.0")._replace(name=file))
    finding = refuse(ask(("native", "")), resolver)
    assert finding.code == "E0404"
    assert finding.title == f"`native` has no wheel for Python {HERE} on linux/amd64"
    assert cause in finding.cause
    assert "glibc 2.28" in finding.cause
    assert finding.span == Span(10, 12)


def test_no_wheel_further_down(refuse: Any, local_index: Any, kit: Any, resolver: str) -> None:
    local_index.add(kit.wheel("app", "1.0", ("native",)))
    local_index.add(kit.wheel("native", "1.0")._replace(name="native-1.0.tar.gz"))
    finding = refuse(ask(("app", "")), resolver)
    assert (finding.code, "`native`" in finding.title) == ("E0404", True)


def test_spec_against_a_dependency(refuse: Any, local_index: Any, kit: Any, resolver: str) -> None:
    local_index.add(kit.wheel("lib", "1.0"), kit.wheel("lib", "2.0"))
    local_index.add(kit.wheel("app", "1.0", ("lib>=2",)))
    finding = refuse(ask(("app", "==1.0"), ("lib", "<2")), resolver)
    assert finding.code == "E0405"
    assert finding.title.startswith("the spec asks for `lib<2`, but `app")
    assert finding.title.endswith("requires `lib>=2`")
    assert finding.span == Span(11, 13)
    assert finding.excerpt


def test_two_dependencies_against_each_other(
    refuse: Any, local_index: Any, kit: Any, resolver: str
) -> None:
    local_index.add(kit.wheel("lib", "1.0"), kit.wheel("lib", "2.0"))
    local_index.add(kit.wheel("app", "1.0", ("lib>=2",)), kit.wheel("other", "3.0", ("lib<2",)))
    finding = refuse(ask(("app", ""), ("other", "")), resolver)
    assert finding.code == "E0405"
    assert "requires `lib>=2`" in finding.title
    assert "requires `lib<2`" in finding.title


def test_nobody_listens(
    solve: Any, local_index: Any, resolver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENVSPEC_INDEX_PYPI", "http://user:s3cret@127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "0")
    with pytest.raises(DiagnosticError) as caught:
        solve(ask(("lib", "")), resolver)
    (finding,) = caught.value.diagnostics
    assert finding.code == "E0501"
    assert "refused the connection" in finding.cause
    assert "s3cret" not in repr(finding)
    assert "127.0.0.1" not in repr(finding)


def test_an_own_index_that_does_not_answer(
    refuse: Any, local_index: Any, kit: Any, resolver: str
) -> None:
    local_index.add(kit.wheel("lib", "1.0"))
    request = ask(("lib", ""), ("thing", "", "lab"), indexes={"lab": "http://127.0.0.1:9/simple"})
    finding = refuse(request, resolver)
    assert (finding.code, finding.span) == ("E0501", Span(11, 13))
    assert "`lab`" in finding.title


def test_an_index_that_answers_with_errors(
    refuse: Any, local_index: Any, kit: Any, resolver: str
) -> None:
    local_index.bend["lib/"] = lambda h: kit.send(h, b"<html>broken", 500)
    finding = refuse(ask(("lib", "")), resolver)
    assert finding.code == "E0501"
    assert "HTTP 500" in finding.cause


def test_alias_nobody_knows(refuse: Any, local_index: Any, resolver: str) -> None:
    finding = refuse(ask(("thing", "", "lab")), resolver)
    assert finding.code == "E0501"
    assert "ENVSPEC_INDEX_LAB" in finding.hint


def test_a_wheel_lost_under_its_page(solve: Any, local_index: Any, kit: Any) -> None:
    """The page lists a file without hash, and the file is gone: no lock can come of it."""
    local_index.hashes = False
    wheel = kit.wheel("lib", "1.0")
    local_index.add(wheel)
    local_index.bend[wheel.name] = lambda h: kit.send(h, b"", 404)
    with pytest.raises(DiagnosticError) as caught:
        solve(ask(("lib", "")))
    assert caught.value.diagnostics[0].code == "E0501"


def test_pip_tools_only_for_its_own_python(refuse: Any, local_index: Any) -> None:
    finding = refuse(ask(("lib", ""), python="3.8"), "pip-tools")
    assert finding.code == "E0408"
    assert HERE in finding.cause
    assert "--resolver uv" in finding.hint
    assert finding.span == FALLBACK


@pytest.mark.parametrize(
    ("request_", "resolver_", "title"),
    [
        (ask(("lib", "")), "poetry", "no resolver 'poetry'"),
        (ask(("lib", ""), platform="windows/amd64"), None, "windows/amd64"),
    ],
)
def test_what_no_resolver_does(
    refuse: Any, request_: Request, resolver_: str | None, title: str
) -> None:
    finding = refuse(request_, resolver_)
    assert finding.code == "E0408"
    assert title in finding.title


def test_a_source_archive_only_where_allowed(refuse: Any, local_index: Any, kit: Any) -> None:
    """uv builds nothing unless asked, so its build code cannot run here."""
    local_index.add(
        kit.wheel("lib", "1.0")._replace(name="lib-2.0.tar.gz"), kit.wheel("lib", "1.0")
    )
    assert resolve(ask(("lib", "")), None, kit.notes(), kit.indexes()).packages[0].version == "1.0"


def test_installer(local_index: Any, kit: Any) -> None:
    """The uv that this tool runs, as a wheel for the target."""
    from importlib.metadata import version

    wheels = {
        arch: kit.wheel("uv", version("uv"), tag=f"py3-none-manylinux_2_17_{arch}")
        for arch in ("x86_64", "aarch64")
    }
    local_index.add(*wheels.values(), kit.wheel("uv", "99.0"))
    for platform, arch in (("linux/amd64", "x86_64"), ("linux/arm64", "aarch64")):
        locked = installer(ask(platform=platform), kit.indexes())
        assert locked.artefact == wheels[arch].artefact()
        assert locked.version == version("uv")


def test_installer_without_a_wheel(local_index: Any, kit: Any) -> None:
    with pytest.raises(DiagnosticError, match="E0404"):
        installer(ask(), kit.indexes())


@pytest.mark.network
@pytest.mark.skipif(HERE != "3.11", reason="pip-tools resolves for its own Python only")
def test_both_resolvers_agree_on_a_real_set(kit: Any) -> None:
    """The packages of examples/x-transformers."""
    request = ask(
        ("torch", "==2.13.0+cpu", "pytorch-cpu"),
        ("einops", ">=0.8.0"),
        ("einx", ">=0.3.0"),
        ("loguru", ""),
        ("packaging", ">=21.0"),
        ("torch-einops-utils", ">=0.1.41"),
        python="3.11",
    )
    first = resolve(request, "uv", kit.notes())
    second = resolve(request, "pip-tools", kit.notes())
    assert first.packages == second.packages
    assert len(first.packages) > 10
    torch = next(p for p in first.packages if p.name == "torch")
    assert (torch.version, torch.artefact.index) == ("2.13.0+cpu", "pytorch-cpu")
    assert all(p.artefact.size > 0 and len(p.artefact.sha256) == 64 for p in first.packages)
