"""From a spec with extensions to locked ones, against a local index; nothing of theirs is run."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
from local_index import make_wheel, serving
from sdists import BUILDERS, MARKING, Room, make_sdist, pack, written

from envspec.diagnostics import Diagnostic, DiagnosticError
from envspec.lock import file as lock_file
from envspec.lock.earlier import earlier
from envspec.lock.extensions.complete import extension_gaps
from envspec.lock.extensions.settle import keep_wheels
from envspec.lock.model import Artefact, Deb, Lock, LockedPackage, Nixpkgs, System
from envspec.lock.spec_inputs import resolution_inputs
from envspec.source import SourceFile

SHA = "0" * 64
COMMIT = "da39a3ee5e6b4b0d3255bfef95601890afd80709"


@pytest.fixture(params=["uv", "pip-tools"])
def resolver(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def room(local_index: Any, kit: Any, tmp_path: Path) -> Room:
    local_index.add(*BUILDERS)
    return Room(local_index, kit, tmp_path / "store")


def refused(room: Room, extensions: str, packages: str = "torch ==2.5", **more: Any) -> Diagnostic:
    spec, source = written(extensions, packages)
    with pytest.raises(DiagnosticError) as caught:
        room.lock(spec, source, **more)
    (finding,) = caught.value.diagnostics
    assert finding.source is source
    return finding


def names(packages: tuple[LockedPackage, ...]) -> dict[str, str]:
    return {p.name: p.version for p in packages}


def test_an_extension_and_what_its_build_imports(room: Room, resolver: str) -> None:
    """What it requires is resolved together with the packages; its build has the very files that
    the environment holds, and beside them what only builds use."""
    archive = make_sdist("fast-ops", "1.0", ("numpy<2", "einops>=0.8", "pytest; extra == 'test'"))
    room.index.add(archive, make_wheel("einops", "0.8"))
    spec, source = written("extension fast-ops ==1.0")
    packages, (extension,) = room.lock(spec, source, resolver)
    assert names(packages) == {"einops": "0.8", "numpy": "1.26", "torch": "2.5"}
    assert {p.name: p.why for p in packages} == {
        "einops": ("fast-ops",),
        "numpy": ("fast-ops", "torch"),
        "torch": ("spec",),
    }
    assert extension.artefact == archive.artefact()
    assert (extension.version, extension.requires) == ("1.0", ("einops", "numpy"))
    assert names(extension.build) == {
        "numpy": "1.26",
        "packaging": "25.0",
        "setuptools": "80.0",
        "torch": "2.5",
        "wheel": "0.45",
    }
    held = {p.name: p.artefact for p in packages}
    assert all(p.artefact == held.get(p.name, p.artefact) for p in extension.build)
    assert all(len(p.artefact.sha256) == 64 and p.artefact.size for p in extension.build)
    assert {p.name: (p.requires, p.why) for p in extension.build}["torch"] == (
        ("numpy",),
        ("spec",),
    )
    assert {p.name: p.why for p in extension.build}["packaging"] == ("wheel",)
    whole = lock(spec, packages, (extension,))
    text = lock_file.dumps(whole)
    assert lock_file.loads(text, SourceFile("spec.lock", text)) == whole


def lock(spec: Any, packages: Any, extensions: Any) -> Lock:
    """A lock around packages and extensions."""
    tool = LockedPackage(
        "uv", "1", Artefact("pypi", "uv-1-py3-none-any.whl", SHA, 1), (), ("spec",)
    )
    return Lock(
        resolution_inputs(spec),
        "python",
        f"sha256:{SHA}",
        Artefact("", "p-1.tar.gz", SHA, 1),
        tool,
        packages,
        "uv",
        "1",
        facts=SHA,
        nixpkgs=Nixpkgs("NixOS", "nixpkgs", "b" * 40, f"sha256-{'A' * 43}=", 1),
        extensions=extensions,
    )


@pytest.mark.parametrize("kind", ["setup.py", "backend", "backend-path", "setup.cfg"])
def test_no_code_of_an_archive_is_run(room: Room, tmp_path: Path, resolver: str, kind: str) -> None:
    """Whatever would write the marker, the marker is never written."""
    marker = tmp_path / "marker"
    code = MARKING.format(marker=str(marker))
    backend = '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "evil"\n'
    files = {
        "setup.py": {"setup.py": code},
        "backend": {"pyproject.toml": backend, "evil.py": code, "evil/__init__.py": code},
        "backend-path": {"pyproject.toml": backend + 'backend-path = ["."]\n', "evil.py": code},
        "setup.cfg": {
            "setup.cfg": "[metadata]\nversion = attr: evil.version\n",
            "evil.py": code,
            "setup.py": code,
            "conftest.py": code,
        },
    }[kind]
    info = "Metadata-Version: 2.4\nName: evil\nVersion: 1.0\nDynamic: Requires-Dist\n"
    room.index.add(make_sdist("evil", "1.0", files={"PKG-INFO": info, **files}))
    spec, source = written("extension evil")
    _, (extension,) = room.lock(spec, source, resolver)
    assert extension.version == "1.0"
    assert not marker.exists()


@pytest.mark.parametrize("how", ["needs", "build-system", "run time", "package"])
def test_no_code_of_a_build_dependency_is_run(
    room: Room, tmp_path: Path, resolver: str, how: str
) -> None:
    """An archive that what is built would import: no wheel of it, so it is refused by its name, and
    nobody looks into it by running it."""
    marker = tmp_path / "marker"
    code = MARKING.format(marker=str(marker))
    backend = '[build-system]\nrequires = ["evil"]\nbuild-backend = "evil"\n'
    room.index.add(make_sdist("evil", "1.0", files={"setup.py": code, "pyproject.toml": backend}))
    requires = ("evil",) if how == "run time" else ()
    files = {"pyproject.toml": backend} if how in {"build-system", "package"} else {}
    room.index.add(make_sdist("ops", "1.0", requires, files=files))
    needs = " {\n  needs setuptools evil\n}" if how == "needs" else ""
    packages = "torch ==2.5\n  evil" if how == "package" else "torch ==2.5"
    spec, source = written(f"extension ops{needs}", packages)
    with pytest.raises(DiagnosticError) as caught:
        room.lock(spec, source, resolver)
    assert caught.value.diagnostics[0].code in {"E0403", "E0404", "E0405", "E0435"}
    assert "evil" in str(caught.value.diagnostics)
    assert not marker.exists()


def test_the_marker_would_be_written(tmp_path: Path) -> None:
    """The test above can fail: the code in it does write."""
    marker = tmp_path / "marker"
    exec(MARKING.format(marker=str(marker)), {})
    assert marker.exists()


def test_one_file_beside_the_other_index(room: Room, resolver: str) -> None:
    """A package that the spec takes from an index of its own is that one in the build as well, and
    what an extension says of it changes its index in nothing."""
    with serving() as lab:
        own = make_wheel("torch", "2.6", ("numpy",))
        lab.add(own)
        room.index.add(make_sdist("ops", "1", ("torch>=2", "numpy<2")))
        spec, source = written(f'index lab "{lab.url}"\nextension ops', "torch ==2.6 from lab")
        packages, (extension,) = room.lock(spec, source, resolver)
    assert {p.name: p.artefact for p in packages}["torch"] == own.artefact("lab")
    assert {p.name: p.artefact for p in extension.build}["torch"] == own.artefact("lab")
    assert names(extension.build)["numpy"] == "1.26"


def test_build_system_decides_the_version_of_a_need(room: Room, resolver: str) -> None:
    """`setuptools<70` in the archive holds for the build, as long as the lock holds no other."""
    toml = '[build-system]\nrequires = ["setuptools<70", "wheel", "torch==9"]\n'
    room.index.add(make_sdist("ops", "1", files={"pyproject.toml": toml}))
    spec, source = written("extension ops")
    _, (extension,) = room.lock(spec, source, resolver)
    assert (names(extension.build)["setuptools"], names(extension.build)["torch"]) == (
        "69.0",
        "2.5",
    )


def test_the_order_of_extensions(room: Room) -> None:
    """Those that others require come first, also those that are named last; a circle ends."""
    room.index.add(
        make_sdist("top", "1", ("middle>=1", "numpy")),
        make_sdist("middle", "1.5", ("base",)),
        make_sdist("base", "1"),
        make_sdist("left", "1", ("right",)),
        make_sdist("right", "1", ("left",)),
    )
    lines = "".join(f"extension {name}\n" for name in ("top", "left", "middle", "right", "base"))
    packages, extensions = room.lock(*written(lines))
    assert [e.name for e in extensions] == ["base", "middle", "top", "left", "right"]
    assert {e.name: e.requires for e in extensions}["top"] == ("middle", "numpy")
    assert names(packages) == {"torch": "2.5", "numpy": "2.2"}
    spec, _ = written(lines)
    whole = lock(spec, packages, extensions)
    lock_file.loads(lock_file.dumps(whole), SourceFile("spec.lock", ""))


def test_needs_that_the_environment_holds_ask_nobody(room: Room) -> None:
    """Where all needs are packages of the lock, their files are known already."""
    room.index.add(make_sdist("ops", "1"))
    spec, source = written("extension ops {\n  needs torch\n}")
    packages, (extension,) = room.lock(spec, source)
    assert extension.build == packages
    assert not any("setuptools" in path for path in room.index.asked)


@pytest.mark.parametrize("form", ["toml", "bare"])
def test_from_a_repository(room: Room, form: str) -> None:
    """The archive is the packed commit; its version is what a file states, else 0 with the
    commit."""
    toml = '[project]\nname = "ops"\nversion = "3.1"\ndependencies = ["numpy<2"]\n'
    data = pack({"pyproject.toml": toml} if form == "toml" else {"setup.py": ""}, "")
    packed = Artefact("", "ops.tar", hashlib.sha256(data).hexdigest(), len(data))
    block = f'extension ops {{\n  source git "https://example.org/o.git" at "{COMMIT}"\n}}'
    spec, source = written(block)
    made = {"ops.tar": lambda to: to.write_bytes(data)}
    _, (extension,) = room.lock(spec, source, packed={"ops": packed}, origins=made)
    assert extension.artefact == packed
    versions = {"toml": "3.1", "bare": f"0+git.{COMMIT[:12]}"}
    assert extension.version == versions[form]
    assert extension.requires == (("numpy",) if form == "toml" else ())


def test_e0431_another_package_inside(room: Room) -> None:
    info = "Metadata-Version: 2.1\nName: other\nVersion: 1\n"
    room.index.add(make_sdist("ops", "1", files={"PKG-INFO": info}))
    finding = refused(room, "extension ops")
    assert (finding.code, "'other'" in finding.cause) == ("E0431", True)


def test_e0431_another_version_inside(room: Room) -> None:
    info = "Metadata-Version: 2.1\nName: ops\nVersion: 2\n"
    room.index.add(make_sdist("ops", "1", files={"PKG-INFO": info}))
    finding = refused(room, "extension ops")
    assert (finding.code, "'2'" in finding.cause) == ("E0431", True)


@pytest.mark.parametrize("line", ["x @ https://example.org/x.zip", "--index-url=http://x"])
def test_e0431_a_requirement_that_names_no_release(room: Room, line: str) -> None:
    room.index.add(make_sdist("ops", "1", (line,)))
    finding = refused(room, "extension ops")
    assert (finding.code, line in finding.cause) == ("E0431", True)


def test_e0432_a_pinned_package_is_excluded(room: Room) -> None:
    room.index.add(make_sdist("ops", "1", ("torch>=2.6",)))
    finding = refused(room, "extension ops")
    assert finding.code == "E0432"
    assert "requires `torch>=2.6`, and the spec has 2.5" in finding.title
    assert len(finding.labels) == 2


def test_e0432_the_version_of_another_extension_is_excluded(room: Room) -> None:
    room.index.add(make_sdist("ops", "1", ("base>=2",)), make_sdist("base", "1.9"))
    finding = refused(room, "extension ops\nextension base")
    assert (finding.code, "`base>=2`" in finding.title) == ("E0432", True)


def test_two_ranges_are_both_kept(room: Room, resolver: str) -> None:
    """A range of the spec and one of an extension hold together; where they cannot, E0405."""
    room.index.add(make_sdist("ops", "1", ("numpy<2",)), make_sdist("far", "1", ("numpy<1",)))
    packages, _ = room.lock(*written("extension ops", "torch\n  numpy >=1"), resolver)
    assert names(packages)["numpy"] == "1.26"
    assert {p.name: p.why for p in packages}["numpy"] == ("spec", "ops", "torch")
    code = refused(room, "extension far", "torch\n  numpy >=1", resolver=resolver).code
    assert code in {"E0403", "E0405"}


def test_e0433_a_need_that_is_compiled_as_well(room: Room) -> None:
    room.index.add(make_sdist("ops", "1"), make_sdist("base", "1"))
    finding = refused(room, "extension base\nextension ops {\n  needs torch base\n}")
    assert (finding.code, "needs `base`" in finding.title) == ("E0433", True)


def test_e0434_a_wheel_of_an_extension(room: Room) -> None:
    room.index.add(
        make_sdist("ops", "1"), make_wheel("ops", "1"), make_wheel("wrapper", "1", ("ops",))
    )
    finding = refused(room, "extension ops", "torch\n  wrapper")
    assert (finding.code, "`wrapper` asks" in finding.cause) == ("E0434", True)


def test_e0435_a_build_backend_that_nobody_brings(room: Room) -> None:
    """`ninja` may be missing, and `wheel` beside a setuptools that needs none."""
    toml = '[build-system]\nrequires = ["setuptools", "wheel", "ninja", "pybind11>=2"]\n'
    room.index.add(make_sdist("ops", "1", files={"pyproject.toml": toml}))
    block = "extension ops {\n  needs torch setuptools\n}"
    finding = refused(room, block)
    assert (finding.code, "lacks `pybind11`" in finding.title) == ("E0435", True)
    assert finding.hint == "write `needs torch setuptools pybind11`"
    room.index.add(make_wheel("pybind11", "2.13"))
    room.lock(*written(block.replace("setuptools", "setuptools pybind11")))


def test_an_earlier_lock_keeps_versions(room: Room) -> None:
    """Of the extension, of what it requires and of what its build imports; `--upgrade NAME` lets
    one of them go."""
    room.index.add(make_sdist("ops", "1.0"))
    spec, source = written("extension ops")
    packages, extensions = room.lock(spec, source)
    old = lock(spec, packages, extensions)
    room.index.add(make_sdist("ops", "1.1"), make_wheel("setuptools", "81.0"))
    text = lock_file.dumps(old)
    kept = earlier(text, old)
    assert ("pypi", "ops-1.0.tar.gz") in kept.files
    assert ("pypi", "setuptools-80.0-py3-none-any.whl") in kept.files
    _, again = room.lock(spec, source, pins=kept.pins, known=kept.files)
    assert again == extensions
    pins = earlier(text, old, packages=["ops"]).pins
    _, (newer,) = room.lock(spec, source, pins=pins)
    assert (newer.version, newer.build) == ("1.1", extensions[0].build)
    pins = earlier(text, old, packages=["setuptools"]).pins
    _, (newer,) = room.lock(spec, source, pins=pins)
    assert (newer.version, names(newer.build)["setuptools"]) == ("1.0", "81.0")
    _, (newer,) = room.lock(spec, source)
    assert (newer.version, names(newer.build)["setuptools"]) == ("1.1", "81.0")


BLOCK = 'extension ops {{\n  env A="{value}"\n}}'


def test_a_recorded_wheel_stays_and_goes(room: Room) -> None:
    """It stays where the same build would give it, and goes with anything that the build reads."""
    room.index.add(make_sdist("ops", "1.0"))
    spec, source = written(BLOCK.format(value="1"))
    packages, (extension,) = room.lock(spec, source)
    new = lock(spec, packages, (extension,))
    built = extension._replace(wheel="ops-1.0-py3-none-any.whl", wheel_sha256="1" * 64)
    old = lock(spec, packages, (built,))
    assert keep_wheels(new, old).extensions == (built,)
    assert keep_wheels(new._replace(exclude_newer="x", resolver="y"), old).extensions == (built,)
    assert keep_wheels(new, None).extensions == (extension,)
    assert keep_wheels(new, new).extensions == (extension,)
    debs = System((), "", (), (Deb("g++", "1", "amd64", "g.deb", "p/g.deb", SHA, 1),))
    other = extension.build[0]._replace(version="9")
    first = (other, *extension.build[1:])
    changed = [
        new._replace(base_digest="sha256:1"),
        new._replace(devel_name="n", devel_digest="sha256:1"),
        new._replace(system=debs),
        new._replace(facts="other"),
        new._replace(inputs=resolution_inputs(written(BLOCK.format(value="2"))[0])),
        new._replace(inputs=(("platform", "linux/arm64"), *new.inputs[1:])),
        new._replace(extensions=(extension._replace(version="1.1"),)),
        new._replace(extensions=(extension._replace(artefact=other.artefact),)),
        new._replace(extensions=(extension._replace(build=first),)),
    ]
    for lock_ in changed:
        assert not keep_wheels(lock_, old).extensions[0].wheel


def test_gaps(room: Room) -> None:
    """A whole lock has none; each change of it has one that names what is wrong."""
    room.index.add(make_sdist("top", "1", ("ops", "numpy")), make_sdist("ops", "1.0"))
    spec, source = written("extension top\nextension ops")
    packages, (ops, top) = room.lock(spec, source)
    request = room.request(spec, source)
    whole = lock(spec, packages, (ops, top))
    assert extension_gaps(whole, spec, request) == ()
    torch = next(p for p in ops.build if p.name == "torch")
    rest = tuple(p for p in ops.build if p.name != "torch")
    moved = torch._replace(artefact=torch.artefact._replace(sha256="2" * 64))
    arm = torch._replace(artefact=torch.artefact._replace(file="torch-2.5-cp35-cp35m-win32.whl"))
    extra = torch._replace(name="extra", requires=(), why=())
    unsaid = tuple(p._replace(why=("torch",)) for p in packages)
    cases: list[tuple[Lock, str, str]] = [
        (whole._replace(extensions=(ops,)), "top", "it is not locked"),
        (whole._replace(extensions=(top, ops)), "ops", "is built before it"),
        (whole._replace(extensions=(ops._replace(version="2"), top)), "ops", "another version"),
        (
            whole._replace(extensions=(ops._replace(artefact=torch.artefact), top)),
            "ops",
            "no source archive",
        ),
        (
            whole._replace(extensions=(ops._replace(build=rest), top)),
            "torch",
            "not locked for that",
        ),
        (
            whole._replace(extensions=(ops._replace(build=(*rest, moved)), top)),
            "torch",
            "another file of it than the environment",
        ),
        (
            whole._replace(extensions=(ops._replace(build=(*rest, arm)), top)),
            "torch",
            "no wheel for this target",
        ),
        (
            whole._replace(extensions=(ops._replace(build=(*ops.build, extra)), top)),
            "extra",
            "nothing asks for it",
        ),
        (
            whole._replace(extensions=(ops._replace(wheel="x-1-py3-none-any.whl"), top)),
            "ops",
            "of another package",
        ),
        (whole._replace(packages=unsaid), "numpy", "its line does not say so"),
        (whole._replace(packages=()), "numpy", "it is not locked"),
        (
            whole._replace(extensions=(ops, top._replace(requires=("ops",)))),
            "numpy",
            "which does not require it",
        ),
    ]
    for broken, name, said in cases:
        found = extension_gaps(broken, spec, request)
        assert any(who == name and said in why for who, why in found), (name, said, found)
    gone = extension_gaps(whole, written("extension ops")[0], request)
    assert ("top", "it is locked as an extension, and the spec has no such extension") in gone
    narrow = extension_gaps(whole, written("extension top\nextension ops ==2")[0], request)
    assert any("asks for ==2" in why for _, why in narrow)


def test_a_pin_of_the_spec_stands_alone(room: Room) -> None:
    """A range beside it would hide the label of a build such as `==2.13.0+cpu`, which says that the
    file is one index's own."""
    room.index.add(make_sdist("ops", "1", ("torch[opt]>=2,<3", "numpy>=1")))
    spec, source = written("extension ops", "torch ==2.5\n  numpy <2.2")
    lines = room.prepare(spec, source).request.packages
    assert [line.requirement for line in lines] == ["torch[opt]==2.5", "numpy<2.2,>=1"]


def test_an_index_that_tells_no_hash(room: Room) -> None:
    """The archive is digested here, and the file of an earlier lock needs no second look."""
    room.index.hashes = False
    archive = make_sdist("ops", "1")
    room.index.add(archive)
    spec, source = written("extension ops")
    prepared = room.prepare(spec, source)
    assert prepared.archives[0].artefact == archive.artefact()
    room.index.asked.clear()
    known = {("pypi", archive.name): archive.artefact()}
    assert room.prepare(spec, source, known=known).archives == prepared.archives
    assert not any(path.startswith("/files") for path in room.index.asked)


def test_e0502_one_flipped_byte(room: Room, kit: Any) -> None:
    archive = make_sdist("ops", "1")
    room.index.add(archive)
    data = bytes([*archive.data[:-1], archive.data[-1] ^ 1])
    room.index.bend[archive.name] = lambda handler: kit.send(handler, data)
    assert refused(room, "extension ops").code == "E0502"
