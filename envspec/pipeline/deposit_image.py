"""An image by its digest, as an OCI archive in a deposit.

Docker hands out what it has, and with its containerd store that is the very manifest that the
digest names. Only what hangs from that manifest is kept, each blob compared with its own digest,
in an archive whose bytes follow from the digest alone.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from envspec.diagnostics import DiagnosticError
from envspec.interrupt import terminable
from envspec.lock.packing import folder, tar
from envspec.lock.packing.entries import Entry
from envspec.plan.model import Base
from envspec.render import visible
from envspec.reporter import Reporter

_SECONDS = 3600
_LARGEST_DOCUMENT = 4 << 20
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
_CHUNK = 4 << 20


def save(base: Base, platform: str, to: Path, work: Path, reporter: Reporter) -> None:
    """Write an image to ``to``; ``work`` is an empty folder for what is half done.

    Raises:
        DiagnosticError: E0507 where Docker does not have it, cannot pull it, or does not keep
            images by their digest.
        OSError: nothing can be written.
    """
    reference = f"{base.name}@{base.digest}"
    reporter.stage(f"saving the image {reference}")
    docker = shutil.which("docker")
    if docker is None:
        raise _refused(reference, "the `docker` command is missing")
    if _docker([docker, "image", "inspect", "--format", "{{.Id}}", reference]):
        reporter.line("it is not on this machine: pulling it")
        why = _docker([docker, "pull", "--quiet", "--platform", platform, reference])
        if why:
            raise _refused(reference, f"it is not on this machine, and cannot be pulled: {why}")
    raw, blobs = work / "saved.tar", work / "image"
    blobs.mkdir()
    why = _docker([docker, "save", "--output", str(raw), reference])
    if why:
        # Docker says of a full disk only that it could not write.
        if "no space left" in why:
            raise OSError(28, os.strerror(28))
        raise _refused(reference, f"docker does not save it: {why}")
    try:
        with tarfile.open(raw, "r:") as saved:
            layout = _Layout(saved, platform, reference)
            descriptor = layout.root(base.digest)
            for digest in layout.needed(descriptor):
                layout.unpack(digest, blobs)
    except tarfile.TarError:
        raise _refused(reference, "what docker saved is no archive") from None
    raw.unlink()
    _write(blobs / "oci-layout", {"imageLayoutVersion": "1.0.0"})
    kept = {name: descriptor[name] for name in ("mediaType", "digest", "size")}
    kept["annotations"] = {"io.containerd.image.name": _full_name(base.name)}
    _write(blobs / "index.json", {"schemaVersion": 2, "manifests": [kept]})
    tar.pack(".", entries(blobs), folder.read, to)


def entries(top: Path) -> list[Entry]:
    """The plain files of a folder of our own, in the order in which they are packed."""
    files = [path for path in top.rglob("*") if path.is_file()]
    found = [
        Entry(
            os.fsencode(path.relative_to(top).as_posix()),
            path.stat().st_size,
            executable=False,
            target=None,
            place=os.fsencode(path),
        )
        for path in files
    ]
    return sorted(found, key=lambda entry: entry.path)


class _Layout:
    """An OCI layout in an archive. Nothing in it is trusted before its digest was compared."""

    def __init__(self, saved: tarfile.TarFile, platform: str, reference: str) -> None:
        self._saved = saved
        self._reference = reference
        system, _, machine = platform.partition("/")
        self._platform = (system, machine.partition("/")[0])
        self._members = {m.name.removeprefix("./"): m for m in saved if m.isreg()}

    def root(self, digest: str) -> dict[str, Any]:
        """The descriptor of the image in the layout's index."""
        index = self._document("index.json")
        for found in _descriptors(index.get("manifests")):
            if found["digest"] == digest:
                return found
        raise _refused(
            self._reference,
            "docker saves another manifest than it pulled: it does not keep images by their digest",
            "turn on Docker's containerd image store",
        )

    def needed(self, descriptor: dict[str, Any]) -> Iterator[str]:
        """Digests of the blobs of an image, for one platform of those that an index names."""
        digest = descriptor["digest"]
        yield digest
        document = self._document(_place(digest))
        if "manifests" in document:
            fitting = [
                d for d in _descriptors(document["manifests"]) if self._fits(d.get("platform"))
            ]
            if not fitting:
                raise _refused(self._reference, "it is not for the platform of the spec")
            yield from self.needed(fitting[0])
            return
        for one in _descriptors([document.get("config"), *(document.get("layers") or [])]):
            yield one["digest"]

    def _fits(self, stated: object) -> bool:
        if not isinstance(stated, dict):
            return False
        return (stated.get("os"), stated.get("architecture")) == self._platform

    def unpack(self, digest: str, to: Path) -> None:
        """Put a blob below ``to``, if it is what its name says."""
        member = self._members.get(_place(digest))
        content = self._saved.extractfile(member) if member else None
        if content is None:
            raise _refused(self._reference, f"docker saved no blob {digest}")
        path = to / _place(digest)
        path.parent.mkdir(parents=True, exist_ok=True)
        found = hashlib.sha256()
        with path.open("wb") as file:
            while chunk := content.read(_CHUNK):
                found.update(chunk)
                file.write(chunk)
        if f"sha256:{found.hexdigest()}" != digest:
            raise _refused(self._reference, f"the blob {digest} has another content")

    def _document(self, name: str) -> dict[str, Any]:
        member = self._members.get(name)
        content = self._saved.extractfile(member) if member else None
        try:
            data = content.read(_LARGEST_DOCUMENT) if content else b""
            document = json.loads(data)
        except (ValueError, RecursionError):
            document = None
        if not isinstance(document, dict):
            raise _refused(
                self._reference,
                f"docker saved no OCI layout: it has no readable `{name}`",
                "turn on Docker's containerd image store",
            )
        return document


def _descriptors(stated: object) -> list[dict[str, Any]]:
    return [
        one
        for one in (stated if isinstance(stated, list) else [])
        if isinstance(one, dict)
        and _DIGEST.fullmatch(str(one.get("digest")))
        and isinstance(one.get("size"), int)
        and isinstance(one.get("mediaType"), str)
    ]


def _place(digest: str) -> str:
    return "blobs/" + digest.replace(":", "/")


def _full_name(name: str) -> str:
    """A name as registries know it, which Docker wants of an archive that it loads."""
    first, slash, _ = name.partition("/")
    if slash and (set(first) & {".", ":"} or first == "localhost"):
        return name
    return f"docker.io/{name}" if slash else f"docker.io/library/{name}"


def _write(path: Path, document: object) -> None:
    path.write_text(json.dumps(document, sort_keys=True, separators=(",", ":")), "utf-8")


def _docker(argv: list[str]) -> str:
    """Run it; ``""`` where it went well, else its last words."""
    with terminable():
        try:
            done = subprocess.run(
                argv,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_SECONDS,
                check=False,
                stdin=subprocess.DEVNULL,
            )
        except (OSError, subprocess.TimeoutExpired):
            return "the `docker` command does not start, or does not end"
    if done.returncode == 0:
        return ""
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return visible(lines[-1].strip()[:300]) if lines else f"it ended with {done.returncode}"


def _refused(reference: str, why: str, hint: str = "") -> DiagnosticError:
    return DiagnosticError.of(
        "E0507",
        f"the image `{visible(reference)}` cannot be put into the deposit",
        cause=why,
        hint=hint
        or "pull it where its registry answers, or leave out `--with-base`: the deposit "
        "then names it by its digest",
    )
