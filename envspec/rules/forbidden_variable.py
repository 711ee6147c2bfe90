"""E0303: variables that change how programs are loaded, what the lock says, or what is seen.

``LD_PRELOAD`` of an image has reached a privileged hook of the host (CVE-2025-23266, fixed in
NVIDIA Container Toolkit 1.17.8), and ``PIP_*`` would undo the lock. A service runs an image of its
own and is held to the first of these only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from envspec.diagnostics import Diagnostic, Fix, Label
from envspec.facts.device_code import binary_runs_on, parse_sm
from envspec.model import Spec, Variable
from envspec.rules.view import View
from envspec.wording import ticked

CODE = "E0303"

RUN, BUILD, SERVICE = "run", "build", "service"


class _Kind(NamedTuple):
    """Variables that do one kind of harm. ``where`` says in whose environment they do it; a name
    in ``apart`` is none of them, although a prefix fits."""

    names: frozenset[str]
    prefixes: tuple[str, ...]
    where: frozenset[str]
    cause: str
    apart: frozenset[str] = frozenset()


_ANYWHERE = frozenset({RUN, BUILD, SERVICE})
_OURS = frozenset({RUN, BUILD})
_KINDS = (
    _Kind(
        frozenset({"GCONV_PATH"}),
        ("LD_",),
        _ANYWHERE,
        "the loader puts its libraries into every program, also into the hook of the host that "
        "prepares a container for a GPU (CVE-2025-23266)",
        # The linker reads LD_RUN_PATH when it builds; LD_LIBRARY_PATH is looked at below.
        apart=frozenset({"LD_LIBRARY_PATH", "LD_RUN_PATH"}),
    ),
    _Kind(
        frozenset({"LD_LIBRARY_PATH"}),
        (),
        # While something is built there is no hook, and old build scripts need it.
        frozenset({RUN}),
        "a library in one of its folders takes the place of any other, in every program and in the "
        "hook of the host that prepares a container for a GPU",
    ),
    _Kind(
        frozenset({"CUDA_VISIBLE_DEVICES", "ENVSPEC_PROBE"}),
        ("NVIDIA_", "DOCKER_", "BUILDKIT_"),
        _ANYWHERE,
        "it changes which devices are seen, or talks to the engine: that is for the verification "
        "to decide",
        # A switch of cuBLAS, which no engine reads.
        apart=frozenset({"NVIDIA_TF32_OVERRIDE"}),
    ),
    _Kind(
        frozenset({"BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND"}),
        (),
        _OURS,
        "a shell runs what it names before every script",
    ),
    _Kind(
        frozenset(
            {
                "PYTHONSTARTUP", "PYTHONHOME", "PYTHONPATH", "PYTHONINSPECT", "PYTHONUSERBASE",
                "PYTHONEXECUTABLE", "PYTHONPLATLIBDIR", "PYTHONBREAKPOINT", "PYTHONPYCACHEPREFIX",
                "PATH", "VIRTUAL_ENV",
            }
        ),
        (),
        _OURS,
        "it changes which interpreter runs, or what that loads before the code does",
    ),
    _Kind(
        frozenset(),
        ("PIP_", "UV_"),
        _OURS,
        "it changes where packages come from, or which: that is what the lock says",
    ),
    _Kind(
        frozenset(
            {
                "GIT_SSH", "GIT_SSH_COMMAND", "GIT_EXEC_PATH", "GIT_PROXY_COMMAND", "GIT_ASKPASS",
                "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_PAGER", "GIT_EXTERNAL_DIFF", "GIT_DIR",
                "GIT_WORK_TREE", "GIT_TEMPLATE_DIR", "GIT_OBJECT_DIRECTORY", "GIT_INDEX_FILE",
                "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_ALLOW_PROTOCOL", "GIT_SSL_NO_VERIFY",
            }
        ),
        ("GIT_CONFIG",),
        _OURS,
        "git runs what it names, or takes a commit from elsewhere than the spec says",
    ),
)  # fmt: skip
_HINTS = {
    "PYTHONPATH": "write `pythonpath` in `project`",
    "CUDA_VISIBLE_DEVICES": "the level of an entry decides which GPUs it sees",
    "LD_LIBRARY_PATH": "remove it: wheels find their own libraries; a `step` or an `extension` may "
    "set it for its build",
    "PATH": "name a program by its path in `run`",
}
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY")
_CREDENTIALS = re.compile(r"(?:[a-z0-9+.-]+://)?[^/@\s]+@.*", re.ASCII | re.IGNORECASE)
_ARCHES = "TORCH_CUDA_ARCH_LIST"
_ARCH = re.compile(r"(\d{1,2}\.\d[af]?)(\+PTX)?", re.ASCII)


def check(view: View) -> Iterator[Diagnostic]:
    """One finding a variable, wherever one may be set."""
    for variable, place in _variables(view.spec):
        upper = variable.name.upper()
        kind = next((k for k in _KINDS if place in k.where and _is_of(upper, k)), None)
        if kind:
            hint = _HINTS.get(upper, "remove it")
            yield _finding(
                view, variable, f"variable `{variable.name}` may not be set", kind.cause, hint
            )
        elif upper in _PROXIES and _CREDENTIALS.fullmatch(variable.value):
            yield _finding(
                view,
                variable,
                f"variable `{variable.name}` holds a user name or a password",
                "a spec is committed and its text reaches images and reports",
                "remove it: the engine and pip take the proxy of the machine they run on",
            )
        elif variable.name == _ARCHES and place != SERVICE:
            yield from _architectures(view, variable)


def _is_of(name: str, kind: _Kind) -> bool:
    if name in kind.names:
        return True
    return name.startswith(kind.prefixes) and name not in kind.apart if kind.prefixes else False


def _variables(spec: Spec) -> Iterator[tuple[Variable, str]]:
    yield from ((v, RUN) for v in spec.environment)
    yield from ((v, RUN) for e in spec.entries for v in e.environment)
    yield from ((v, BUILD) for s in spec.steps for v in s.environment)
    yield from ((v, BUILD) for e in spec.extensions for v in e.environment)
    yield from ((v, SERVICE) for s in spec.services for v in s.environment)


def _architectures(view: View, variable: Variable) -> Iterator[Diagnostic]:
    """A list of architectures that leaves out a GPU of the spec. torch's own names for them
    (`Ampere`, `All`) are not looked at."""
    words = variable.value.replace(";", " ").split()
    listed = [_ARCH.fullmatch(word) for word in words]
    if not words or not all(listed):
        return
    native = [m[1] for m in listed if m]
    ptx = [m[1] for m in listed if m and m[2]]
    accelerator = view.spec.accelerator
    missing = [g for g in accelerator.gpus if binary_runs_on(native, ptx, g) is False]
    if not missing:
        return
    separator = ";" if ";" in variable.value else " "
    added = [f"{sm.major}.{sm.minor}{sm.suffix}" for sm in map(parse_sm, missing) if sm]
    value = separator.join([*words, *added])
    names = ticked(missing)
    yield Diagnostic(
        CODE,
        f"`{_ARCHES}` leaves out {names}, which `gpus` names",
        view.source,
        (Label(variable.span, "compiled for these"), Label(accelerator.gpus_span, "asked for")),
        cause="code for one major architecture does not run on another, and without `+PTX` there "
        "is nothing that the driver could compile",
        hint=f'write `{_ARCHES}="{value}"`',
        fix=Fix.replace(variable.span, f'{_ARCHES}="{value}"', "add what is missing"),
    )


def _finding(view: View, variable: Variable, title: str, cause: str, hint: str) -> Diagnostic:
    return Diagnostic(CODE, title, view.source, (Label(variable.span, "set here"),), cause, hint)
