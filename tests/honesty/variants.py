"""Specs made from examples/x-transformers: honest ones and lying ones.

A variant changes claims, entries or the source, never the packages, so that all share one set of
built layers.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import subprocess
import sys
import tarfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from envspec.lock import file as lock_file
from envspec.lock.model import Artefact
from envspec.lock.spec_inputs import resolution_inputs
from envspec.pipeline.load import load
from envspec.report import reader
from envspec.source import SourceFile

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "x-transformers"


@dataclass(frozen=True)
class Variant:
    """What differs from the example. ``script`` is the text of the C1 entry, None for none;
    ``added`` are files put into the source archive."""

    claims: dict[str, str]
    script: str | None = (EXAMPLE / "smoke.py").read_text()
    timeout: str = "5m"
    added: dict[str, str] = field(default_factory=dict)
    optional: tuple[str, ...] = ()


def write(variant: Variant, folder: Path, sdist: Path) -> Path:
    """The variant as a spec with its lock in ``folder``; the path of the spec."""
    example = (EXAMPLE / "spec.env").read_text()
    head = example[: example.index("# A small TransformerWrapper")]
    lock = lock_file.loads((EXAMPLE / "spec.lock").read_text(), SourceFile("spec.lock", ""))
    if variant.added:
        archive = folder / "variant.tar.gz"
        archive.write_bytes(_with(sdist.read_bytes(), variant.added))
        digest = hashlib.sha256(archive.read_bytes()).hexdigest()
        start = head.index("  source archive")
        end = head.index("\n", start)
        head = f'{head[:start]}  source archive "{archive.name}" sha256 "{digest}"{head[end:]}'
        lock = lock._replace(source=Artefact("", archive.name, digest, archive.stat().st_size))
    parts = [head]
    if variant.optional:
        lines = [f'  optional {name} because "not needed here"\n' for name in variant.optional]
        parts += ["imports {\n", *lines, "}\n"]
    if variant.script is not None:
        (folder / "entry.py").write_text(variant.script)
        parts.append(
            f'entry smoke {{\n  level c1\n  script "entry.py"\n  timeout {variant.timeout}\n}}\n'
        )
    if variant.claims:
        lines = [f"  {name} {value}\n" for name, value in variant.claims.items()]
        parts += ["claims {\n", *lines, "}\n"]
    spec = folder / "spec.env"
    spec.write_text("".join(parts))
    loaded = load(spec)
    lock = lock._replace(inputs=resolution_inputs(loaded.spec))
    loaded.lock_path.write_text(lock_file.dumps(lock))
    return spec


def verify(spec: Path, engine: str) -> tuple[int, dict[str, Any], str]:
    """Run the command; its exit code, its report, and what it said on stderr."""
    report = spec.with_name("report.json")
    argv = [sys.executable, "-m", "envspec", "verify", str(spec), "--engine", engine, "--frozen"]
    argv += ["--format", "json", "--report", str(report)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=1500)
    if not done.stdout.lstrip().startswith('{\n  "schema": 1,\n  "envspec"'):
        raise AssertionError(f"no report: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    assert reader.read(report) == json.loads(done.stdout)
    return done.returncode, json.loads(done.stdout), done.stderr


def _with(archive: bytes, added: dict[str, str]) -> bytes:
    """The archive with files added in its top folder; the same bytes every time."""
    out = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(archive)) as old,
        gzip.GzipFile(fileobj=out, mode="wb", mtime=0) as stream,
        tarfile.open(fileobj=stream, mode="w") as new,
    ):
        members = old.getmembers()
        for member in members:
            new.addfile(member, old.extractfile(member) if member.isfile() else None)
        top = members[0].name.split("/")[0]
        for name, text in sorted(added.items()):
            info = tarfile.TarInfo(f"{top}/{name}")
            info.size, info.mode = len(text.encode()), 0o644
            new.addfile(info, io.BytesIO(text.encode()))
    return out.getvalue()
