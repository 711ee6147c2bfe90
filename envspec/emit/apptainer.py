"""The plan → `apptainer.def`: the same environment from the same wheels, for machines without
Docker.

Two things in a definition come before the shell: a line that begins with ``%`` begins a section,
and ``{{ NAME }}`` is a build argument. Every line here begins with a word of ours, and
`encode.definition_word` leaves no two braces side by side.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence

from envspec.diagnostics import DiagnosticError
from envspec.emit import commands, contract
from envspec.emit.dockerfile import SYSTEM_PATH, environment
from envspec.emit.encode import Encoded, definition_comment, definition_text, definition_word, token
from envspec.emit.requirements import checksum_lists, requirement_lists
from envspec.emit.templates import render
from envspec.plan import model as plan

_WHEELS = "/opt/envspec-wheels"
# Apptainer reads a definition with a buffer of 64 KiB: no section may be longer.
_MAX_SECTION = 60_000
_EVERYTHING = "requirements.lock"  # the list that nothing installs from


def apptainer(value: plan.Plan) -> str:
    """The text of `apptainer.def`."""
    if value.devel:
        raise DiagnosticError.of(
            "E0603",
            "an Apptainer definition cannot be made of a spec with a `devel` image",
            cause="it is built in one stage, and extensions would be compiled in the base",
            hint="compile for docker, build the image, and convert it with "
            "`apptainer build NAME.sif docker-archive:IMAGE.tar`",
        )
    locks = sorted({**requirement_lists(value), **checksum_lists(value)}.keys() - {_EVERYTHING})
    parts = {
        "post": _post(value),
        "environment": _exports(environment(value)),
        "test": _tests(value),
    }
    for name, text in parts.items():
        _check_size(name, text)
    return render(
        "apptainer.def.j2",
        spec=definition_comment(f"From {value.spec}, built without envspec:"),
        base=token(f"{_untagged(value.base.name)}@{value.base.digest}"),
        base_comment=definition_comment(f"{value.spec}:{value.base_line} base {value.base.name}"),
        files=[
            *(
                _file(f"{{{{ wheels }}}}/{folder}", f"{_WHEELS}/{folder}")
                for folder in _folders(value)
            ),
            *(_file(lock, f"{_WHEELS}/{lock}") for lock in locks),
        ],
        title=definition_text(value.project),
        interpreter=definition_word(plan.INTERPRETER),
        apps=_apps(value),
        **parts,
    )


def _untagged(image: str) -> str:
    """An image's name alone: Apptainer takes a tag or a digest, and refuses both together."""
    folder, slash, name = image.rpartition("/")
    return folder + slash + name.split(":")[0]


def _folders(value: plan.Plan) -> list[str]:
    return [folder for folder, _ in value.layers]


def _file(source: str, target: str) -> Encoded:
    """A line of %files: both names are ours, made of a folder's or a list's name."""
    token(target)
    return Encoded(f"    {source} {target}")


def _line(argv: Iterable[str]) -> Encoded:
    return Encoded("    " + " ".join(definition_word(a) for a in argv))


def _exports(variables: dict[str, str]) -> Encoded:
    return _joined(
        Encoded(f"    export {token(k)}={definition_word(v)}") for k, v in variables.items()
    )


def _joined(lines: Iterable[Encoded]) -> Encoded:
    return Encoded("\n".join(lines))


def _post(value: plan.Plan) -> Encoded:
    lines: list[Encoded] = [_line(["set", "-eu"]), _line(["umask", "022"])]
    prepared = exported = False
    for step in value.steps:
        # The installer needs the interpreter, which may be a system package; steps of the spec
        # see the variables of the image, and what comes before them does not.
        if not isinstance(step, plan.InstallSystem) and not prepared:
            prepared = True
            lines += [_line(commands.unpack_installer(value, *_folder(plan.TOOLS)))]
            lines += [_line(commands.place_installer(value))]
        if isinstance(step, (plan.UnpackSource, plan.RunStep)) and not exported:
            exported = True
            lines.append(_exports(environment(value)))
        lines += [Encoded("    " + c) for c in _step(value, step)]
    for script in _scripts(value):
        lines += _written(script)
    lines += [_line(commands.clean_up()), _line(["rm", "-rf", _WHEELS])]
    return _joined(lines)


def _step(value: plan.Plan, step: plan.Step) -> list[str]:
    if isinstance(step, plan.InstallSystem):
        folder = plan.DEBS if step.stage == "runtime" else plan.BUILD_DEBS
        argvs = [commands.install_system(*_folder(folder))] if step.debs else []
        what = f"system packages, {step.stage}"
    elif isinstance(step, plan.CreateEnvironment):
        argvs, what = (
            [commands.create_environment(step.python, step.prefix)],
            f"python {step.python}",
        )
    elif isinstance(step, plan.InstallWheels):
        lock = f"{_WHEELS}/{commands.layer_lock(step.layer)}"
        argvs = [commands.install_wheels([f"{_WHEELS}/{step.layer}"], lock)]
        what = f"packages, layer {step.layer}"
    elif isinstance(step, plan.BuildExtension):
        argvs, what = _extension(value, step), f"extension {step.name} {step.version}"
    elif isinstance(step, plan.UnpackSource):
        argvs = [
            ["mkdir", "-p", step.destination],
            commands.unpack(step.archive, step.destination, *_folder(plan.ARCHIVE)),
            ["cd", step.destination],
        ]
        what = f"source {step.archive.file}"
    else:
        # A command of its own, never a word of this shell: `exit` or `export` is looked up like
        # `make`.
        argvs, what = [["env", "--", *step.argv]], f"step {step.name}"
    note = definition_comment(f"{value.spec}:{step.line} {what}")
    return [note, *(_line(argv).strip() for argv in argvs)]


def _folder(name: str) -> tuple[str, str]:
    """A folder of the wheelhouse, and the list that its files are checked by."""
    return f"{_WHEELS}/{name}", f"{_WHEELS}/{commands.checksum_list(name)}"


def _extension(value: plan.Plan, step: plan.BuildExtension) -> list[list[str]]:
    """Compile an extension where everything else is; what that took is removed again."""
    folder = plan.build_folder(step)
    folders = [plan.FRAMEWORK, *([folder] if value.build_only(step) else [])]
    lock = f"{_WHEELS}/{commands.layer_lock(folder)}"
    python = f"{plan.BUILD_PREFIX}/bin/python"
    archive = _folder(plan.extension_folder(step))
    path = f"PATH={plan.BUILD_PREFIX}/bin:{SYSTEM_PATH}"
    argvs = [
        commands.create_environment(value.python, plan.BUILD_PREFIX),
        commands.install_wheels([f"{_WHEELS}/{f}" for f in folders], lock, python),
        ["mkdir", "-p", plan.BUILD_SOURCE],
        commands.unpack(step.archive, plan.BUILD_SOURCE, *archive),
        ["env", path, *commands.build_extension(step)],
    ]
    if step.sha256:
        sums = commands.checksum_list(plan.wheel_folder(step))
        argvs.append(commands.check_built(f"{_WHEELS}/{sums}"))
    install = commands.install_built(step, plan.BUILD_DIST)
    return [*argvs, install, ["rm", "-rf", plan.BUILD_PREFIX, plan.BUILD_SOURCE, plan.BUILD_DIST]]


def _scripts(value: plan.Plan) -> list[plan.Script]:
    return list(dict.fromkeys(e.script for e in value.entries if e.script))


def _written(script: plan.Script) -> Sequence[Encoded]:
    """Commands that put a script where entries expect it; there is no mount on such machines."""
    path = f"{plan.ENTRIES}/{script.name}"
    content = definition_word(base64.b64encode(script.content).decode("ascii"))
    return (
        _line(["mkdir", "-p", path.rsplit("/", 1)[0]]),
        Encoded(f"    printf %s {content} | base64 -d > {definition_word(path)}"),
    )


def _run(value: plan.Plan, entry: plan.Entry) -> list[Encoded]:
    variables = [f"{token(k)}={v}" for k, v in contract.environment(value, entry).items()]
    argv = ["env", *variables, "timeout", str(entry.timeout), *entry.argv]
    return [_line(["cd", plan.SOURCE]), _line(argv)]


def _tests(value: plan.Plan) -> Encoded:
    lines: list[Encoded] = [_line(["set", "-e"])]
    for entry in value.entries:
        if entry.level != "c1":
            continue
        where, command = _run(value, entry)
        lines.append(
            Encoded("    " + definition_comment(f"{value.spec}:{entry.line} entry {entry.name}"))
        )
        lines += [where, Encoded("    status=0"), Encoded(f"{command} || status=$?")]
        lines.append(Encoded(f'    test "$status" -eq {token(str(entry.expect.status))}'))
    return _joined(lines)


def _apps(value: plan.Plan) -> list[Encoded]:
    """An app for each entry, run with `apptainer run --app NAME`."""
    apps: list[Encoded] = []
    for entry in value.entries:
        where, command = _run(value, entry)
        body = _joined([where, Encoded("    exec " + command.strip())])
        _check_size(f"app {entry.name}", body)
        apps.append(Encoded(f"\n\n%apprun {token(contract.label(entry.name))}\n{body}"))
    return apps


def _check_size(section: str, text: str) -> None:
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > _MAX_SECTION:
        raise DiagnosticError.of(
            "E0603",
            f"the section `{section}` of the Apptainer definition would be too long",
            cause=f"it has {size:,} bytes, and Apptainer reads 64 KiB at a time",
            hint="put long scripts into the source archive, and let the entry `run` them",
        )
