"""Rules over the resolved spec: one file a rule, one code, one page in docs/rules, one test folder.

Rules are pure and see the spec, the versions that are settled and the facts only, so everything
they find is found before anything is fetched or built. A rule is a module with its ``CODE`` and
``check(view)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module

from envspec.diagnostics import Diagnostic, in_order
from envspec.model import Spec
from envspec.rules.view import View
from envspec.source import SourceFile

Rule = Callable[[View], Iterable[Diagnostic]]

RULES: dict[str, str] = {
    "W0301": "contradiction",
    "W0302": "unlocked_system",
    "E0303": "forbidden_variable",
    "E0310": "cpu_wheel",
    "E0311": "driver_floor",
    "E0312": "ptx_driver",
    "E0313": "architecture",
    "E0314": "python_tag",
    "E0315": "glibc",
    "E0316": "torch_build",
    "E0317": "toolkit_mismatch",
    "E0318": "pairing",
    "E0319": "two_cuda_majors",
    "W0320": "cudnn_nccl",
    "E0321": "framework_needs",
    "W0322": "unpinned",
    "E0330": "extension_toolchain",
    "E0331": "extension_architectures",
    "E0332": "extension_force_flag",
    "E0333": "extension_needs",
    "E0334": "extension_abi",
    "E0335": "extension_requirements",
    "E0336": "host_compiler",
    "E0337": "toolkit_architecture",
    "E0338": "nvcc_major",
    "E0339": "wrong_distribution",
    "E0340": "sdist_only",
    "W0391": "nvcc_minor",
    "W0392": "extension_own_architectures",
    "W0393": "extension_companion",
    "W0341": "job_memory",
    "W0342": "runtime_cuda_base",
    "E0343": "cuda_image_tag",
    "W0344": "ddp_shm",
    "E0345": "ddp_processes",
    "W0346": "tool_at_run",
    "W0347": "because_missing",
    "E0349": "secret_value",
    "W0351": "unused_declaration",
    "E0352": "expect_pattern",
    "W0354": "misspelt_package",
}
"""Code → module of this room."""


def rule(code: str) -> Rule:
    """The check of a code."""
    check: Rule = import_module(f"envspec.rules.{RULES[code]}").check
    return check


def check(
    spec: Spec, source: SourceFile, locked: Mapping[str, str] | None = None
) -> tuple[Diagnostic, ...]:
    """Findings of every rule, by place. ``locked`` maps names to the versions of the lock."""
    view = View(spec, source, locked)
    return in_order(d for code in RULES for d in rule(code)(view))
