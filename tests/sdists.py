"""Source archives made by hand, a spec of a few lines, and the way from it to locked extensions."""

from __future__ import annotations

import gzip
import io
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from local_index import Wheel, make_wheel

from envspec.language.parse import parse
from envspec.language.resolve import resolve as read_spec
from envspec.lock.extensions.join import attributed
from envspec.lock.extensions.prepare import Prepared, prepare
from envspec.lock.extensions.settle import lock_extensions
from envspec.lock.model import LockedExtension, LockedPackage
from envspec.lock.request import Request
from envspec.lock.resolve import resolve
from envspec.lock.spec_request import request_of
from envspec.lock.store import Store
from envspec.model import Spec
from envspec.source import SourceFile

HERE = f"{sys.version_info.major}.{sys.version_info.minor}"

# A build that leaves a trace wherever it runs: on import, in a hook, in a subprocess.
MARKING = "import pathlib\npathlib.Path({marker!r}).write_text('run')\n"


def pack(files: Mapping[str, str | bytes], top: str = "x-1.0") -> bytes:
    """A ``.tar.gz`` with the files below ``top``, the same bytes each time."""
    buffer = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as zipped,
        tarfile.open(fileobj=zipped, mode="w") as archive,
    ):
        for path, text in files.items():
            data = text.encode() if isinstance(text, str) else text
            member = tarfile.TarInfo(f"{top}/{path}" if top else path)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def pkg_info(name: str, version: str, requires: tuple[str, ...] = (), metadata: str = "2.1") -> str:
    lines = [f"Metadata-Version: {metadata}", f"Name: {name}", f"Version: {version}"]
    return "\n".join([*lines, *(f"Requires-Dist: {line}" for line in requires), "", "About it.\n"])


def make_sdist(
    name: str,
    version: str,
    requires: tuple[str, ...] = (),
    files: Mapping[str, str] | None = None,
    ending: str = ".tar.gz",
) -> Wheel:
    """A source archive as an index has it (named `Wheel` for what it is to the index: a file)."""
    stem = f"{name.replace('-', '_')}-{version}"
    content = {"PKG-INFO": pkg_info(name, version, requires), "setup.py": "", **(files or {})}
    return Wheel(stem + ending, pack(content, stem))


BUILDERS = (
    make_wheel("torch", "2.5", ("numpy",)),
    make_wheel("numpy", "1.26"),
    make_wheel("numpy", "2.2"),
    make_wheel("setuptools", "69.0"),
    make_wheel("setuptools", "80.0"),
    make_wheel("wheel", "0.45", ("packaging",)),
    make_wheel("packaging", "25.0"),
)
"""What the default needs of a build resolve to; each is a file of Python alone."""


def written(extensions: str, packages: str = "torch ==2.5") -> tuple[Spec, SourceFile]:
    """A spec for the Python that runs the tests."""
    digest = "a" * 64
    text = f"""envspec 1
project p {{
  source archive "p-1.tar.gz" sha256 "{digest}"
}}
platform linux/amd64 {{
  base "python:{HERE}-slim-bookworm"
  python {HERE}
}}
accelerator none
packages {{
  {packages}
}}
{extensions}
entry run {{
  level c1
  run "python"
}}
"""
    source = SourceFile("spec.env", text)
    return read_spec(parse(source), source), source


class Room(NamedTuple):
    """Where a test locks: an index, a store, a client that gives up soon."""

    index: Any
    kit: Any
    folder: Path

    def request(self, spec: Spec, source: SourceFile, **more: Any) -> Request:
        return request_of(spec, source)._replace(**more)

    def prepare(self, spec: Spec, source: SourceFile, **more: Any) -> Prepared:
        taken = {key: more.pop(key) for key in ("packed", "origins") if key in more}
        request = self.request(spec, source, **more)
        indexes = self.kit.indexes(request.indexes)
        return prepare(spec, request, indexes, Store(self.folder), self.kit.notes(), **taken)

    def lock(
        self, spec: Spec, source: SourceFile, resolver: str = "uv", **more: Any
    ) -> tuple[tuple[LockedPackage, ...], tuple[LockedExtension, ...]]:
        prepared = self.prepare(spec, source, **more)
        indexes, notes = self.kit.indexes(prepared.request.indexes), self.kit.notes()
        found = resolve(prepared.request, resolver, notes, indexes)
        packages = attributed(prepared, found.packages)
        return packages, lock_extensions(prepared, packages, resolver, notes, indexes)
