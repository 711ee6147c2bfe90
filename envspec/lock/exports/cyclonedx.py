"""A lock as a CycloneDX 1.6 bill of materials.

The serial number follows from the content, so the same lock gives the same bytes, and there is no
date but one that is given. Package URLs name no host of an index: it is a property, by its alias.

What the environment holds is `required`. What only takes part in making it is `excluded`: the
installer, the image that compiles, the distribution's packages there, the tools of builds.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from typing import Any
from uuid import UUID

from envspec import __version__
from envspec.lock.exports.places import (
    commit_of,
    deb_url,
    extension_url,
    image_url,
    release_of,
    wheel_url,
)
from envspec.lock.graph import SPEC, Graph
from envspec.lock.model import DEB_INDEX, Artefact, Deb, Lock, LockedExtension, LockedPackage

_PROJECT, _BASE, _DEVEL, _INSTALLER = "project", "base-image", "devel-image", "installer"
_REQUIRED, _EXCLUDED = "required", "excluded"


def cyclonedx(lock: Lock, project: str, timestamp: str = "") -> str:
    """The JSON text. ``project`` is the name of the environment; ``timestamp`` a moment in
    RFC 3339, ``""`` for none."""
    metadata: dict[str, Any] = {
        "lifecycles": [{"phase": "pre-build"}],
        "tools": {
            "components": [{"type": "application", "name": "envspec", "version": __version__}]
        },
        "component": {
            "type": "application",
            "bom-ref": _PROJECT,
            "name": project,
            "hashes": _hashes(lock.source.sha256),
            **_repository(lock, "source"),
            "properties": _properties(lock.source),
        },
    }
    if timestamp:
        metadata = {"timestamp": timestamp, **metadata}
    body = {
        "version": 1,
        "metadata": metadata,
        "components": list(_components(lock)),
        "dependencies": [
            {"ref": ref, "dependsOn": list(dict.fromkeys(needs))} if needs else {"ref": ref}
            for ref, needs in _dependencies(lock)
        ],
    }
    digest = hashlib.sha256(json.dumps(body).encode()).digest()
    serial = UUID(bytes=digest[:16], version=5)
    head = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{serial}",
    }
    return json.dumps({**head, **body}, indent=2, ensure_ascii=False) + "\n"


def _components(lock: Lock) -> Iterator[dict[str, Any]]:
    yield _image(_BASE, lock.base_name, lock.base_digest)
    if lock.devel_name:
        yield {**_image(_DEVEL, lock.devel_name, lock.devel_digest), "scope": _EXCLUDED}
    yield _package(lock.installer, _INSTALLER, _EXCLUDED)
    for package in sorted(lock.packages):
        yield _package(package, _ref(package.name), _REQUIRED)
    for extension in sorted(lock.extensions):
        yield _extension(lock, extension)
    for ref, package in sorted(_tools(lock).items()):
        yield _package(package, ref, _EXCLUDED)
    images = (lock.system.asked or lock.base_name, lock.devel_name or lock.base_name)
    for stage, image, debs in zip(("runtime", "build"), images, lock.system[2:], strict=True):
        release = release_of(lock, image) if debs else None
        scope = _REQUIRED if stage == "runtime" else _EXCLUDED
        for deb in sorted(debs):
            yield {
                "type": "library",
                "bom-ref": _deb_ref(stage, deb),
                "name": deb.name,
                "version": deb.version,
                "scope": scope,
                "hashes": _hashes(deb.sha256),
                "purl": deb_url(deb, release),
                "properties": _properties(Artefact(DEB_INDEX, deb.file, deb.sha256, deb.size)),
            }


def _dependencies(lock: Lock) -> Iterator[tuple[str, list[str]]]:
    """Each reference with those that it needs, in the order of the components. An extension needs
    what its build imports as well; the scope of that tells it from the rest."""
    graph, tools = Graph(lock.packages, lock.extensions), _tools(lock)
    debs = [
        _deb_ref(stage, deb)
        for stage, found in zip(("runtime", "build"), lock.system[2:], strict=True)
        for deb in sorted(found)
    ]
    images = [_BASE, _DEVEL] if lock.devel_name else [_BASE]
    asked = [_ref(name) for name in graph.below.get(SPEC, ())]
    yield _PROJECT, [*images, _INSTALLER, *asked, *debs]
    for ref in (*images, _INSTALLER):
        yield ref, []
    for package in sorted(lock.packages):
        yield _ref(package.name), [_ref(name) for name in graph.below[package.name]]
    below: dict[str, list[str]] = {}
    for extension in sorted(lock.extensions):
        needs = [_ref(name) for name in graph.below[extension.name]]
        refs = {p.name: _build_ref(lock, p) for p in extension.build}
        yield _ref(extension.name), [*needs, *refs.values()]
        edges = Graph(extension.build).below
        for package in extension.build:
            found = below.setdefault(refs[package.name], [])
            found += [refs[name] for name in edges[package.name]]
    for ref in sorted(tools):
        yield ref, sorted(below[ref])
    for ref in debs:
        yield ref, []


def _ref(name: str) -> str:
    """Reference of a package or an extension inside the document; no other component's can be the
    same."""
    return f"package:{name}"


def _build_ref(lock: Lock, package: LockedPackage) -> str:
    """What a build imports is the environment's own package where that is the same file."""
    same = any(p.name == package.name and p.artefact == package.artefact for p in lock.packages)
    return _ref(package.name) if same else f"tool:{package.name}:{package.artefact.sha256}"


def _tools(lock: Lock) -> dict[str, LockedPackage]:
    """What builds import beside the environment, each file once."""
    built = [package for extension in lock.extensions for package in extension.build]
    refs = {_build_ref(lock, package): package for package in built}
    return {ref: package for ref, package in refs.items() if ref.startswith("tool:")}


def _deb_ref(stage: str, deb: Deb) -> str:
    return f"deb:{stage}:{deb.name}:{deb.architecture}:{deb.sha256}"


def _package(package: LockedPackage, ref: str, scope: str) -> dict[str, Any]:
    return {
        "type": "library",
        "bom-ref": ref,
        "name": package.name,
        "version": package.version,
        "scope": scope,
        "hashes": _hashes(package.artefact.sha256),
        "purl": wheel_url(package),
        "properties": _properties(package.artefact),
    }


def _extension(lock: Lock, extension: LockedExtension) -> dict[str, Any]:
    """What is compiled. Its hash is that of the archive, which is what is taken in; the wheel that
    comes of it is named where its build was recorded."""
    key = f"extension {extension.name}"
    made = (("envspec:wheel", extension.wheel), ("envspec:wheel-sha256", extension.wheel_sha256))
    return {
        "type": "library",
        "bom-ref": _ref(extension.name),
        "name": extension.name,
        "version": extension.version,
        "scope": _REQUIRED,
        "hashes": _hashes(extension.artefact.sha256),
        "purl": extension_url(extension, commit_of(lock, key)),
        **_repository(lock, key),
        "properties": [*_properties(extension.artefact), *_listed(made)],
    }


def _repository(lock: Lock, key: str) -> dict[str, Any]:
    found = commit_of(lock, key)
    if found is None or not found.url:
        return {}
    comment = f"commit {found.commit}"
    return {"externalReferences": [{"type": "vcs", "url": found.url, "comment": comment}]}


def _image(ref: str, name: str, digest: str) -> dict[str, Any]:
    return {
        "type": "container",
        "bom-ref": ref,
        "name": name,
        "version": digest,
        "hashes": _hashes(digest.removeprefix("sha256:")),
        "purl": image_url(name, digest),
    }


def _hashes(sha256: str) -> list[dict[str, str]]:
    return [{"alg": "SHA-256", "content": sha256}]


def _properties(artefact: Artefact) -> list[dict[str, str]]:
    values = (
        ("envspec:index", artefact.index),
        ("envspec:file", artefact.file),
        ("envspec:size", str(artefact.size) if artefact.size else ""),
    )
    return list(_listed(values))


def _listed(values: Iterable[tuple[str, str]]) -> Iterator[dict[str, str]]:
    return ({"name": name, "value": value} for name, value in values if value)
