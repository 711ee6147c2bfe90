"""The flake, read by Nix itself where it is installed. Builds are in tests/nix."""

from __future__ import annotations

import base64
import hashlib
import json
import random
from pathlib import Path
from typing import Any

import pytest
from emit_sample import HOSTILE, entry, file, nix, nix_values, sample, wheel

from envspec.diagnostics import DiagnosticError
from envspec.emit.encode import nix_string
from envspec.emit.nix import flake, flake_lock
from envspec.emit.nix_libraries import DRIVER, absent
from envspec.emit.nix_words import base64_string, folders, path_list, word, words
from envspec.plan import model as plan

ROOT = Path(__file__).parents[2]
RESERVED = ("let", "in", "if", "with", "rec", "inherit", "packages", "name", "shellHook", "system")
CUDA = plan.Accelerator("cuda", "12.8", "525", ("sm_90",))
UNCOMPILED = tuple(
    s for s in sample().steps if not isinstance(s, (plan.BuildExtension, plan.InstallSystem))
)
# What breaks out of Nix, of a shell inside it, or of a string with two quotes.
PIECES = (
    *('"', "'", "''", "\\", "\\\\", "$", "$$", "${", "${x}", "''${x}", "$(id)", "`id`", "}", "{"),
    *("\\n", "\\${", "'''", "''\\", " ", "#", "/*", "*/", "é", "字", "𝒳", "\u00a0", "$out", "-"),
    *("<nixpkgs>", "builtins", "~", "%s", "&&", "|", "../", "/nix/store/", "@", ";"),
)  # fmt: skip


def hostile_texts(count: int) -> list[str]:
    """Texts of pieces, the same ones each time."""
    chance = random.Random(4)
    made = set(HOSTILE)
    while len(made) < count:
        made.add("".join(chance.choices(PIECES, k=chance.randint(1, 8))))
    return sorted(made)


def outputs(text: str) -> Any:
    """What a flake's text holds, with a stand-in for nixpkgs that gives arguments back."""
    return nix_values(
        f"""
        let
          flake = {text};
          echo = arguments: arguments;
          python = {{ pkgs.fetchPypi = w: "/fetched/${{w.pname}}"; outPath = "/python"; }};
          derived = name: a: a // {{ outPath = "/built/${{name}}"; }};
          pkgs = {{
            lib = {{
              concatMapStringsSep = s: f: list: builtins.concatStringsSep s (map f list);
              escapeShellArg = builtins.toJSON;
              escapeShellArgs = list: builtins.concatStringsSep " " (map builtins.toJSON list);
              removeSuffix = s: t:
                builtins.substring 0 (builtins.stringLength t - builtins.stringLength s) t;
            }};
            inherit python;
            python311 = python; python312 = python;
            requireFile = w: "/given/${{w.name}}";
            runCommand = name: _: script: derived name {{ inherit script; }};
            writeText = name: text: "/written/${{name}}";
            writeShellScript = name: text: derived name {{ inherit text; }};
            stdenv.mkDerivation = a: derived "${{a.pname}}-${{a.version}}" a;
            mkShell = echo;
            dockerTools.buildLayeredImage = echo;
            pythonManylinuxPackages.manylinux2014 = [ ];
            addDriverRunpath.driverLink = "/run/opengl-driver";
            autoPatchelfHook = "/hook"; bash = "/bash"; coreutils = "/coreutils";
          }};
          made = flake.outputs {{
            self = {{}};
            nixpkgs.legacyPackages.x86_64-linux = pkgs;
            wheels.outPath = "/nowhere";
          }};
        in {{
          inherit (flake) description inputs;
          shell = made.devShells.x86_64-linux.default;
          environment = removeAttrs made.packages.x86_64-linux.environment [ "outPath" ];
          image = removeAttrs made.packages.x86_64-linux.image [ "contents" ];
          apps = made.apps.x86_64-linux;
        }}
        """.replace("./requirements.lock", '"/requirements.lock"').replace("./. +", '"" +')
    )


def test_flake_is_parsed_and_holds_the_plan() -> None:
    value = sample(environment=(("OFFLINE", "1"), ("B", "x y")), entries=(entry(),))
    text = flake(value)
    nix("--parse", text=text)
    found = outputs(text)
    assert found["inputs"]["nixpkgs"]["url"] == f"github:NixOS/nixpkgs/{'b' * 40}"
    assert found["inputs"]["wheels"] == {"flake": False, "follows": "nixpkgs"}
    assert "demo" in found["description"]
    assert found["shell"]["env"]["OFFLINE"] == "1"
    assert found["shell"]["env"]["B"] == "x y"
    assert found["shell"]["env"]["VIRTUAL_ENV"] == "/built/demo-env"
    assert found["shell"]["env"]["PYTHONPATH"] == "/built/demo-source"
    assert found["apps"] == {
        "default": {"type": "app", "program": "/built/demo/bin/python"},
        "smoke": {"type": "app", "program": "/built/smoke"},
    }
    assert found["image"]["config"]["User"] == "65534:65534"


def test_every_file_is_there_by_its_hash_in_its_folder() -> None:
    value = sample()
    lines = folders([(f, files) for f, files in value.layers if "debs" not in f])
    found = nix_values("{ " + "\n".join(lines) + " }")
    assert found == {
        folder: [{"index": f.index, "file": f.file, "sha256": f.sha256} for f in files]
        for folder, files in value.layers
        if "debs" not in folder
    }
    for line in lines:
        assert line in flake(value)


def test_a_name_that_the_store_refuses_gets_another() -> None:
    odd = file("a-1!2.0-py3-none-any.whl")
    (found,) = nix_values("{ " + folders([("x", (odd,))])[0] + " }")["x"]
    assert found["name"] == f"file-{odd.sha256[:16]}"


def test_packages_of_the_distribution_are_named_and_not_asked_for() -> None:
    text = flake(sample())
    assert "#   spec.env:20 libgl1\n#   spec.env:21 g++\n" in text
    assert ".deb" not in text
    assert "image's distribution" not in flake(sample(steps=sample().steps[2:]))


def test_libraries_that_may_be_missing_follow_from_the_plan() -> None:
    def named(value: plan.Plan, *names: str) -> list[str]:
        return absent(value, [wheel(name) for name in names])

    gpu = sample(accelerator=CUDA)
    assert named(sample(), "torch", "nvidia-ml-py") == []
    assert named(gpu, "torch") == sorted(DRIVER)
    assert {"libcuda.so.1", "libnvidia-ml.so.1", "libnvcuvid.so.1"} <= set(DRIVER)
    more = set(named(gpu, "nvidia-cufile-cu12")) - set(DRIVER)
    assert more == {"libibverbs.so.1", "libmlx5.so.1", "librdmacm.so.1"}
    assert set(named(gpu, "nvidia-cufile")) - set(DRIVER) == more, "as of CUDA 13"
    assert "libmpi.so.40" in named(gpu, "nvidia-nvshmem-cu13")
    assert named(sample(), "numba") == ["libtbb.so.12"]
    found = outputs(flake(gpu._replace(steps=UNCOMPILED)))["environment"]
    assert found["autoPatchelfIgnoreMissingDeps"] == sorted(DRIVER)


def test_runpaths_lead_to_the_driver_only_where_there_is_one() -> None:
    without = outputs(flake(sample()))["environment"]
    assert without["appendRunpaths"] == ["$ORIGIN"]
    found = outputs(flake(sample(accelerator=CUDA, steps=UNCOMPILED)))["environment"]
    assert found["appendRunpaths"] == ["$ORIGIN", "/run/opengl-driver/lib"]
    assert "nvidia/*/lib" in found["installPhase"]


def test_paths_of_the_image_are_paths_of_the_store() -> None:
    where = 'let source = "/s"; environment = "/e"; scripts = "/x"; in '
    argv = (plan.SOURCE, f"{plan.SOURCE}/a b", f"{plan.PREFIX}/bin/x", f"{plan.ENTRIES}/s.py")
    apart = (f"{plan.SOURCE}-more", f"--root={plan.SOURCE}", "/opt", f"{plan.SOURCE}/${{source}}")
    assert nix_values(where + words((*argv, *apart))) == [
        *("/s", "/s/a b", "/e/bin/x", "/x/s.py"),
        *(f"{plan.SOURCE}-more", f"--root={plan.SOURCE}", "/opt", "/s/${source}"),
    ]
    joined = f"{plan.SOURCE}:{plan.SOURCE}/src:/usr/lib"
    assert nix_values(where + path_list(joined)) == "/s:/s/src:/usr/lib"


def test_400_hostile_texts_come_back_from_the_evaluator() -> None:
    texts = hostile_texts(400)
    assert len(set(texts)) == 400
    assert nix_values("[ " + " ".join(nix_string(t) for t in texts) + " ]") == texts
    assert nix_values("[ " + " ".join(word(t) for t in texts) + " ]") == texts
    assert nix_values("[ " + " ".join(path_list(t) for t in texts) + " ]") == texts
    assert nix_values(words(texts)) == texts


def test_400_hostile_variables_come_back_from_the_flake() -> None:
    texts = hostile_texts(400)
    pairs = tuple((f"V{n}", t) for n, t in enumerate(texts))
    found = outputs(flake(sample(environment=pairs)))["shell"]["env"]
    assert [found[name] for name, _ in pairs] == texts


@pytest.mark.parametrize("hostile", HOSTILE, ids=ascii)
def test_hostile_values_stay_values(hostile: str) -> None:
    value = sample(
        project=hostile,
        spec=hostile or "spec.env",
        environment=(("A", hostile), ("B", "b")),
        steps=(*sample().steps, plan.RunStep(hostile, (hostile,), 1)),
        entries=(entry(name=hostile, argv=(hostile,), script=plan.Script.of(hostile, b"x")),),
    )
    text = flake(value)
    nix("--parse", text=text)
    found = outputs(text)
    assert hostile in found["description"]
    assert (found["shell"]["env"]["A"], found["shell"]["env"]["B"]) == (hostile, "b")
    assert found["apps"].keys() == {"default", hostile}


def test_a_script_is_there_byte_by_byte_with_its_hash() -> None:
    content = bytes(range(256)) * 1000
    found = nix_values(base64_string(content))
    assert base64.b64decode(found) == content
    text = flake(sample(entries=(entry(script=plan.Script.of("a.py", content)),)))
    assert hashlib.sha256(content).hexdigest() in text
    nix("--parse", text=text)


@pytest.mark.parametrize("name", RESERVED)
def test_any_name_of_a_variable_is_just_a_name(name: str) -> None:
    shell = outputs(flake(sample(environment=((name, "x"),))))["shell"]
    assert shell["env"][name] == "x"
    assert len(shell["packages"]) == 1


@pytest.mark.parametrize("where", ["spec", "project", "variable", "file", "step", "entry"])
def test_control_characters_are_refused(where: str) -> None:
    evil = "x\ny"
    bad = wheel("a")._replace(file=wheel("a").file._replace(file=evil))
    changes: dict[str, dict[str, Any]] = {
        "spec": {"spec": evil},
        "project": {"project": evil},
        "variable": {"environment": (("A", evil),)},
        "file": {"steps": (plan.InstallWheels("packages", (bad,), 1), sample().source)},
        "step": {"steps": (*sample().steps, plan.RunStep("x", (evil,), 1))},
        "entry": {"entries": (entry(argv=(evil,)),)},
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
    assert nodes["root"]["inputs"] == {"nixpkgs": "nixpkgs", "wheels": ["nixpkgs"]}


@pytest.mark.parametrize(
    "path", sorted((ROOT / "generated").glob("*/flake.nix")), ids=lambda p: p.parent.name
)
def test_committed_flakes_are_parsed(path: Path) -> None:
    nix("--parse", text=path.read_text(encoding="utf-8"))
