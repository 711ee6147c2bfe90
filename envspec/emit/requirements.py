"""The plan → requirement lists in pip's format, every file hashed, no index named."""

from __future__ import annotations

from collections.abc import Iterable

from envspec.emit.dockerfile import layer_lock
from envspec.emit.encode import comment, token
from envspec.plan import model as plan


def requirement_lists(value: plan.Plan) -> dict[str, str]:
    """`requirements.lock` with every package, and a list for each layer of the image."""
    result = {"requirements.lock": _list(value, value.wheels, "every package")}
    for step in value.steps:
        if isinstance(step, plan.InstallWheels):
            what = f"the {step.layer} layer"
            result[layer_lock(step.layer)] = _list(value, step.wheels, what)
    return result


def _list(value: plan.Plan, wheels: Iterable[plan.Wheel], what: str) -> str:
    head = [
        comment(f"Made by envspec from {value.spec}: {what}."),
        comment(f"Python {value.python} on {value.platform}, glibc {value.glibc} or newer."),
    ]
    lines = [
        f"{token(w.name)}=={token(w.version)} --hash=sha256:{token(w.file.sha256)}"
        f"  # {token(w.file.index)}: {token(w.file.file)}"
        for w in sorted(wheels)
    ]
    return "\n".join([*head, *lines]) + "\n"
