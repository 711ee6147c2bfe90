"""The plan → lists of what the build takes in, every file hashed, no index named.

Wheels stand in requirement lists in pip's format, everything else in the lists of `sha256sum`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from envspec.emit.commands import checksum_list, layer_lock
from envspec.emit.encode import comment, file_name, token, tokens
from envspec.plan import model as plan


def requirement_lists(value: plan.Plan) -> dict[str, str]:
    """`requirements.lock` with every package, and a list for each folder that is installed from."""
    built = [w for step in value.extensions for w in step.wheels]
    lines = _lines(list(dict.fromkeys((*value.wheels, *built))))
    result = {"requirements.lock": _list(value, lines, value.wheels, "every package")}
    for step in value.steps:
        if isinstance(step, plan.InstallWheels):
            what = f"the {step.layer} layer"
            result[layer_lock(step.layer)] = _list(value, lines, step.wheels, what)
        elif isinstance(step, plan.BuildExtension):
            what = f"what the build of {step.name} imports"
            result[layer_lock(plan.build_folder(step))] = _list(value, lines, step.wheels, what)
    return result


def checksum_lists(value: plan.Plan) -> dict[str, str]:
    """A list for each folder of the wheelhouse whose files no requirement list names, and one for
    each wheel that was built and recorded."""
    listed = {s.layer for s in value.steps if isinstance(s, plan.InstallWheels)}
    listed |= {plan.build_folder(step) for step in value.extensions}
    result = {
        checksum_list(folder): _sums((f.sha256, f.file) for f in files)
        for folder, files in value.layers
        if folder not in listed
    }
    for step in value.extensions:
        if step.sha256:
            result[checksum_list(plan.wheel_folder(step))] = _sums([(step.sha256, step.wheel)])
    return result


def _sums(files: Iterable[tuple[str, str]]) -> str:
    return "".join(f"{token(sha256)}  {file_name(name)}\n" for sha256, name in files)


def _lines(wheels: Sequence[plan.Wheel]) -> dict[plan.Wheel, str]:
    """A requirement for each wheel."""
    texts: list[str] = []
    lines: dict[plan.Wheel, str] = {}
    for wheel in wheels:
        name, version, (index, file, sha256, _) = wheel
        # Behind an @ a reader takes the rest for an address: no package has one in its name.
        texts += (name.replace("@", " "), version, sha256, index, file)
        lines[wheel] = f"{name}=={version} --hash=sha256:{sha256}  # {index}: {file}"
    tokens(texts)
    return lines


def _list(
    value: plan.Plan, lines: Mapping[plan.Wheel, str], wheels: Iterable[plan.Wheel], what: str
) -> str:
    head = [
        comment(f"Made by envspec from {value.spec}: {what}."),
        comment(f"Python {value.python} on {value.platform}, glibc {value.glibc} or newer."),
    ]
    return "\n".join([*head, *(lines[w] for w in sorted(wheels))]) + "\n"
