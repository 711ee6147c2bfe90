"""Rules over the resolved spec: one file a rule, one code, one page in docs/rules, one test folder.

Rules are pure and see the spec, the versions that are settled and the facts only, so everything
they find is found before anything is fetched or built. A rule is a module with its ``CODE`` and
``check(view)``. What several rules ask or write is in `envspec.rules.shared`, and no rule is there;
what the solver and the explanations ask too is in `envspec.stated` and `envspec.toolchain`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from itertools import islice
from typing import NamedTuple

from envspec.diagnostics import Diagnostic, in_order
from envspec.model import Spec
from envspec.rules.view import View
from envspec.source import SourceFile

Rule = Callable[[View], Iterable[Diagnostic]]


class Listed(NamedTuple):
    """A rule: its module of this room, and the statements it is about (``accelerator driver``),
    besides those that list its code in the table of words."""

    module: str
    about: tuple[str, ...]


RULES: dict[str, Listed] = {
    "W0301": Listed("contradiction", ("claims",)),
    "E0303": Listed("forbidden_variable", ()),
    "E0310": Listed("cpu_wheel", ("accelerator", "packages NAME")),
    "E0311": Listed("driver_floor", ("accelerator driver",)),
    "E0312": Listed("ptx_driver", ("accelerator driver", "accelerator gpus")),
    "E0313": Listed("architecture", ("accelerator gpus",)),
    "E0314": Listed("python_tag", ("platform python",)),
    "E0315": Listed("glibc", ("platform base", "platform glibc")),
    "E0356": Listed("base_python", ("platform base", "platform python")),
    "W0357": Listed("devel_glibc", ("platform devel",)),
    "E0316": Listed("torch_build", ("packages NAME",)),
    "E0317": Listed("toolkit_mismatch", ("accelerator", "packages NAME")),
    "W0355": Listed("toolkit_minor", ("accelerator", "packages NAME")),
    "E0318": Listed("pairing", ("packages NAME",)),
    "E0319": Listed("two_cuda_majors", ("packages NAME",)),
    "W0320": Listed("cudnn_nccl", ("accelerator cudnn", "accelerator nccl")),
    "E0321": Listed("framework_needs", ("packages NAME", "accelerator driver", "accelerator gpus")),
    "W0322": Listed("unpinned", ("packages NAME",)),
    "E0330": Listed("extension_toolchain", ("platform devel", "extension")),
    "E0331": Listed("extension_architectures", ("accelerator gpus", "extension")),
    "E0332": Listed("extension_force_flag", ("extension env",)),
    "E0333": Listed("extension_needs", ("extension needs",)),
    "E0334": Listed("extension_abi", ("packages NAME", "extension")),
    "E0335": Listed("extension_requirements", ("extension", "accelerator gpus")),
    "E0336": Listed("host_compiler", ("platform devel", "system build")),
    "E0337": Listed("toolkit_architecture", ("accelerator gpus", "extension")),
    "E0338": Listed("nvcc_major", ("platform devel",)),
    "E0339": Listed("wrong_distribution", ("packages NAME",)),
    "E0340": Listed("sdist_only", ("packages NAME",)),
    "W0391": Listed("nvcc_minor", ("platform devel",)),
    "W0392": Listed("extension_own_architectures", ("accelerator gpus",)),
    "W0393": Listed("extension_companion", ("extension needs",)),
    "W0341": Listed("job_memory", ("resources memory", "resources jobs", "extension env")),
    "W0342": Listed("runtime_cuda_base", ("platform base",)),
    "E0343": Listed("cuda_image_tag", ("platform base", "platform devel")),
    "W0344": Listed("ddp_shm", ("resources shm", "entry")),
    "E0345": Listed("ddp_processes", ("entry processes", "entry level")),
    "W0346": Listed("tool_at_run", ("platform base", "packages NAME", "extension")),
    "W0347": Listed("because_missing", ("accelerator driver", "platform python", "packages NAME")),
    "E0349": Listed(
        "secret_value",
        (
            "env NAME",
            "entry env",
            "entry run",
            "entry script",
            "extension env",
            "step env",
            "step run",
            "index",
            "asset url",
        ),
    ),
    "W0351": Listed("unused_declaration", ("index", "mirror", "secret", "asset", "service")),
    "E0352": Listed("expect_pattern", ("entry expect",)),
    "W0354": Listed("misspelt_package", ("packages NAME", "extension")),
}


MOST = 100
"""Findings of one rule that are kept: more help nobody, and drawing them would take seconds."""


def rule(code: str) -> Rule:
    """The check of a code, which gives at most `MOST` findings."""
    found: Rule = import_module(f"envspec.rules.{RULES[code].module}").check
    return lambda view: islice(found(view), MOST)


def check(
    spec: Spec, source: SourceFile, locked: Mapping[str, str] | None = None
) -> tuple[Diagnostic, ...]:
    """Findings of every rule, by place. ``locked`` maps names to the versions of the lock."""
    view = View(spec, source, locked)
    return in_order(d for code in RULES for d in rule(code)(view))
