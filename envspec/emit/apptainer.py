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
from envspec.emit.dockerfile import environment
from envspec.emit.encode import Encoded, definition_comment, definition_text, definition_word, token
from envspec.emit.templates import render
from envspec.plan import model as plan

_WHEELS = "/opt/envspec-wheels"
# Apptainer reads a definition with a buffer of 64 KiB: no section may be longer.
_MAX_SECTION = 60_000


def apptainer(value: plan.Plan) -> str:
    """The text of `apptainer.def`."""
    locks = [commands.layer_lock(s.layer) for s in value.steps if isinstance(s, plan.InstallWheels)]
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
    tools = f"{_WHEELS}/{plan.TOOLS}"
    prepared = exported = False
    for step in value.steps:
        # The installer needs the interpreter, which may be a system package; steps of the spec
        # see the variables of the image, and what comes before them does not.
        if not isinstance(step, plan.InstallSystem) and not prepared:
            prepared = True
            lines += [_line(commands.unpack_installer(value, tools))]
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
    def note(what: str) -> str:
        return definition_comment(f"{value.spec}:{step.line} {what}")

    if isinstance(step, plan.InstallSystem):
        script = commands.install_system(step)
        return [note("system packages; needs the network"), _line(["sh", "-ec", script]).strip()]
    if isinstance(step, plan.CreateEnvironment):
        argv = commands.create_environment(step)
        return [note(f"python {step.python}"), _line(argv).strip()]
    if isinstance(step, plan.InstallWheels):
        lock = f"{_WHEELS}/{commands.layer_lock(step.layer)}"
        argv = commands.install_wheels(f"{_WHEELS}/{step.layer}", lock)
        return [note(f"packages, layer {step.layer}"), _line(argv).strip()]
    if isinstance(step, plan.UnpackSource):
        argv = commands.unpack_source(step, f"{_WHEELS}/{plan.ARCHIVE}")
        make = ["mkdir", "-p", step.destination]
        lines = [_line(make).strip(), _line(argv).strip(), _line(["cd", step.destination]).strip()]
        return [note(f"source {step.archive.file}"), *lines]
    # A command of its own, never a word of this shell: `exit` or `export` is looked up like `make`.
    return [note(f"step {step.name}"), _line(["env", "--", *step.argv]).strip()]


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
