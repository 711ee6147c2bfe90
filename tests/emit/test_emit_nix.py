"""The flake, read by Nix itself where it is installed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from emit_sample import HOSTILE, nix, nix_values, sample, wheel

from envspec.diagnostics import DiagnosticError
from envspec.emit.nix import flake, flake_lock
from envspec.plan import model as plan

ROOT = Path(__file__).parents[2]
RESERVED = ("let", "in", "if", "with", "rec", "inherit", "packages", "name", "shellHook", "system")


def outputs(text: str) -> Any:
    """What a flake's text holds, with a stand-in for nixpkgs that gives arguments back."""
    return nix_values(
        f"""
        let
          flake = {text};
          echo = arguments: arguments;
          python = {{ pkgs.fetchPypi = w: "/fetched/${{w.pname}}"; outPath = "/python"; }};
          pkgs = {{
            inherit python;
            python311 = python; python312 = python;
            requireFile = w: "/given/${{w.name}}";
            runCommand = name: _: script: script;
            stdenv = {{ mkDerivation = a: a.pname + a.installPhase; cc.cc.lib = "/lib"; }};
            mkShell = echo;
            uv = "/uv"; autoPatchelfHook = "/hook";
          }};
          made = flake.outputs {{ self = {{}}; nixpkgs.legacyPackages.x86_64-linux = pkgs; }};
        in {{
          inherit (flake) description inputs;
          packages = made.packages;
          shell = made.devShells.x86_64-linux.default;
        }}
        """.replace("${./requirements.lock}", "/requirements.lock")
    )


def test_flake_is_parsed_and_holds_the_plan() -> None:
    value = sample(environment=(("OFFLINE", "1"), ("B", "x y")))
    text = flake(value)
    nix("--parse", text=text)
    found = outputs(text)
    assert found["inputs"]["nixpkgs"]["url"] == f"github:NixOS/nixpkgs/{'b' * 40}"
    assert "demo" in found["description"]
    assert list(found["packages"]) == ["x86_64-linux"]
    shell = found["shell"]
    assert {**shell, **shell.get("env", {})}["OFFLINE"] == "1"
    assert {**shell, **shell.get("env", {})}["B"] == "x y"


def test_every_wheel_is_there_by_its_hash() -> None:
    value = sample()
    wheels = nix_values(re.search(r"wheels = (\[.*?\]);", flake(value), re.DOTALL)[1])  # type: ignore[index]
    assert [(w["file"], w["sha256"], w["index"]) for w in wheels] == [
        (w.file.file, w.file.sha256, w.file.index) for w in value.wheels
    ]
    einops = next(w for w in wheels if w["file"].startswith("einops"))
    assert einops["pypi"] == {
        "pname": "einops",
        "version": "1.0",
        "dist": "py3",
        "python": "py3",
        "abi": "none",
        "platform": "any",
    }


def test_a_wheel_with_a_build_tag_is_left_to_the_user() -> None:
    tagged = wheel("a")._replace(file=wheel("a").file._replace(file="a-1.0-1-py3-none-any.whl"))
    text = flake(sample(steps=(plan.InstallWheels("packages", (tagged,), 1), sample().source)))
    assert "pypi = " not in text


@pytest.mark.parametrize("hostile", HOSTILE, ids=ascii)
def test_hostile_values_stay_values(hostile: str) -> None:
    value = sample(
        project=hostile, spec=hostile or "spec.env", environment=(("A", hostile), ("B", "b"))
    )
    text = flake(value)
    nix("--parse", text=text)
    found = outputs(text)
    assert hostile in found["description"]
    shell = {**found["shell"], **found["shell"].get("env", {})}
    assert (shell["A"], shell["B"]) == (hostile, "b")


@pytest.mark.parametrize("name", RESERVED)
def test_any_name_of_a_variable_is_just_a_name(name: str) -> None:
    found = outputs(flake(sample(environment=((name, "x"),))))
    shell = found["shell"]
    assert {**shell, **shell.get("env", {})}[name] == "x"
    assert len(shell["packages"]) == 1


@pytest.mark.parametrize("where", ["spec", "project", "variable", "file"])
def test_control_characters_are_refused(where: str) -> None:
    evil = "x\ny"
    bad = wheel("a")._replace(file=wheel("a").file._replace(file=evil))
    changes: dict[str, dict[str, Any]] = {
        "spec": {"spec": evil},
        "project": {"project": evil},
        "variable": {"environment": (("A", evil),)},
        "file": {"steps": (plan.InstallWheels("packages", (bad,), 1), sample().source)},
    }
    with pytest.raises(DiagnosticError, match="E0603"):
        flake(sample(**changes[where]))


def test_platforms() -> None:
    text = flake(sample(platform="linux/arm64", python="3.12"))
    assert '"aarch64-linux"' in text
    assert "pkgs.python312;" in text


def test_lock_pins_the_same_revision_by_its_hash() -> None:
    value = sample()
    nodes = json.loads(flake_lock(value))["nodes"]
    locked = nodes["nixpkgs"]["locked"]
    assert (locked["rev"], locked["narHash"]) == (value.nixpkgs.rev, value.nixpkgs.nar_hash)
    assert locked["lastModified"] == 1700000000
    assert nodes["root"]["inputs"] == {"nixpkgs": "nixpkgs"}


@pytest.mark.parametrize(
    "path", sorted((ROOT / "generated").glob("*/flake.nix")), ids=lambda p: p.parent.name
)
def test_committed_flakes_are_parsed(path: Path) -> None:
    nix("--parse", text=path.read_text(encoding="utf-8"))
