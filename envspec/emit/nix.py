"""The plan → `flake.nix` and `flake.lock`: the same files, by the same hashes.

Derivations, so that what changes seldom is built seldom: `environment` holds the locked wheels,
`extension-NAME` the wheel of an extension, `source` the code under test and what its steps leave.
`default` shows programs both.
"""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import NamedTuple

from envspec.emit import contract
from envspec.emit.commands import layer_lock
from envspec.emit.dockerfile import environment, labels
from envspec.emit.encode import Encoded, comment, nix_list, nix_string, shell_word, token
from envspec.emit.nix_checks import entry_checks, program_of_checks, recorded
from envspec.emit.nix_libraries import absent
from envspec.emit.nix_words import (
    attribute_set,
    attributes,
    base64_string,
    folders,
    stored_name,
    words,
)
from envspec.emit.templates import render
from envspec.plan import model as plan

_SYSTEMS = {"linux/amd64": "x86_64-linux", "linux/arm64": "aarch64-linux"}
_FROM_DISTRIBUTION = frozenset({plan.DEBS, plan.BUILD_DEBS})
_APPEND = '\n              appendRunpaths="$appendRunpaths $folder"'
_TOOLKIT_HOME = "\n          export CUDA_HOME=${cuda.cudatoolkit}"
_SCRATCH = ("HOME", "TMPDIR")  # an entry gets a folder of its own for both


class _Extension(NamedTuple):
    comment: Encoded
    name: Encoded
    attribute: Encoded
    build: Encoded
    build_path: Encoded
    label: Encoded
    version: Encoded
    list: Encoded
    folders: Encoded
    folder: Encoded
    variables: Encoded


class _Step(NamedTuple):
    comment: Encoded
    argv: Encoded


class _Script(NamedTuple):
    name: Encoded
    digest: Encoded
    content: Encoded


class _Entry(NamedTuple):
    key: Encoded
    label: Encoded
    timeout: Encoded
    variables: list[Encoded]
    argv: Encoded


def flake(value: plan.Plan) -> str:
    """The text of `flake.nix`."""
    pin = value.nixpkgs
    gpu = value.accelerator.kind == "cuda"
    compiles = bool(value.extensions) or value.compiles_apart
    toolkit = ".".join(value.accelerator.toolkit.split(".")[:2])
    cuda = gpu and compiles
    extensions = [_extension(value, step) for step in value.extensions]
    scripts = dict.fromkeys(e.script for e in value.entries if e.script)
    layers = [s.layer for s in value.steps if isinstance(s, plan.InstallWheels)]
    variables = {k: v for k, v in environment(value).items() if k in _own(value) or k != "PATH"}
    wheels = (*value.wheels, *(w for step in value.extensions for w in step.wheels))
    compilers = Encoded("cuda.cudatoolkit " if cuda else "")
    return render(
        "flake.nix.j2",
        description=nix_string(f"The environment of {value.project}, from {value.spec}"),
        spec=shell_word(value.spec),
        system_note=_system_note(value),
        nixpkgs=nix_string(f"github:{pin.owner}/{pin.repo}/{pin.rev}"),
        system=nix_string(_SYSTEMS[value.platform]),
        python=token("python" + value.python.replace(".", "")),
        interpreter=token("python" + value.python),
        files=folders([(f, files) for f, files in value.layers if f not in _FROM_DISTRIBUTION]),
        advice=nix_string(
            f"run: envspec fetch {shell_word(value.spec)} -o wheels, "
            "and add to the command: --override-input wheels path:./wheels"
        ),
        absent=nix_list(absent(value, wheels)),
        driver=_driver(toolkit if cuda else "") if gpu else Encoded(""),
        driver_path=Encoded("driver " if gpu else ""),
        append=Encoded(_APPEND if gpu else ""),
        toolkit_home=Encoded(_TOOLKIT_HOME if cuda else ""),
        compilers=compilers,
        stdenv=Encoded("cuda.backendStdenv" if cuda else "pkgs.stdenv"),
        step_compilers=compilers if value.compiles_apart else Encoded(""),
        installer=stored_name(value.installer.version),
        tools=nix_string(plan.TOOLS),
        archive=nix_string(plan.ARCHIVE),
        extensions=extensions,
        recorded=recorded(value),
        label=nix_string(contract.label(value.project)),
        tag=nix_string(contract.image(value).rpartition(":")[2]),
        folders=nix_list(layers),
        variables=attributes(variables),
        steps=[_step(value, s) for s in value.steps if isinstance(s, plan.RunStep)],
        scripts=[
            _Script(nix_string(s.name), nix_string(s.sha256), base64_string(s.content))
            for s in scripts
        ],
        entries=[_entry(value, e) for e in value.entries],
        entry_checks=entry_checks(value),
        extension_facts=_extension_facts(value),
        program_of_checks=program_of_checks(),
        created=nix_string(_moment(value.epoch)),
        prefix=token(plan.PREFIX.lstrip("/")),
        source=token(plan.SOURCE.lstrip("/")),
        scripts_folder=token(plan.ENTRIES.lstrip("/")),
        image_environment=nix_list(f"{k}={v}" for k, v in environment(value).items()),
        labels=_labels(value),
        user=nix_string(f"{contract.USER}:{contract.USER}"),
        workdir=nix_string(plan.SOURCE),
        command=nix_list([plan.INTERPRETER]),
    )


def flake_lock(value: plan.Plan) -> str:
    """The text of `flake.lock`, in the form that Nix itself writes."""
    pin = value.nixpkgs
    original = {"owner": pin.owner, "repo": pin.repo, "rev": pin.rev, "type": "github"}
    locked = {"lastModified": pin.last_modified, "narHash": pin.nar_hash, **original}
    nodes = {
        "nixpkgs": {"locked": locked, "original": original},
        "root": {"inputs": {"nixpkgs": "nixpkgs", "wheels": ["nixpkgs"]}},
    }
    return json.dumps({"nodes": nodes, "root": "root", "version": 7}, indent=2) + "\n"


def _own(value: plan.Plan) -> dict[str, str]:
    return dict(value.environment)


def _comment(value: plan.Plan, line: int, what: str) -> Encoded:
    return comment(f"{value.spec}:{line} {what}")


def _system_note(value: plan.Plan) -> list[Encoded]:
    """Packages of the distribution have no counterpart by name in nixpkgs, and are named."""
    named = [step for step in value.system if step.packages]
    if not named:
        return []
    return [
        Encoded("#"),
        comment(
            "Not in here: packages of the image's distribution, which nixpkgs does not know by"
        ),
        comment("these names. What manylinux wheels may expect of a machine is in `libraries`."),
        *(comment(f"  {value.spec}:{step.line} {' '.join(step.packages)}") for step in named),
    ]


def _extension(value: plan.Plan, step: plan.BuildExtension) -> _Extension:
    label = contract.label(step.name)
    own = plan.build_folder(step)
    shared = [plan.FRAMEWORK] if set(step.wheels) & set(value.framework) else []
    used = [*shared, *([own] if value.build_only(step) else [])]
    return _Extension(
        comment=_comment(value, step.line, f"extension {step.name} {step.version}"),
        name=nix_string(step.name),
        attribute=token(f"extension-{label}"),
        build=token(f"build-{label}"),
        build_path=Encoded(f"${{build-{token(label)}}}"),
        label=nix_string(label),
        version=stored_name(step.version),
        list=nix_string(f"/{layer_lock(own)}"),
        folders=nix_list(used),
        folder=nix_string(plan.extension_folder(step)),
        variables=attribute_set(dict(step.environment)),
    )


def _step(value: plan.Plan, step: plan.RunStep) -> _Step:
    return _Step(_comment(value, step.line, f"step {step.name}"), words(step.argv))


def _entry(value: plan.Plan, entry: plan.Entry) -> _Entry:
    own = _own(value).keys() | dict(entry.environment).keys()
    variables = contract.environment(value, entry)
    return _Entry(
        key=nix_string(entry.name),
        label=nix_string(contract.label(entry.name)),
        timeout=nix_string(str(entry.timeout)),
        variables=attributes({k: v for k, v in variables.items() if k not in _SCRATCH or k in own}),
        argv=words(entry.argv),
    )


def _extension_facts(value: plan.Plan) -> Encoded:
    """What the check of distributions does not find in `requirements.lock`."""
    sets = [
        f"{{ name = {nix_string(s.name)}; version = {nix_string(s.version)}; "
        f"modules = {nix_list(s.modules)}; }}"
        for s in value.extensions
    ]
    return Encoded("[ " + "".join(f"{text} " for text in sets) + "]")


def _driver(toolkit: str) -> Encoded:
    """Where the driver's libraries are, and the toolkit to compile with, if one is needed."""
    text = '\n      driver = "${pkgs.addDriverRunpath.driverLink}/lib";'
    if toolkit:
        packages = token("cudaPackages_" + toolkit.replace(".", "_"))
        absent_toolkit = nix_string(f"this nixpkgs has no CUDA {toolkit} to compile with")
        text += (
            "\n      # The toolkit is unfree, and taken only to compile.\n"
            "      cuda = (import nixpkgs { inherit system; config.allowUnfree = true; })"
            f".{packages} or\n        (throw {absent_toolkit});"
        )
    return Encoded(text)


def _labels(value: plan.Plan) -> list[Encoded]:
    """The labels of the image but for its base: an image of Nix stands on none."""
    return [
        Encoded(f"{nix_string(k)} = {nix_string(v)};")
        for k, v in labels(value).items()
        if ".base." not in k
    ]


def _moment(epoch: int) -> str:
    return datetime.fromtimestamp(epoch, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
