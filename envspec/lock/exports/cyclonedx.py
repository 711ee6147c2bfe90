"""A lock as a CycloneDX 1.6 bill of materials.

The serial number follows from the content, so the same lock gives the same bytes, and there is no
date but one that is given. Package URLs name no host: the index is a property, by its alias.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any
from urllib.parse import quote
from uuid import UUID

from envspec import __version__
from envspec.lock.graph import SPEC, Graph
from envspec.lock.model import Artefact, Lock, LockedPackage

_PROJECT, _BASE = "project", "base-image"


def cyclonedx(lock: Lock, project: str, timestamp: str = "") -> str:
    """The JSON text. ``project`` is the name of the environment; ``timestamp`` a moment in
    RFC 3339, ``""`` for none."""
    graph = Graph(lock.packages, lock.extensions)
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
            "properties": _properties(lock.source),
        },
    }
    if timestamp:
        metadata = {"timestamp": timestamp, **metadata}
    packages = sorted(lock.packages)
    body = {
        "version": 1,
        "metadata": metadata,
        "components": [
            _base(lock),
            _component(lock.installer, "installer", scope="excluded"),
            *(_component(p, _ref(p.name), scope="required") for p in packages),
        ],
        "dependencies": [
            {
                "ref": _PROJECT,
                "dependsOn": [_BASE, "installer", *(_ref(n) for n in graph.below.get(SPEC, ()))],
            },
            {"ref": _BASE},
            {"ref": "installer"},
            *(
                {"ref": _ref(p.name), "dependsOn": [_ref(n) for n in graph.below[p.name]]}
                if graph.below[p.name]
                else {"ref": _ref(p.name)}
                for p in packages
            ),
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


def _ref(name: str) -> str:
    """Reference of a package inside the document; no other component's can be the same."""
    return f"package:{name}"


def _component(package: LockedPackage, ref: str, scope: str) -> dict[str, Any]:
    artefact = package.artefact
    version = quote(package.version, safe=".-_~")
    file = quote(artefact.file, safe=".-_~")
    return {
        "type": "library",
        "bom-ref": ref,
        "name": package.name,
        "version": package.version,
        "scope": scope,
        "hashes": _hashes(artefact.sha256),
        "purl": f"pkg:pypi/{package.name}@{version}?file_name={file}",
        "properties": _properties(artefact),
    }


def _base(lock: Lock) -> dict[str, Any]:
    """The image that everything stands on; in its URL, what stands before the last `/` is the
    repository, as the spec writes it."""
    bare, _, tag = lock.base_name.partition(":")
    if "/" in tag:  # the colon was that of a port
        bare, _, tag = lock.base_name.rpartition(":")
        if "/" in tag:
            bare, tag = lock.base_name, ""
    name = bare.rpartition("/")[2].lower()
    qualifiers = []
    if "/" in bare:
        qualifiers.append(f"repository_url={quote(bare, safe='.-_~/')}")
    if tag:
        qualifiers.append(f"tag={quote(tag, safe='.-_~')}")
    after = f"?{'&'.join(qualifiers)}" if qualifiers else ""
    digest = lock.base_digest
    return {
        "type": "container",
        "bom-ref": _BASE,
        "name": lock.base_name,
        "version": digest,
        "hashes": _hashes(digest.removeprefix("sha256:")),
        "purl": f"pkg:oci/{quote(name, safe='.-_~')}@{quote(digest, safe='.-_~')}{after}",
    }


def _hashes(sha256: str) -> list[dict[str, str]]:
    return [{"alg": "SHA-256", "content": sha256}]


def _properties(artefact: Artefact) -> list[dict[str, str]]:
    values = {
        "envspec:index": artefact.index,
        "envspec:file": artefact.file,
        "envspec:size": str(artefact.size) if artefact.size else "",
    }
    return [{"name": name, "value": value} for name, value in values.items() if value]
