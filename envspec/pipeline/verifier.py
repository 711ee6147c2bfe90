"""Who verifies, and where: what a report says of this installation and this machine."""

from __future__ import annotations

import hashlib
import platform

from envspec import resources
from envspec.build import host
from envspec.lock.provenance import facts_digest
from envspec.report.document import Verifier


def verifier(gpus: int) -> Verifier:
    """What verifies here. ``gpus`` is how many GPUs the host has."""
    return Verifier(
        facts_sha256=facts_digest(),
        probes_sha256=probes_digest(),
        system=platform.system(),
        machine=platform.machine(),
        kernel=platform.release(),
        glibc=host.glibc(),
        gpus=gpus,
    )


def probes_digest() -> str:
    """The sha256 over all probes: two installations with one digest look with the same eyes."""
    whole = hashlib.sha256()
    folder = resources.folder("probes")
    for path in sorted(folder.rglob("*.py")):
        # Line ends may differ between a checkout and an installation.
        text = path.read_bytes().replace(b"\r\n", b"\n")
        whole.update(f"{path.relative_to(folder).as_posix()} {len(text)}\n".encode())
        whole.update(text)
    return whole.hexdigest()
