"""The plan → a Dockerfile whose build needs no network once the files are there.

Stages, so that what only builds stays out of the image: `wheels` and `installer` give files,
`runtime` adds the distribution's packages to the base, `toolchain` those that compile,
`build-NAME` makes the wheel of an extension, `environment` holds what is installed, `steps` runs
the spec's steps where they need the toolchain, `image` is what is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from envspec.emit import commands, contract, encode
from envspec.emit.commands import checksum_list, layer_lock
from envspec.emit.encode import Encoded
from envspec.emit.templates import render
from envspec.plan import model as plan

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_WHEELS = "/wheels"
_CONTINUED = " \\\n    "  # an instruction goes on in the next line


class Block(NamedTuple):
    """A comment that names the spec's line, and the instructions that line asks for."""

    comment: Encoded
    lines: tuple[Encoded, ...]


def dockerfile(value: plan.Plan) -> str:
    """The text of the Dockerfile."""
    runtime = [s for s in value.system if s.stage == "runtime" and s.debs]
    below = "runtime" if runtime else "base"
    steps = _blocks(_source(value))
    return render(
        "Dockerfile.j2",
        spec=encode.shell_word(value.spec),
        epoch=encode.token(str(value.epoch)),
        base_comment=_comment(value, value.base_line, f"base {value.base.name}"),
        base=_image(value.base),
        unpack_installer=_run(
            commands.unpack_installer(value, _WHEELS, _root(checksum_list(plan.TOOLS))),
            _checked(plan.TOOLS),
        ),
        place_installer=_run(commands.place_installer(value)),
        runtime=_stage("base", "runtime", [_system(value, s) for s in runtime])
        if runtime
        else Encoded(""),
        building=_building(value, below),
        environment_stage=_stage(below, "environment", _installs(value)),
        steps_stage=Encoded(f"{_steps_head(value)}{steps}") if _apart(value) else Encoded(""),
        environment=encode.docker_pairs(environment(value)),
        source=_kept() if _apart(value) else steps,
        labels=encode.docker_pairs(labels(value)),
        workdir=encode.token(plan.SOURCE),
        command=encode.docker_json([plan.INTERPRETER]),
    )


def environment(value: plan.Plan) -> dict[str, str]:
    """The variables of the image, the spec's own last."""
    result = {
        "PATH": f"{plan.PREFIX}/bin:{SYSTEM_PATH}",
        "VIRTUAL_ENV": plan.PREFIX,
        "PYTHONPATH": ":".join(value.import_roots),
    }
    if value.accelerator.kind == "cuda":
        result["NVIDIA_VISIBLE_DEVICES"] = "all"
        result["NVIDIA_DRIVER_CAPABILITIES"] = "compute,utility"
        if value.accelerator.floor:
            # The container runtime refuses to start on an older driver, and says so. A base of
            # NVIDIA's states the driver of its own toolkit, which minor versions do not need.
            result["NVIDIA_REQUIRE_CUDA"] = f"driver>={value.accelerator.floor}"
    return {**result, **dict(value.environment)}


def labels(value: plan.Plan) -> dict[str, str]:
    """What a reader of the image alone should know. Sizes are in bytes."""
    return {
        "org.opencontainers.image.title": value.project,
        "org.opencontainers.image.base.name": value.base.name,
        "org.opencontainers.image.base.digest": value.base.digest,
        "org.envspec.shm-size": str(contract.shm(value)),
    }


def _apart(value: plan.Plan) -> bool:
    """Whether the spec's steps run in a stage that is not kept."""
    return value.compiles_apart and any(isinstance(s, plan.RunStep) for s in value.steps)


def _image(image: plan.Base) -> Encoded:
    return encode.token(f"{image.name}@{image.digest}")


def _stage(below: str, name: str, blocks: Iterable[Block]) -> Encoded:
    return Encoded(f"\n\nFROM {encode.token(below)} AS {encode.token(name)}{_blocks(blocks)}")


def _blocks(blocks: Iterable[Block]) -> Encoded:
    """Blocks one below the other, an empty line before each."""
    return Encoded("".join("\n\n" + "\n".join([b.comment, *b.lines]) for b in blocks))


def _comment(value: plan.Plan, line: int, what: str) -> Encoded:
    return encode.comment(f"{value.spec}:{line} {what}")


def _building(value: plan.Plan, below: str) -> Encoded:
    """The stage with the compilers, and one for each extension."""
    if not (value.extensions or _apart(value)):
        return Encoded("")
    blocks = [_system(value, s) for s in value.system if s.stage == "build" and s.debs]
    if value.devel is None:
        toolchain = _stage(below, "toolchain", blocks)
    else:
        comment = _comment(value, value.devel_line, f"devel {value.devel.name}")
        head = f"\n\n{comment}\nFROM {_image(value.devel)} AS toolchain"
        toolchain = Encoded(head + _blocks(blocks))
    stages = [_extension(value, step) for step in value.extensions]
    return Encoded("".join([toolchain, *stages, _built(value)]))


def _built(value: plan.Plan) -> Encoded:
    """The stage that holds the wheels alone, for whoever wants to keep them."""
    copies = [
        f"COPY --from={_build_stage(step)} {plan.BUILD_DIST} /{encode.option(step.name)}"
        for step in value.extensions
    ]
    head = "\n\n# The wheels of extensions, and nothing else.\n"
    stage = f"FROM scratch AS {plan.EXTENSIONS}\n"
    return Encoded(head + stage + "\n".join(copies)) if copies else Encoded("")


def _system(value: plan.Plan, step: plan.InstallSystem) -> Block:
    """One layer without the distribution's lists and logs."""
    folder = plan.DEBS if step.stage == "runtime" else plan.BUILD_DEBS
    argv = commands.install_system(_WHEELS, _root(checksum_list(folder)))
    what = f"system packages, {step.stage}: {' '.join(step.packages)}"
    return Block(_comment(value, step.line, what), (_run(argv, _checked(folder)),))


def _extension(value: plan.Plan, step: plan.BuildExtension) -> Encoded:
    """The stage that compiles one extension; its wheel is all that leaves it."""
    name, lock = _build_stage(step), layer_lock(plan.build_folder(step))
    interpreter = f"{plan.BUILD_PREFIX}/bin/python"
    shared = [plan.FRAMEWORK] if set(step.wheels) & set(value.framework) else []
    own = [plan.build_folder(step)] if value.build_only(step) else []
    mounts = "".join(_mount_files(f, f"{_WHEELS}/{f}") for f in (*shared, *own))
    folders = [f"{_WHEELS}/{f}" for f in (*shared, *own)]
    create = commands.create_environment(value.python, plan.BUILD_PREFIX)
    install = commands.install_wheels(folders, _root(lock), interpreter)
    archive = plan.extension_folder(step)
    unpack = commands.unpack(
        step.archive, plan.BUILD_SOURCE, _WHEELS, _root(checksum_list(archive))
    )
    lines = [
        Encoded(f"FROM toolchain AS {name}"),
        # The toolchain's own PATH stays behind it: that is where a devel image has nvcc.
        Encoded(f'ENV PATH="{plan.BUILD_PREFIX}/bin:${{PATH}}"'),
        _run(create, _mount_installer()),
        _run(install, mounts + _mount_installer() + _mount_list(lock)),
        Encoded(f"WORKDIR {plan.BUILD_SOURCE}"),
        _run(unpack, _checked(archive)),
        _run(commands.build_extension(step), _mount_installer()),
    ]
    if step.sha256:
        sums = checksum_list(plan.wheel_folder(step))
        lines.append(_run(commands.check_built(_root(sums)), _mount_list(sums)))
    comment = _comment(value, step.line, f"extension {step.name} {step.version}")
    return Encoded("\n\n" + "\n".join([comment, *lines]))


def _installs(value: plan.Plan) -> list[Block]:
    """What stands in the prefix: the environment, its wheels, and those that were compiled."""
    blocks: list[Block] = []
    for step in value.steps:
        if isinstance(step, plan.CreateEnvironment):
            run = _run(commands.create_environment(step.python, step.prefix), _mount_installer())
            blocks.append(Block(_comment(value, step.line, f"python {step.python}"), (run,)))
        elif isinstance(step, plan.InstallWheels):
            lock = layer_lock(step.layer)
            mounts = _mount_files(step.layer) + _mount_installer() + _mount_list(lock)
            run = _run(commands.install_wheels([_WHEELS], _root(lock)), mounts)
            blocks.append(
                Block(_comment(value, step.line, f"packages, layer {step.layer}"), (run,))
            )
        elif isinstance(step, plan.BuildExtension):
            mounts = _bind(plan.EXTENSIONS, step.name, _WHEELS) + _mount_installer()
            run = _run(commands.install_built(step, _WHEELS), mounts)
            blocks.append(Block(_comment(value, step.line, f"extension {step.name}"), (run,)))
    return blocks


def _steps_head(value: plan.Plan) -> Encoded:
    """The stage of the steps. The environment is shown read-only: what a step would write into
    it would be lost, and so it fails instead."""
    variables = environment(value)
    path = f'PATH="{plan.PREFIX}/bin:${{PATH}}"'
    del variables["PATH"]
    return Encoded(
        "\n\n# Steps of the spec, where the compilers are; only the source folder is kept.\n"
        f"FROM toolchain AS steps\nENV {path} {encode.docker_pairs(variables)}"
    )


def _source(value: plan.Plan) -> list[Block]:
    """The source, and the steps that run in it."""
    shown = _bind("environment", plan.PREFIX, plan.PREFIX) if _apart(value) else Encoded("")
    blocks: list[Block] = []
    for step in value.steps:
        if isinstance(step, plan.UnpackSource):
            sums = _root(checksum_list(plan.ARCHIVE))
            tar = commands.unpack(step.archive, step.destination, _WHEELS, sums)
            lines = (
                Encoded(f"WORKDIR {encode.token(step.destination)}"),
                _run(tar, _checked(plan.ARCHIVE)),
            )
            blocks.append(Block(_comment(value, step.line, f"source {step.archive.file}"), lines))
        elif isinstance(step, plan.RunStep):
            run = _run(step.argv, shown)
            blocks.append(Block(_comment(value, step.line, f"step {step.name}"), (run,)))
    return blocks


def _kept() -> Encoded:
    return Encoded(f"\nCOPY --from=steps {plan.SOURCE} {plan.SOURCE}")


def _build_stage(step: plan.BuildExtension) -> Encoded:
    return encode.token(f"build-{step.name}")


def _root(name: str) -> str:
    return f"/{name}"


def _checked(folder: str) -> Encoded:
    """The mounts of files that are compared with a list of checksums."""
    return Encoded(_mount_files(folder) + _mount_list(checksum_list(folder)))


def _mount_files(folder: str, target: str = _WHEELS) -> Encoded:
    return _bind("wheels", folder, target)


def _mount_list(name: str) -> Encoded:
    file = encode.option(name)
    return Encoded(f"{_CONTINUED}--mount=type=bind,source={file},target=/{file}")


def _mount_installer() -> Encoded:
    return _bind("installer", commands.INSTALLER, commands.INSTALLER)


def _bind(stage: str, source: str, target: str) -> Encoded:
    parts = [encode.option(part) for part in (stage, source, target)]
    return Encoded(_CONTINUED + "--mount=type=bind,from={},source={},target={}".format(*parts))


def _run(argv: Sequence[str], mounts: str = "") -> Encoded:
    return Encoded(f"RUN --network=none{mounts}{_CONTINUED}{encode.docker_json(argv)}")
