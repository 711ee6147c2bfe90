"""Every file that `envspec compile` writes, as one set of texts. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection

from envspec import __version__
from envspec.emit.dockerfile import dockerfile
from envspec.emit.nix import flake, flake_lock
from envspec.emit.requirements import checksum_lists, requirement_lists
from envspec.plan import model as plan
from envspec.plan.digest import build_digest
from envspec.plan.document import dumps

MANIFEST = "manifest.json"
DOCKER, NIX, APPTAINER = "docker", "nix", "apptainer"
DEVCONTAINER, COMPOSE, KUBERNETES = "devcontainer", "compose", "kubernetes"
TARGETS = (DOCKER, NIX, APPTAINER, DEVCONTAINER, COMPOSE, KUBERNETES)
DEFAULT_TARGETS = (DOCKER, NIX)
# Targets whose files build the image from the Dockerfile beside them.
_FROM_DOCKERFILE = frozenset({DOCKER, DEVCONTAINER, COMPOSE, KUBERNETES})


def outputs(
    value: plan.Plan,
    spec_text: str,
    lock_text: str,
    targets: Collection[str] = DEFAULT_TARGETS,
) -> dict[str, str]:
    """File name → text. `manifest.json` holds the sha256 of the rest, spec and lock included."""
    files = {
        **_target_files(value, targets),
        **requirement_lists(value),
        **checksum_lists(value),
        "plan.json": dumps(value),
    }
    manifest = {
        "manifest": 1,
        "envspec": __version__,
        "project": value.project,
        "targets": [target for target in TARGETS if target in targets],
        "build": build_digest(value),
        "inputs": {value.spec: _sha256(spec_text), "spec.lock": _sha256(lock_text)},
        "files": {name: _sha256(text) for name, text in sorted(files.items())},
    }
    return {**files, MANIFEST: json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"}


def _target_files(value: plan.Plan, targets: Collection[str]) -> dict[str, str]:
    """The files of the targets; those that few ask for are imported when they are asked for."""
    files: dict[str, str] = {}
    if not _FROM_DOCKERFILE.isdisjoint(targets):
        files["Dockerfile"] = dockerfile(value)
    if NIX in targets:
        files |= {"flake.nix": flake(value), "flake.lock": flake_lock(value)}
    if APPTAINER in targets:
        from envspec.emit.apptainer import apptainer  # noqa: PLC0415

        files["apptainer.def"] = apptainer(value)
    if DEVCONTAINER in targets:
        from envspec.emit.devcontainer import devcontainer  # noqa: PLC0415

        files["devcontainer.json"] = devcontainer(value)
    if COMPOSE in targets:
        from envspec.emit.compose import compose  # noqa: PLC0415

        files["compose.yaml"] = compose(value)
    if KUBERNETES in targets:
        from envspec.emit.kubernetes import kubernetes  # noqa: PLC0415

        files["kubernetes.yaml"] = kubernetes(value)
    return files


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
