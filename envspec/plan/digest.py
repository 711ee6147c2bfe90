"""The name of a built environment: a digest over what decides its content, and nothing else.

Two specs that differ only in what they check (entries, claims), in their names or in their
line numbers share one environment, so a changed claim never costs a build.
"""

from __future__ import annotations

import hashlib
import json

from envspec.plan.model import (
    BuildExtension,
    CreateEnvironment,
    File,
    InstallSystem,
    InstallWheels,
    Plan,
    RunStep,
    Step,
    Wheel,
)

# Raise it when the same plan is built in another way (another Dockerfile, another layout of a
# prefix): what was built before is then left alone and no longer taken for the same thing.
BUILD_FORMAT = 4


def build_digest(plan: Plan) -> str:
    """64 hex digits that name the environment of a plan. Pure."""
    decides = {
        "format": BUILD_FORMAT,
        "platform": plan.platform,
        "base": [plan.base.name, plan.base.digest],
        "devel": list(plan.devel) if plan.devel else [],
        "epoch": plan.epoch,
        "python": plan.python,
        "accelerator": [plan.accelerator.kind, plan.accelerator.floor],
        "shm": plan.resources.shm,
        "installer": _wheel(plan.installer),
        "steps": [_step(step) for step in plan.steps],
        "environment": [list(pair) for pair in plan.environment],
        "import_roots": list(plan.import_roots),
    }
    text = json.dumps(decides, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _step(step: Step) -> list[object]:
    if isinstance(step, InstallSystem):
        return ["system", step.stage, list(step.packages), [_file(d.file) for d in step.debs]]
    if isinstance(step, CreateEnvironment):
        return ["environment", step.prefix, step.python]
    if isinstance(step, InstallWheels):
        return ["wheels", step.layer, [_wheel(wheel) for wheel in step.wheels]]
    if isinstance(step, BuildExtension):
        wheels = [_wheel(wheel) for wheel in step.wheels]
        environment = [list(pair) for pair in step.environment]
        built = [step.wheel, step.sha256]
        return ["extension", step.name, _file(step.archive), wheels, environment, built]
    if isinstance(step, RunStep):
        return ["run", step.name, list(step.argv)]
    return ["source", _file(step.archive), step.destination]


def _wheel(wheel: Wheel) -> list[str]:
    return [wheel.name, wheel.version, *_file(wheel.file)]


def _file(file: File) -> list[str]:
    # Which index a file came from, and how big it is, does not change what it holds.
    return [file.file, file.sha256]
