"""E0303: variables that change how every program is loaded or where packages come from.

``LD_PRELOAD`` of an image has reached a privileged hook of the host (CVE-2025-23266, fixed in
NVIDIA Container Toolkit 1.17.8), and ``PIP_*`` would undo the lock.
"""

from __future__ import annotations

from collections.abc import Iterator

from envspec.diagnostics import Diagnostic, Label
from envspec.rules.view import View

_NAMES = frozenset(
    {
        "LD_PRELOAD", "LD_AUDIT", "BASH_ENV", "ENV", "PYTHONSTARTUP", "PYTHONHOME",
        "PYTHONPATH", "PATH", "VIRTUAL_ENV", "ENVSPEC_PROBE", "CUDA_VISIBLE_DEVICES",
    }
)  # fmt: skip
_PREFIXES = ("PIP_", "UV_", "NVIDIA_", "DOCKER_", "BUILDKIT_")
_HINTS = {
    "PYTHONPATH": "write `pythonpath` in `project`",
    "CUDA_VISIBLE_DEVICES": "the level of an entry decides which GPUs it sees",
}

CODE = "E0303"


def check(view: View) -> Iterator[Diagnostic]:
    """One finding a variable, of the spec and of each entry."""
    spec, source = view.spec, view.source
    for variable in (*spec.environment, *(v for e in spec.entries for v in e.environment)):
        if variable.name.upper() in _NAMES or variable.name.upper().startswith(_PREFIXES):
            yield Diagnostic(
                CODE,
                f"variable `{variable.name}` may not be set",
                source,
                (Label(variable.span, "set here"),),
                cause="it changes how programs are loaded, or what the lock and the sandbox say",
                hint=_HINTS.get(variable.name.upper(), "remove it"),
            )
