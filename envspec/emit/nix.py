"""The plan → `flake.nix` and `flake.lock`: the same wheels, by the same hashes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import islice

from envspec.emit.encode import Encoded, nix_string, nix_strings, shell_word, token
from envspec.emit.templates import render
from envspec.plan import model as plan

_SYSTEMS = {"linux/amd64": "x86_64-linux", "linux/arm64": "aarch64-linux"}


def flake(value: plan.Plan) -> str:
    """The text of `flake.nix`."""
    pin = value.nixpkgs
    return render(
        "flake.nix.j2",
        description=nix_string(f"The environment of {value.project}, from {value.spec}"),
        nixpkgs=nix_string(f"github:{pin.owner}/{pin.repo}/{pin.rev}"),
        system=nix_string(_SYSTEMS[value.platform]),
        python=token("python" + value.python.replace(".", "")),
        wheels=_wheels(value.wheels),
        source=_file(value.source.archive),
        advice=nix_string(
            f"run: envspec fetch {shell_word(value.spec)} -o wheels, then "
            "nix-store --add-fixed sha256 on "
        ),
        name=nix_string(value.project),
        variables=[Encoded(f"{nix_string(k)} = {nix_string(v)};") for k, v in value.environment],
    )


def flake_lock(value: plan.Plan) -> str:
    """The text of `flake.lock`, in the form that Nix itself writes."""
    pin = value.nixpkgs
    original = {"owner": pin.owner, "repo": pin.repo, "rev": pin.rev, "type": "github"}
    locked = {"lastModified": pin.last_modified, "narHash": pin.nar_hash, **original}
    nodes = {
        "nixpkgs": {"locked": locked, "original": original},
        "root": {"inputs": {"nixpkgs": "nixpkgs"}},
    }
    return json.dumps({"nodes": nodes, "root": "root", "version": 7}, indent=2) + "\n"


def _file(file: plan.File) -> Encoded:
    index, name, sha256 = nix_strings((file.index, file.file, file.sha256))
    return Encoded(f"{{ index = {index}; file = {name}; sha256 = {sha256}; }}")


def _wheels(wheels: Sequence[plan.Wheel]) -> list[Encoded]:
    """An attribute set for each wheel. What they hold is quoted all at once: a flake has
    hundreds of them, with eight texts each."""
    known = [_pypi(wheel.file) for wheel in wheels]
    texts: list[str] = []
    for (_, _, (index, file, sha256, _)), parts in zip(wheels, known, strict=True):
        texts += (index, file, sha256, *parts)
    quoted = iter(nix_strings(texts) if texts else ())
    sets: list[Encoded] = []
    for parts, index, file, sha256 in zip(known, quoted, quoted, quoted, strict=False):
        pypi = ""
        if parts:
            pname, version, python, abi, platform = islice(quoted, 5)
            pypi = (
                f"pypi = {{ pname = {pname}; version = {version}; dist = {python}; "
                f"python = {python}; abi = {abi}; platform = {platform}; }}; "
            )
        text = f"{{ index = {index}; file = {file}; sha256 = {sha256}; {pypi}}}"
        sets.append(Encoded(text))
    return sets


def _pypi(file: plan.File) -> Sequence[str]:
    """What nixpkgs' fetchPypi needs to find a wheel, read off its file name: name, version,
    python, abi, platform. Empty where it cannot: another index, or a build tag, which
    fetchPypi does not know."""
    parts = file.file.removesuffix(".whl").split("-")
    return parts if file.index == "pypi" and len(parts) == 5 else ()
