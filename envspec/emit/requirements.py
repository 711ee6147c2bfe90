"""The plan → requirement lists in pip's format, every file hashed, no index named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from envspec.emit.commands import layer_lock
from envspec.emit.encode import comment, tokens
from envspec.plan import model as plan


def requirement_lists(value: plan.Plan) -> dict[str, str]:
    """`requirements.lock` with every package, and a list for each layer of the image."""
    lines = _lines(sorted(value.wheels))
    result = {"requirements.lock": _list(value, lines, value.wheels, "every package")}
    for step in value.steps:
        if isinstance(step, plan.InstallWheels):
            what = f"the {step.layer} layer"
            result[layer_lock(step.layer)] = _list(value, lines, step.wheels, what)
    return result


def _lines(wheels: Sequence[plan.Wheel]) -> dict[plan.Wheel, str]:
    """A requirement for each wheel."""
    texts: list[str] = []
    lines: dict[plan.Wheel, str] = {}
    for wheel in wheels:
        name, version, (index, file, sha256, _) = wheel
        texts += (name, version, sha256, index, file)
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
