"""The plan → `flake.nix` and `flake.lock`: the same wheels, by the same hashes."""

from __future__ import annotations

import json

from envspec.emit.encode import Encoded, nix_string, shell_word, token
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
        wheels=[_wheel(w) for w in value.wheels],
        source=_attributes(_file(value.source.archive)),
        spec=shell_word(value.spec),
        name=nix_string(value.project),
        variables=[Encoded(f"{token(k)} = {nix_string(v)};") for k, v in value.environment],
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


def _file(file: plan.File) -> dict[str, Encoded]:
    return {
        "index": nix_string(file.index),
        "file": nix_string(file.file),
        "sha256": nix_string(file.sha256),
    }


def _wheel(wheel: plan.Wheel) -> Encoded:
    known = _pypi(wheel) if wheel.file.index == "pypi" else {}
    return _attributes({**_file(wheel.file), **known})


def _pypi(wheel: plan.Wheel) -> dict[str, Encoded]:
    """What nixpkgs' fetchPypi needs to find a wheel, read off its file name."""
    parts = wheel.file.file.removesuffix(".whl").split("-")
    if len(parts) != 5:  # a build tag: fetchPypi knows none
        return {}
    name, version, python, abi, platform = parts
    known = {"pname": name, "version": version, "dist": python, "python": python, "abi": abi}
    attributes = {k: nix_string(v) for k, v in known.items()}
    return {"pypi": _attributes({**attributes, "platform": nix_string(platform)})}


def _attributes(values: dict[str, Encoded]) -> Encoded:
    return Encoded("{ " + "".join(f"{k} = {v}; " for k, v in values.items()) + "}")
