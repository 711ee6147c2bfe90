"""What is measured: equal recipes for EnvSpec and its neighbours, and specs made in memory."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

from envspec.language.parse import parse
from envspec.language.resolve import resolve
from envspec.lock import file as lock_file
from envspec.lock.model import Artefact, Lock, LockedPackage, Nixpkgs
from envspec.lock.spec_inputs import resolution_inputs
from envspec.source import SourceFile

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "x-transformers"
LOCKED = 200


class Made(NamedTuple):
    """A spec and its lock, as texts."""

    source: SourceFile
    lock: SourceFile


def example_lock() -> Lock:
    """The lock of the example that is compiled, built and verified."""
    path = EXAMPLE / "spec.lock"
    return lock_file.loads(path.read_text(encoding="utf-8"), SourceFile(str(path), ""))


def pins(lock: Lock) -> list[str]:
    """`name==version` of every locked package, without the local part no index is asked for."""
    return [f"{p.name}=={p.version.split('+')[0]}" for p in lock.packages]


def made(number: int, stated: int) -> Made:
    """Spec ``number``: `LOCKED` packages are locked and ``stated`` of them stand in the spec.

    No two numbers share a package name, a version or a digest, so nothing that is remembered
    from one spec helps with the next.
    """
    archive = _digest(f"source {number}")
    names = [f"package-{number}-{i}" for i in range(LOCKED)]
    versions = [f"{1 + i % 7}.{number}.{i}" for i in range(LOCKED)]
    lines = [
        f"  {name} =={version}" + (f' because "use {i} of {number}"' if i % 10 == 0 else "")
        for i, (name, version) in enumerate(zip(names[:stated], versions, strict=False))
    ]
    text = _SPEC.format(number=number, archive=archive, packages="\n".join(lines))
    source = SourceFile(f"spec-{number}.env", text)
    spec = resolve(parse(source), source)
    packages = tuple(
        LockedPackage(
            name, version, _wheel(name, version), tuple(names[i + 1 : i + 3]), (names[i - 1],)
        )
        for i, (name, version) in enumerate(zip(names, versions, strict=True))
    )
    lock = Lock(
        inputs=resolution_inputs(spec),
        base_name="python:3.11-slim-bookworm",
        base_digest=f"sha256:{_digest('base')}",
        source=Artefact("pypi", f"project_{number}-1.0.tar.gz", archive, 100_000),
        installer=LockedPackage("uv", "0.9.0", _wheel("uv", "0.9.0"), (), ("spec",)),
        packages=packages,
        resolver="uv",
        resolver_version="0.9.0",
        tools=(("envspec", "0.1.0"),),
        facts=_digest("facts"),
        nixpkgs=Nixpkgs("NixOS", "nixpkgs", "b" * 40, f"sha256-{'A' * 43}=", 1_700_000_000),
    )
    return Made(source, SourceFile(f"spec-{number}.lock", lock_file.dumps(lock)))


def _wheel(name: str, version: str) -> Artefact:
    file = f"{name.replace('-', '_')}-{version}-cp311-cp311-manylinux_2_28_x86_64.whl"
    return Artefact("pypi", file, _digest(file), 1_000_000)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


_SPEC = """\
envspec 1

project project-{number} {{
  source archive "project_{number}-1.0.tar.gz" sha256 "{archive}" from pypi
}}

platform linux/amd64 {{
  base   "python:3.11-slim-bookworm"
  python 3.11
  glibc  >=2.28
}}

accelerator none

packages {{
{packages}
}}

env {{
  NUMBER="{number}"
}}

entry smoke {{
  level   c1
  run     "python" "-c" "import project_{number}"
  timeout 5m
}}

claims {{
  python_version 3.11
  cuda_available false
  c0_missing     0
  c0             pass
  c1             pass
  c4             unstated
}}
"""
