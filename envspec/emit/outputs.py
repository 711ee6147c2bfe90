"""Every file that `envspec compile` writes, as one set of texts. Pure."""

from __future__ import annotations

import hashlib
import json

from envspec import __version__
from envspec.emit.dockerfile import dockerfile
from envspec.emit.nix import flake, flake_lock
from envspec.emit.requirements import requirement_lists
from envspec.plan import model as plan
from envspec.plan.digest import build_digest
from envspec.plan.document import dumps

MANIFEST = "manifest.json"


def outputs(value: plan.Plan, spec_text: str, lock_text: str) -> dict[str, str]:
    """File name → text. `manifest.json` holds the sha256 of the rest, spec and lock included."""
    files = {
        "Dockerfile": dockerfile(value),
        "flake.nix": flake(value),
        "flake.lock": flake_lock(value),
        **requirement_lists(value),
        "plan.json": dumps(value),
    }
    manifest = {
        "manifest": 1,
        "envspec": __version__,
        "project": value.project,
        "build": build_digest(value),
        "inputs": {value.spec: _sha256(spec_text), "spec.lock": _sha256(lock_text)},
        "files": {name: _sha256(text) for name, text in sorted(files.items())},
    }
    return {**files, MANIFEST: json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"}


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
