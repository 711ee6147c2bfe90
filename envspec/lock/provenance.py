"""What a lock says of how it was made, from this installation: tools, facts, nixpkgs, driver."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from envspec import __version__, facts
from envspec.facts import lookup
from envspec.facts.nixpkgs import nixpkgs as newest_nixpkgs
from envspec.lock.model import LockedPackage, Nixpkgs
from envspec.machines import MACHINES


def tools(resolver: str) -> tuple[tuple[str, str], ...]:
    """(Name, version) of the programs that took part beside the resolver, by name.

    pip-tools resolves with pip and under this Python, so both decide what it finds.
    """
    found = {"envspec": __version__}
    if resolver == "pip-tools":
        found["python"] = ".".join(map(str, sys.version_info[:3]))
        try:
            found["pip"] = version("pip")
        except PackageNotFoundError:
            found["pip"] = ""
    return tuple(sorted(found.items()))


def facts_digest() -> str:
    """The sha256 over all tables of facts: two installations with one digest know the same."""
    whole = hashlib.sha256()
    folder = Path(facts.__file__).parent
    for path in sorted([*folder.glob("*.toml"), *folder.glob("*.json")]):
        # Line ends may differ between a checkout and an installation.
        text = path.read_bytes().replace(b"\r\n", b"\n")
        whole.update(f"{path.name} {len(text)}\n".encode())
        whole.update(text)
    return whole.hexdigest()


def nixpkgs() -> Nixpkgs:
    """The revision that this installation would pin."""
    pin = newest_nixpkgs()
    return Nixpkgs(pin.owner, pin.repo, pin.rev, pin.nar_hash, pin.last_modified)


def driver(
    packages: Iterable[LockedPackage], os_arch: str, kind: str, toolkit: str
) -> tuple[str, str]:
    """(CUDA, oldest Linux driver) for what is locked; empty where there is none or none is known.

    The CUDA is that of the locked torch; without one, that which the spec states.
    """
    if kind != "cuda":
        return "", ""
    torch = next((p.version for p in packages if p.name == "torch"), "")
    row = lookup.torch_build(torch, machine=MACHINES[os_arch]) if torch else None
    cuda = (row.cuda if row else None) or toolkit
    return cuda, (cuda and lookup.required_driver(cuda, relies_on_ptx=False)) or ""
