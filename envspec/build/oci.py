"""Reading OCI archives that a build wrote: the digest of the image, and where two of them differ.

Every layer is a tar archive inside the archive. Only layers that differ are looked into.
"""

from __future__ import annotations

import hashlib
import json
import tarfile
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

_BUFFER = 1 << 20
_ABSENT = ("absent",)


class Layer(NamedTuple):
    """A layer by its digest, and the instruction that made it, ``""`` for one of the base's."""

    digest: str
    made_by: str


class Archive(NamedTuple):
    """An image: the digest of its manifest, and its layers from the bottom up."""

    path: Path
    digest: str
    config: str
    layers: tuple[Layer, ...]


class Changed(NamedTuple):
    """A file that two layers hold differently: what differs, and the instruction."""

    file: str
    what: str
    made_by: str


def read(path: Path) -> Archive:
    """The image of an OCI archive.

    Raises:
        ValueError: it holds no image, or more than one.
        OSError, tarfile.TarError: it cannot be read.
    """
    with tarfile.open(path) as archive:
        index = _json(archive, "index.json")
        manifests = index.get("manifests", [])
        if len(manifests) != 1:
            raise ValueError(f"an archive of one image was expected, it holds {len(manifests)}")
        digest = str(manifests[0]["digest"])
        manifest = _json(archive, _blob(digest))
        config = str(manifest["config"]["digest"])
        history = _json(archive, _blob(config)).get("history", [])
    made = [str(h.get("created_by", "")) for h in history if not h.get("empty_layer")]
    digests = [str(layer["digest"]) for layer in manifest["layers"]]
    # A base may have layers without history; what this build added is at the end.
    made = [*([""] * (len(digests) - len(made))), *made][-len(digests) :] if digests else []
    return Archive(path, digest, config, tuple(map(Layer, digests, made)))


def compare(first: Archive, second: Archive) -> tuple[Changed, ...]:
    """The files in which two images differ, layer by layer; the image's own settings are
    called ``(image settings)``."""
    if len(first.layers) != len(second.layers):
        what = f"{len(first.layers)} layers, then {len(second.layers)}"
        return (Changed("(layers)", what, ""),)
    found: list[Changed] = []
    for one, other in zip(first.layers, second.layers, strict=True):
        if one.digest != other.digest:
            before, after = _members(first.path, one), _members(second.path, other)
            found += [
                Changed(
                    name, _what(before.get(name, _ABSENT), after.get(name, _ABSENT)), one.made_by
                )
                for name in sorted(before.keys() | after.keys())
                if before.get(name) != after.get(name)
            ]
            if before == after:
                # The same files in another order, or another compression.
                found.append(Changed("(the archive itself)", "order or packing", one.made_by))
    if not found and first.config != second.config:
        found.append(Changed("(image settings)", "history or configuration", ""))
    return tuple(found)


def _what(before: tuple[Any, ...], after: tuple[Any, ...]) -> str:
    if _ABSENT in (before, after):
        return "is in one build only"
    names = ("kind", "mode", "owner", "time", "link", "size", "content")
    return ", ".join(n for n, a, b in zip(names, before, after, strict=True) if a != b)


def _members(path: Path, layer: Layer) -> dict[str, tuple[Any, ...]]:
    """Name → everything of a member that can differ."""
    found: dict[str, tuple[Any, ...]] = {}
    with tarfile.open(path) as archive:
        blob = archive.extractfile(_blob(layer.digest))
        if blob is None:
            raise ValueError(f"the archive lacks {layer.digest}")
        with closing(blob), tarfile.open(fileobj=blob) as members:
            for member in members:
                content = _content(members, member) if member.isreg() else ""
                owner = (member.uid, member.gid, member.devmajor, member.devminor)
                found[member.name] = (
                    member.type,
                    member.mode,
                    owner,
                    member.mtime,
                    member.linkname,
                    member.size,
                    content,
                )
    return found


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> str:
    file = archive.extractfile(member)
    digest = hashlib.sha256()
    while file is not None and (part := file.read(_BUFFER)):
        digest.update(part)
    return digest.hexdigest()


def _json(archive: tarfile.TarFile, name: str) -> Any:
    file = archive.extractfile(name)
    if file is None:
        raise ValueError(f"the archive lacks {name}")
    return json.loads(file.read())


def _blob(digest: str) -> str:
    return "blobs/" + digest.replace(":", "/", 1)
