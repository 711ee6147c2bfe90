"""A small flake, really built and run by Nix."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest
from nix_room import Room, this_python
from nix_sample import QUOTED, Sample, sample

from envspec.plan import model as plan

pytestmark = pytest.mark.xdist_group("nix")
CHECKS = "checks.x86_64-linux"
NOTHING_WRONG = """\
distributions: 3 locked, 3 installed, compared by name and version
loaded, each in a process of its own: scatter demo
in the import roots, and not loaded: setup.py tests
not checked: whether files are what their RECORD says, imports inside functions, GPUs
nothing is wrong
"""


@pytest.fixture(scope="module")
def made(installer: tuple[plan.Wheel, bytes]) -> Sample:
    return sample(this_python()[1], installer)


@pytest.fixture(scope="module")
def room(made: Sample, tmp_path_factory: pytest.TempPathFactory) -> Room:
    found = Room(tmp_path_factory.mktemp("nix"), *this_python())
    found.compile(made.plan)
    found.fill(made.plan, made.files)
    return found


def fresh(folder: Path, value: Sample) -> Room:
    """A room for a plan that is not like the others."""
    found = Room(folder, *this_python())
    found.compile(value.plan)
    found.fill(value.plan, value.files)
    return found


def said(*argv: str | Path) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=True, env={}).stdout


def altered(value: Sample, step: plan.BuildExtension) -> Sample:
    """The sample with another step for its extension."""
    steps = tuple(step if isinstance(s, plan.BuildExtension) else s for s in value.plan.steps)
    return value._replace(plan=value.plan._replace(steps=steps))


def test_programs_see_the_packages_the_source_and_the_variables(room: Room) -> None:
    out = room.build()
    code = (
        "import alpha, beta.inner, demo, os, scatter; print(scatter.answer, os.environ['QUOTED'])"
    )
    assert said(out / "bin" / "python", "-c", code) == f"42 {QUOTED}\n"
    assert said(out / "bin" / "alpha-tell") == f"{(out / 'src').resolve()}/demo/__init__.py\n"
    assert (out / "src" / "built.txt").read_text() == "1.0", "the step ran, and saw the packages"
    names = {p.name for p in (out / "bin").iterdir()}
    assert "alpha-tell" in names
    assert not any("activate" in name for name in names)


def test_entries_run_by_name_and_end_with_their_status(room: Room) -> None:
    def run(name: str) -> subprocess.CompletedProcess[str]:
        return room.run("run", f"path:{room.flake}#{name}", check=False)

    done = run("smoke")
    assert (done.returncode, done.stdout[:9]) == (0, "smoke 42 "), done.stderr
    assert not Path(done.stdout.split()[2]).exists(), "its folder is gone"
    assert run("Three").returncode == 3
    assert run("slow").returncode == 124, "its time was over"


def test_checks_say_what_they_checked(room: Room) -> None:
    assert room.build(f"{CHECKS}.c0").read_text() == NOTHING_WRONG
    ran = "smoke: status 0, 0 expected\nThree: status 3, 3 expected\n"
    assert room.build(f"{CHECKS}.c1").read_text().endswith(ran)


def test_flake_check_and_show_pass_and_the_lock_stays(room: Room) -> None:
    before = (room.flake / "flake.lock").read_bytes()
    room.run("flake", "check", f"path:{room.flake}")
    found = room.show()
    assert found["packages"]["x86_64-linux"].keys() == {
        *("default", "environment", "extension-scatter", "image", "source")
    }
    assert found["apps"]["x86_64-linux"].keys() == {"default", "smoke", "Three", "slow"}
    assert found["checks"]["x86_64-linux"].keys() == {"c0", "c1"}
    assert found["devShells"]["x86_64-linux"].keys() == {"default"}
    room.plain("flake", "metadata", "--no-update-lock-file", f"path:{room.flake}")
    room.plain("flake", "metadata", f"path:{room.flake}")
    assert (room.flake / "flake.lock").read_bytes() == before


def test_image_is_that_of_the_dockerfile(room: Room) -> None:
    archive = room.build("image").read_bytes()
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(archive))) as outer:
        config, manifest = (
            json.load(outer.extractfile(name) or io.BytesIO())
            for name in ("config.json", "manifest.json")
        )
        with tarfile.open(fileobj=outer.extractfile("layer.tar")) as layer:
            members = {m.name: m for m in layer}
    assert manifest[0]["RepoTags"][0].startswith("demo:")
    assert config["created"] == "1980-01-01T00:00:00Z"
    inside = config["config"]
    assert inside["User"] == "65534:65534"
    assert inside["WorkingDir"] == plan.SOURCE
    assert inside["Cmd"] == [plan.INTERPRETER]
    assert {"VIRTUAL_ENV=/opt/env", "PYTHONPATH=/opt/src", f"QUOTED={QUOTED}"} <= {*inside["Env"]}
    assert members["tmp"].mode & 0o7777 == 0o1777

    def held(link: str, name: str) -> bool:
        """Whether the store path that a link of the image leads to is in the image, too."""
        return f"{Path(members[link].linkname).resolve()}/{name}".lstrip("/") in members

    assert held("opt/env", "bin/alpha-tell")
    assert held("opt/src", "built.txt")
    assert held("opt/envspec/entries", "deep/smoke.py")


def test_without_the_folder_of_wheels_the_message_says_what_to_do(
    made: Sample, installer: tuple[plan.Wheel, bytes], tmp_path: Path
) -> None:
    unknown = made.files["helper-5-py3-none-any.whl"] + b"never built before"
    member = next(w for s in made.plan.extensions for w in s.wheels if w.name == "helper")
    sha256 = hashlib.sha256(unknown).hexdigest()
    step = made.plan.extensions[0]
    other = member._replace(file=member.file._replace(sha256=sha256))
    value = altered(made, step._replace(wheels=(step.wheels[0], other)))
    room = Room(tmp_path, *this_python())
    room.compile(value.plan)
    target = f"path:{room.flake}#extension-scatter"
    done = room.run("build", "--no-link", "-L", target, wheels=False, check=False)
    assert done.returncode != 0
    assert installer[0].file.index == "pypi", "which the stand-in cannot ask"
    assert "the stand-in has no network" in done.stderr
    free = value.plan._replace(
        installer=value.plan.installer._replace(file=value.plan.installer.file._replace(index="x"))
    )
    room.compile(free)
    done = room.run("build", "--no-link", "-L", target, wheels=False, check=False)
    assert done.returncode != 0
    assert "envspec fetch spec.env -o wheels" in done.stderr
    assert "--override-input wheels path:./wheels" in done.stderr


def test_a_file_that_is_not_what_was_locked_is_refused(made: Sample, tmp_path: Path) -> None:
    room = fresh(tmp_path, made)
    text = (room.flake / "flake.nix").read_text()
    for member in made.plan.files:
        other = hashlib.sha256(member.sha256.encode()).hexdigest()
        (room.flake / "flake.nix").write_text(text.replace(member.sha256, other))
        done = room.run("build", "--no-link", f"path:{room.flake}", check=False)
        assert done.returncode != 0, member.file
        assert "differs" in done.stderr or "mismatch" in done.stderr, done.stderr


def test_a_recorded_wheel_is_compared(room: Room, made: Sample, tmp_path: Path) -> None:
    wheel = next(room.build("extension-scatter").glob("*.whl"))
    sha256 = hashlib.sha256(wheel.read_bytes()).hexdigest()
    for recorded, passes in ((sha256, True), ("0" * 64, False)):
        folder = tmp_path / recorded[:4]
        folder.mkdir()
        step = made.plan.extensions[0]._replace(sha256=recorded)
        other = fresh(folder, altered(made, step))
        target = f"path:{other.flake}#{CHECKS}.wheel-scatter"
        done = other.run("build", "--no-link", "-L", target, check=False)
        assert (done.returncode == 0) is passes, done.stderr


def test_c0_fails_where_a_package_of_the_source_does_not_load(made: Sample, tmp_path: Path) -> None:
    steps = (*made.plan.steps, plan.RunStep("break", ("mkdir", "more"), 31))
    code = "import pathlib as p; p.Path('more/__init__.py').write_text('import nowhere')"
    steps = (*steps, plan.RunStep("fill", ("python", "-c", code), 32))
    room = fresh(tmp_path, made._replace(plan=made.plan._replace(steps=steps)))
    done = room.run("build", "--no-link", "-L", f"path:{room.flake}#{CHECKS}.c0", check=False)
    assert done.returncode != 0
    assert "more: does not load" in done.stderr
    assert "No module named 'nowhere'" in done.stderr


def test_c1_fails_where_an_entry_ends_otherwise(made: Sample, tmp_path: Path) -> None:
    entries = tuple(e._replace(expect=plan.Expect(4)) for e in made.plan.entries)
    room = fresh(tmp_path, made._replace(plan=made.plan._replace(entries=entries)))
    done = room.run("build", "--no-link", "-L", f"path:{room.flake}#{CHECKS}.c1", check=False)
    assert done.returncode != 0
    assert "smoke: status 0, 4 expected" in done.stderr


def test_a_plan_without_c1_entries_has_no_check_that_passes_for_nothing(
    made: Sample, tmp_path: Path
) -> None:
    room = fresh(tmp_path, made._replace(plan=made.plan._replace(entries=made.plan.entries[2:])))
    assert room.show()["checks"]["x86_64-linux"].keys() == {"c0"}


CUDA = plan.Accelerator("cuda", "12.8", "525", ("sm_90",))


def test_extensions_are_compiled_with_the_toolkit_of_the_spec(made: Sample, tmp_path: Path) -> None:
    room = fresh(tmp_path, made._replace(plan=made.plan._replace(accelerator=CUDA)))
    target = f"path:{room.flake}#extension-scatter"
    shown = json.loads(room.run("show-derivation", target).stdout)
    (found,) = shown.values()
    assert "cuda-stand-in" in found["env"]["nativeBuildInputs"]
    assert "cuda-stand-in" in found["env"]["installPhase"]
    room.build("extension-scatter")


def test_a_toolkit_that_nixpkgs_does_not_have_is_named(made: Sample, tmp_path: Path) -> None:
    value = made.plan._replace(accelerator=CUDA._replace(toolkit="12.5"))
    room = fresh(tmp_path, made._replace(plan=value))
    done = room.run("build", "--no-link", f"path:{room.flake}", check=False)
    assert done.returncode != 0
    assert "this nixpkgs has no CUDA 12.5 to compile with" in done.stderr


@pytest.mark.parametrize("kind", ["cuda", "none"])
def test_libraries_of_the_driver_may_be_missing_and_no_others(
    made: Sample, tmp_path: Path, kind: str
) -> None:
    """A file that needs `libcuda.so.1` is taken where the plan has GPUs, and refused elsewhere."""
    empty, stub, library = (tmp_path / n for n in ("empty.c", "libcuda.so.1", "plugin.so"))
    empty.touch()
    cc = ["cc", "-shared", "-o"]
    subprocess.run([*cc, stub, empty, "-Wl,-soname,libcuda.so.1"], check=True)
    subprocess.run([*cc, library, empty, "-Wl,--no-as-needed", stub], check=True)
    step, packages = made.plan.extensions[0], made.plan.steps[3]
    assert isinstance(packages, plan.InstallWheels)
    name = "plugin-1-py3-none-any.whl"
    content = wheel_with(library.read_bytes())
    plugin = plan.Wheel(
        "plugin", "1", plan.File("ours", name, hashlib.sha256(content).hexdigest(), 1)
    )
    steps = tuple(
        s._replace(wheels=(*s.wheels, plugin)) if s == packages else s
        for s in made.plan.steps
        if s != step
    )
    accelerator = CUDA if kind == "cuda" else made.plan.accelerator
    value = made.plan._replace(steps=steps, accelerator=accelerator)
    folder = tmp_path / "room"
    folder.mkdir()
    room = fresh(folder, Sample(value, {**made.files, name: content}))
    target = f"path:{room.flake}#environment"
    done = room.run("build", "--no-link", "-L", target, check=False)
    assert (done.returncode == 0) is (kind == "cuda"), done.stderr
    if kind == "none":
        assert "needs libcuda.so.1, which is nowhere" in done.stderr


def wheel_with(library: bytes) -> bytes:
    """A wheel with one library in it."""

    made = io.BytesIO()
    members = {
        "plugin.so": library,
        "plugin-1.dist-info/METADATA": b"Metadata-Version: 2.1\nName: plugin\nVersion: 1\n",
        "plugin-1.dist-info/WHEEL": b"Wheel-Version: 1.0\nGenerator: x\n"
        b"Root-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{n},,\n" for n in (*members, "plugin-1.dist-info/RECORD")).encode()
    with zipfile.ZipFile(made, "w") as archive:
        for member, content in {**members, "plugin-1.dist-info/RECORD": record}.items():
            archive.writestr(zipfile.ZipInfo(member), content)
    return made.getvalue()
