"""What the tests of the local engine share: wheels and archives made by hand, and plans."""

from __future__ import annotations

import base64
import hashlib
import io
import sys
import tarfile
import zipfile
from pathlib import Path

from envspec.build.local import LocalEngine
from envspec.build.protocol import Built, Completed, Invocation, Limits, Mount
from envspec.plan import model as plan

PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"


class Silent:
    """A reporter that remembers."""

    def __init__(self) -> None:
        self.stages: list[str] = []
        self.lines: list[str] = []

    def stage(self, title: str) -> None:
        self.stages.append(title)

    def advance(self, done: int, total: int, unit: str = "") -> None:
        pass

    def line(self, text: str) -> None:
        self.lines.append(text)


def file(path: Path) -> plan.File:
    content = path.read_bytes()
    return plan.File("pypi", path.name, hashlib.sha256(content).hexdigest(), len(content))


def make_wheel(folder: Path, name: str, version: str, members: dict[str, str]) -> plan.Wheel:
    """A pure wheel with these files."""
    info = f"{name}-{version}.dist-info"
    members = {
        **members,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = ""
    for path, text in members.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=")
        record += f"{path},sha256={digest.decode()},{len(text.encode())}\n"
    members[f"{info}/RECORD"] = record + f"{info}/RECORD,,\n"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as packed:
        for member, text in members.items():
            packed.writestr(zipfile.ZipInfo(member), text)
    return plan.Wheel(name, version, file(path))


def make_tar(path: Path, members: dict[str, str]) -> plan.File:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as tar:
        for name, text in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))
    return file(path)


class Room:
    """A folder with fetched files, a cache, and a plan over them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cache = folder / "cache"
        self.files = folder / "files"
        self.log = folder / "build.log"
        self.context = folder / "context"
        self.context.mkdir()
        self.wheel = make_wheel(
            self.files / "packages",
            "tiny",
            "1.2+cpu",
            {"tiny/__init__.py": "VALUE = 42\n", "tiny/data.txt": "data\n"},
        )
        self.archive = make_tar(
            self.files / "source" / "demo-1.tar.gz",
            {"demo-1/demo.py": "NAME = 'demo'\n", "demo-1/pkg/__init__.py": ""},
        )

    def plan(
        self, *more: plan.Step, python: str = PYTHON, system: tuple[str, ...] = ()
    ) -> plan.Plan:
        before = (plan.InstallSystem(system, 4),) if system else ()
        return plan.Plan(
            project="local-tests",
            spec="spec.env",
            platform="linux/amd64",
            base=plan.Base("python:3.11-slim-bookworm", "sha256:" + "e" * 64),
            base_line=6,
            python=python,
            glibc="2.28",
            accelerator=plan.Accelerator("none", "", "", ()),
            nixpkgs=plan.Nixpkgs(*("",) * len(plan.Nixpkgs._fields)),
            installer=plan.Wheel("uv", "0.9.0", plan.File("pypi", "uv-any.whl", "a" * 64, 1)),
            steps=(
                *before,
                plan.CreateEnvironment(plan.PREFIX, python, 7),
                plan.InstallWheels("packages", (self.wheel,), 10),
                plan.UnpackSource(self.archive, plan.SOURCE, 3),
                *more,
            ),
            environment=(("GREETING", "hello"), ("DATA", "/opt/src/pkg")),
            import_roots=(plan.SOURCE,),
            entries=(),
            optional_imports=(),
            claims=(),
        )

    def engine(self, isolation: str | None = None) -> LocalEngine:
        return LocalEngine(self.cache, isolation)

    def build(self, plan_: plan.Plan, reporter: Silent | None = None) -> Built:
        return self.engine().build(plan_, self.context, self.files, reporter or Silent(), self.log)


def python(
    engine: LocalEngine,
    built: Built,
    code: str,
    *arguments: str,
    seconds: float = 60,
    limits: Limits | None = None,
    mounts: tuple[Mount, ...] = (),
    environment: tuple[tuple[str, str], ...] = (),
) -> Completed:
    invocation = Invocation(
        ("python", "-c", code, *arguments), environment, "/opt/src", mounts, seconds
    )
    return engine.run(built, invocation, limits or Limits())
