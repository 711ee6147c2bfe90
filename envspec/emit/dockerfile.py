"""The plan → a Dockerfile whose build needs no network once the files are there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from envspec.emit import commands, encode
from envspec.emit.commands import layer_lock
from envspec.emit.encode import Encoded
from envspec.emit.templates import render
from envspec.plan import model as plan

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# What stands below the variables of the image, and what runs with them set.
_LAYERS = (plan.CreateEnvironment, plan.InstallWheels)
_STEPS = (plan.UnpackSource, plan.RunStep)
_WHEELS = "/wheels"


class Block(NamedTuple):
    """A comment that names the spec's line, and the instructions that line asks for."""

    comment: Encoded
    lines: tuple[Encoded, ...]


def dockerfile(value: plan.Plan) -> str:
    """The text of the Dockerfile."""
    return render(
        "Dockerfile.j2",
        spec=encode.shell_word(value.spec),
        base_comment=_comment(value, value.base_line, f"base {value.base.name}"),
        base=encode.token(f"{value.base.name}@{value.base.digest}"),
        system=_blocks(_system(value, s) for s in value.steps if isinstance(s, plan.InstallSystem)),
        unpack_installer=encode.docker_json(commands.unpack_installer(value, _WHEELS)),
        allow_installer=encode.docker_json(commands.place_installer(value)),
        layers=_blocks(_block(value, s) for s in value.steps if isinstance(s, _LAYERS)),
        steps=_blocks(_block(value, s) for s in value.steps if isinstance(s, _STEPS)),
        environment=encode.docker_pairs(environment(value)),
        labels=encode.docker_pairs({"org.opencontainers.image.title": value.project}),
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
    return {**result, **dict(value.environment)}


def _blocks(blocks: Iterable[Block]) -> Encoded:
    """Blocks one below the other, an empty line before each."""
    return Encoded("".join("\n\n" + "\n".join([b.comment, *b.lines]) for b in blocks))


def _comment(value: plan.Plan, line: int, what: str) -> Encoded:
    return encode.comment(f"{value.spec}:{line} {what}")


def _system(value: plan.Plan, step: plan.InstallSystem) -> Block:
    """One layer without the distribution's lists; names were shape-checked, and are quoted too."""
    script = commands.install_system(step)
    run = Encoded(f"RUN {encode.docker_json(['sh', '-ec', script])}")
    return Block(_comment(value, step.line, "system packages"), (run,))


def _block(value: plan.Plan, step: plan.Step) -> Block:
    if isinstance(step, plan.CreateEnvironment):
        argv = commands.create_environment(step)
        what = f"python {step.python}"
        return Block(_comment(value, step.line, what), (_run(argv, _mount_installer()),))
    if isinstance(step, plan.InstallWheels):
        return Block(_comment(value, step.line, f"packages, layer {step.layer}"), (_install(step),))
    if isinstance(step, plan.UnpackSource):
        tar = commands.unpack_source(step, _WHEELS)
        lines = (
            Encoded(f"WORKDIR {encode.token(step.destination)}"),
            _run(tar, _mount_files(plan.ARCHIVE)),
        )
        return Block(_comment(value, step.line, f"source {step.archive.file}"), lines)
    if isinstance(step, plan.RunStep):
        run = _run(list(step.argv), Encoded(""))
        return Block(_comment(value, step.line, f"step {step.name}"), (run,))
    raise TypeError(f"no block for {type(step).__name__}")


def _install(step: plan.InstallWheels) -> Encoded:
    lock = layer_lock(step.layer)
    argv = commands.install_wheels(_WHEELS, f"/{lock}")
    mounts = (
        _mount_files(step.layer)
        + _mount_installer()
        + f" --mount=type=bind,source={encode.token(lock)},target=/{encode.token(lock)}"
    )
    return _run(argv, Encoded(mounts))


def _mount_files(layer: str) -> Encoded:
    folder = encode.token(layer)
    return Encoded(f" --mount=type=bind,from=wheels,source={folder},target={_WHEELS}")


def _mount_installer() -> Encoded:
    return Encoded(
        f" --mount=type=bind,from=installer,source={commands.INSTALLER},target={commands.INSTALLER}"
    )


def _run(argv: list[str], mounts: Encoded) -> Encoded:
    return Encoded(f"RUN --network=none{mounts} {encode.docker_json(argv)}")
