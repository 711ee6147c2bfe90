"""A small plan whose every file is made here: wheels, a source, an extension in C, entries."""

from __future__ import annotations

import hashlib
import io
import tarfile
import zipfile
from collections.abc import Mapping
from typing import Any, NamedTuple

from envspec.plan import model as plan

_BACKEND = '''
"""A build backend that needs the locked `alpha`, and a C compiler."""
import pathlib, subprocess, zipfile
import alpha

def build_wheel(directory, config_settings=None, metadata_directory=None):
    subprocess.run(["cc", "-shared", "-fPIC", "-o", "scatter.so", "scatter.c"], check=True)
    name = "scatter-2.0-py3-none-linux_x86_64.whl"
    files = {
        "scatter/__init__.py": b"import ctypes, pathlib\\n"
        b"_c = ctypes.CDLL(str(pathlib.Path(__file__).with_name('_c.so')))\\n"
        b"answer = _c.answer()\\n",
        "scatter/_c.so": pathlib.Path("scatter.so").read_bytes(),
        "scatter-2.0.dist-info/METADATA": b"Metadata-Version: 2.1\\nName: scatter\\n"
        b"Version: 2.0\\n",
        "scatter-2.0.dist-info/WHEEL": b"Wheel-Version: 1.0\\nGenerator: x\\n"
        b"Root-Is-Purelib: false\\nTag: py3-none-linux_x86_64\\n",
    }
    lines = [f"{n},," for n in (*files, "scatter-2.0.dist-info/RECORD")]
    files["scatter-2.0.dist-info/RECORD"] = "\\n".join([*lines, ""]).encode()
    with zipfile.ZipFile(pathlib.Path(directory) / name, "w") as archive:
        for member, content in files.items():
            archive.writestr(zipfile.ZipInfo(member), content)
    return name
'''
SMOKE = b"""import os, pathlib, sys, tempfile
import alpha, beta.inner, demo, scatter
assert sys.argv[1:] == ["--name", "a b'c$d"], sys.argv
assert os.environ["QUOTED"] == "x 'y' \\"z\\" $HOME ${out} ''", os.environ["QUOTED"]
assert os.environ["CUDA_VISIBLE_DEVICES"] == ""
assert pathlib.Path.cwd() == pathlib.Path(demo.__file__).parents[1]
assert pathlib.Path("built.txt").read_text() == "1.0"
pathlib.Path(os.environ["HOME"], "written").touch()
print("smoke", scatter.answer, tempfile.gettempdir())
"""
QUOTED = "x 'y' \"z\" $HOME ${out} ''"


class Sample(NamedTuple):
    """A plan and the bytes of all its files, by name."""

    plan: plan.Plan
    files: dict[str, bytes]


def wheel_bytes(name: str, version: str, files: Mapping[str, str], scripts: str = "") -> bytes:
    """A wheel as any backend makes it."""
    info = f"{name}-{version}.dist-info"
    members = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\n"
        "Tag: py3-none-any\n",
    }
    if scripts:
        members[f"{info}/entry_points.txt"] = f"[console_scripts]\n{scripts}\n"
    record = "".join(f"{member},,\n" for member in (*members, f"{info}/RECORD"))
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for member, text in {**members, f"{info}/RECORD": record}.items():
            archive.writestr(zipfile.ZipInfo(member), text)
    return made.getvalue()


def archive_bytes(top: str, files: Mapping[str, str]) -> bytes:
    """A source archive with one folder at its top."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for member, text in files.items():
            entry = tarfile.TarInfo(f"{top}/{member}")
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return made.getvalue()


def file(name: str, content: bytes, index: str = "ours") -> plan.File:
    return plan.File(index, name, hashlib.sha256(content).hexdigest(), len(content))


def sample(version: str, installer: tuple[plan.Wheel, bytes], **changes: Any) -> Sample:
    """The plan for the Python ``version``; ``changes`` replace its fields."""
    files = {installer[0].file.file: installer[1]}

    def wheel(name: str, number: str, members: Mapping[str, str], scripts: str = "") -> plan.Wheel:
        content = wheel_bytes(name, number, members, scripts)
        file_name = f"{name}-{number}-py3-none-any.whl"
        files[file_name] = content
        return plan.Wheel(name, number, file(file_name, content))

    def archive(name: str, top: str, members: Mapping[str, str]) -> plan.File:
        files[name] = archive_bytes(top, members)
        return file(name, files[name])

    alpha = wheel(
        "alpha",
        "1.0",
        {"alpha/__init__.py": "def main():\n    import demo, sys\n    print(demo.__file__)\n"},
        "alpha-tell = alpha:main",
    )
    beta = wheel("beta", "2!3.0+local.1", {"beta/inner.py": "x = 1\n"})
    helper = wheel("helper", "5", {"helper.py": ""})
    scatter = archive(
        "scatter-2.0.tar.gz",
        "scatter-2.0",
        {
            "pyproject.toml": "[build-system]\nrequires = ['alpha', 'helper']\n"
            "build-backend = 'backend'\nbackend-path = ['.']\n"
            "[project]\nname = 'scatter'\nversion = '2.0'\n",
            "backend.py": _BACKEND,
            "scatter.c": "int answer(void) { return 42; }\n",
        },
    )
    source = archive(
        "demo-1.0.tar.gz",
        "demo-1.0",
        {
            "demo/__init__.py": "import alpha, beta.inner\n",
            "tests/__init__.py": "raise SystemExit(1)\n",
            "setup.py": "raise SystemExit(1)\n",
        },
    )
    build = (
        "import importlib.metadata as m, pathlib as p; "
        + "p.Path('built.txt').write_text(m.version('alpha'))"
    )
    made = plan.Plan(
        project="demo",
        spec="spec.env",
        platform="linux/amd64",
        base=plan.Base("python:3.11-slim", "sha256:" + "a" * 64),
        base_line=8,
        python=version,
        glibc="2.28",
        accelerator=plan.Accelerator("none", "", "", ()),
        nixpkgs=plan.Nixpkgs("NixOS", "nixpkgs", "b" * 40, "sha256-" + "A" * 43 + "=", 1700000000),
        installer=installer[0],
        steps=(
            plan.InstallSystem(("libgl1",), 20),
            plan.CreateEnvironment(plan.PREFIX, version, 9),
            plan.InstallWheels("framework", (alpha,), 14),
            plan.InstallWheels("packages", (beta,), 15),
            plan.BuildExtension(
                "scatter", "2.0", scatter, (alpha, helper), (("MAX_JOBS", "1"),), ("scatter",),
                "scatter-2.0-py3-none-linux_x86_64.whl", "", 25,
            ),
            plan.UnpackSource(source, plan.SOURCE, 4),
            plan.RunStep("build", ("python", "-c", build), 30),
        ),
        environment=(("QUOTED", QUOTED),),
        import_roots=(plan.SOURCE,),
        entries=(
            plan.Entry(
                "smoke", "c1",
                ("python", f"{plan.ENTRIES}/deep/smoke.py", "--name", "a b'c$d"),
                plan.Script.of("deep/smoke.py", SMOKE), 60, 1, (), False, 40,
            ),
            plan.Entry(
                "Three", "c1", ("python", "-c", "raise SystemExit(3)"), None, 60, 1, (), False, 50,
                plan.Expect(3),
            ),
            plan.Entry("slow", "c3", ("sleep", "60"), None, 1, 1, (), False, 60),
        ),
        optional_imports=(),
        claims=(),
    )  # fmt: skip
    return Sample(made._replace(**changes), files)
