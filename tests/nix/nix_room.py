"""Real Nix builds: a flake in a folder, the stand-in for nixpkgs, and the nix command."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import pytest

from envspec.emit.encode import nix_string
from envspec.emit.nix import flake, flake_lock
from envspec.emit.requirements import checksum_lists, requirement_lists
from envspec.plan import model as plan

STAND_IN = Path(__file__).with_name("nixpkgs")
# What a machine without a daemon, builders and a cache needs to be told.
CONFIG = """
experimental-features = nix-command flakes
build-users-group =
sandbox = false
substituters =
max-jobs = 2
"""


def absent(why: str) -> NoReturn:
    """Skip, or fail where CI says that an engine must be there."""
    if os.environ.get("ENVSPEC_REQUIRE_ENGINE") == "1":
        pytest.fail(why, pytrace=False)
    pytest.skip(why)


class Room:
    """A folder with the outputs of a plan, and a nixpkgs of ours that stands for the real one."""

    def __init__(self, folder: Path, python: Path, version: str) -> None:
        if shutil.which("nix") is None:
            absent("nix is not installed; on Debian and Ubuntu: apt install nix-bin")
        if not os.access("/nix/store", os.W_OK):
            absent("the Nix store cannot be written by this user")
        self.flake = folder / "flake"
        self.wheels = folder / "wheels"
        self.nixpkgs = folder / "nixpkgs"
        self.links = folder / "results"
        for made in (self.flake, self.wheels, self.links):
            made.mkdir()
        shutil.copytree(STAND_IN, self.nixpkgs)
        bash, env = shutil.which("bash"), shutil.which("env")
        assert bash
        assert env
        machine = {
            "python": str(python),
            "version": version,
            "bash": bash,
            "coreutils": str(Path(env).parent),
            "path": "/usr/local/bin:/usr/bin:/bin",
        }
        text = " ".join(f"{name} = {nix_string(value)};" for name, value in machine.items())
        (self.nixpkgs / "machine.nix").write_text(f"{{ {text} }}\n")

    def compile(self, value: plan.Plan) -> None:
        """Write what `envspec compile --target nix` writes."""
        texts = {
            "flake.nix": flake(value),
            "flake.lock": flake_lock(value),
            **requirement_lists(value),
            **checksum_lists(value),
        }
        self.write(texts)

    def write(self, texts: Mapping[str, str]) -> None:
        for name, text in texts.items():
            (self.flake / name).write_text(text, encoding="utf-8")

    def fill(self, value: plan.Plan, files: Mapping[str, bytes]) -> None:
        """The folder of wheels, as `envspec fetch` lays it out."""
        for folder, members in value.layers:
            (self.wheels / folder).mkdir(exist_ok=True)
            for member in members:
                (self.wheels / folder / member.file).write_bytes(files[member.file])

    def run(
        self, *argv: str, wheels: bool = True, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """`nix` with the stand-in in place of nixpkgs."""
        overrides = ["--override-input", "nixpkgs", f"path:{self.nixpkgs}"]
        if wheels:
            overrides += ["--override-input", "wheels", f"path:{self.wheels}"]
        return self.plain(*argv, *overrides, check=check)

    def plain(self, *argv: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """`nix` as it is."""
        done = subprocess.run(
            ["nix", *argv],
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
            cwd=self.flake,
            env={**os.environ, "NIX_CONFIG": CONFIG},
        )
        assert done.returncode == 0 or not check, done.stderr[-4000:]
        return done

    def build(self, name: str = "default", *, wheels: bool = True) -> Path:
        """Build an output; the path that it has in the store, kept from the garbage collector."""
        link = self.links / name.replace("/", "-")
        target = f"path:{self.flake}#{name}"
        done = self.run(
            "build", "--json", "--print-build-logs", "--out-link", str(link), target, wheels=wheels
        )
        return Path(json.loads(done.stdout)[0]["outputs"]["out"])

    def log(self, path: Path) -> str:
        """What a build in the store printed."""
        return self.plain("log", str(path)).stdout

    def show(self) -> dict[str, Any]:
        """Every output of the flake."""
        done = self.run("flake", "show", "--json", f"path:{self.flake}")
        return dict(json.loads(done.stdout))


def this_python() -> tuple[Path, str]:
    """The interpreter below the one that runs the tests, and its version."""
    found = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    return found, "{}.{}".format(*sys.version_info)
