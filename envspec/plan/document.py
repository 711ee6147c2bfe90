"""The plan as JSON: `plan.json`."""

from __future__ import annotations

import json
from typing import Any

from envspec.plan import model as plan


def document(value: plan.Plan) -> dict[str, Any]:
    """The plan as plain data, with keys in the order of its fields."""
    return {
        "plan": plan.PLAN_VERSION,
        "project": value.project,
        "spec": value.spec,
        **recipe(value),
        "nixpkgs": value.nixpkgs._asdict(),
        "resources": value.resources._asdict(),
        "entries": [_entry(e) for e in value.entries],
        "optional_imports": [o._asdict() for o in value.optional_imports],
        "claims": [c._asdict() for c in value.claims],
    }


def recipe(value: plan.Plan) -> dict[str, Any]:
    """What decides the built environment, and nothing that is only checked in it."""
    return {
        "platform": value.platform,
        "base": {**value.base._asdict(), "line": value.base_line},
        "devel": {**value.devel._asdict(), "line": value.devel_line} if value.devel else None,
        "epoch": value.epoch,
        "asked": value.asked,
        "python": value.python,
        "glibc": value.glibc,
        "accelerator": value.accelerator._asdict(),
        "installer": _wheel(value.installer),
        "steps": [_step(s) for s in value.steps],
        "environment": dict(value.environment),
        "import_roots": value.import_roots,
    }


def dumps(value: plan.Plan) -> str:
    """`plan.json`: one wheel a line, so that a diff shows one fact a line."""
    return _lines(document(value), 0) + "\n"


def _lines(value: Any, depth: int) -> str:
    """JSON with leaves of data on one line each, indented like everybody indents."""
    flat = isinstance(value, dict) and not any(isinstance(v, (dict, list)) for v in value.values())
    wheel = isinstance(value, dict) and "file" in value and "version" in value
    if not isinstance(value, (dict, list, tuple)) or not value or (flat and depth > 1) or wheel:
        return json.dumps(value, ensure_ascii=False)
    inner = " " * (2 * depth + 2)
    if isinstance(value, dict):
        parts = [f"{json.dumps(k)}: {_lines(v, depth + 1)}" for k, v in value.items()]
        opening, closing = "{", "}"
    else:
        if not any(isinstance(v, (dict, list, tuple)) for v in value):
            return json.dumps(value, ensure_ascii=False)
        parts = _wheel_lines(value) or [_lines(v, depth + 1) for v in value]
        opening, closing = "[", "]"
    body = f",\n{inner}".join(parts)
    return f"{opening}\n{inner}{body}\n{' ' * (2 * depth)}{closing}"


def _wheel_lines(values: Any) -> list[str]:
    """Hundreds of wheels, encoded in one call; empty where ``values`` are something else.

    JSON escapes a newline inside a text, so one that stands bare is a separator of ours.
    """
    if not all(isinstance(v, dict) and "file" in v and "version" in v for v in values):
        return []
    text = json.dumps(values, ensure_ascii=False, separators=(",\n", ": "))
    parts = text.removeprefix("[{").removesuffix("}]").split("},\n{")
    return ["{" + part.replace(",\n", ", ") + "}" for part in parts]


def _wheel(wheel: plan.Wheel | plan.Deb) -> dict[str, Any]:
    name, version, (index, file, sha256, size) = wheel[:3]
    return {
        "name": name,
        "version": version,
        "index": index,
        "file": file,
        "sha256": sha256,
        "size": size,
    }


def _step(step: plan.Step) -> dict[str, Any]:
    if isinstance(step, plan.InstallSystem):
        debs = [{**_wheel(d), "pool": d.pool} for d in step.debs]
        return {"step": "install-system", **step._asdict(), "debs": debs}
    if isinstance(step, plan.BuildExtension):
        return {
            "step": "build-extension",
            **step._asdict(),
            "archive": step.archive._asdict(),
            "wheels": [_wheel(w) for w in step.wheels],
            "environment": dict(step.environment),
        }
    if isinstance(step, plan.CreateEnvironment):
        return {"step": "create-environment", **step._asdict()}
    if isinstance(step, plan.InstallWheels):
        wheels = [_wheel(w) for w in step.wheels]
        return {"step": "install-wheels", "layer": step.layer, "line": step.line, "wheels": wheels}
    if isinstance(step, plan.UnpackSource):
        archive = step.archive._asdict()
        return {"step": "unpack-source", **step._asdict(), "archive": archive}
    return {"step": "run", **step._asdict()}


def _entry(entry: plan.Entry) -> dict[str, Any]:
    script = entry.script
    return {
        **entry._asdict(),
        "script": {"name": script.name, "sha256": script.sha256} if script else None,
        "environment": dict(entry.environment),
        "expect": entry.expect._asdict(),
    }
